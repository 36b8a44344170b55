// Compulsory traffic that operators with alpha and beta count alike.
#pragma once

namespace plumb {

/// How often an element of y = alpha * sum + beta * y moves at least: it is written, and read where beta is not 0. Where nothing is added
/// and beta is 1, it stays as it is.
[[nodiscard]] constexpr double moves_of_result(double beta, bool adds) {
  return beta == 0 ? 1 : beta == 1 && !adds ? 0 : 2;
}

}  // namespace plumb
