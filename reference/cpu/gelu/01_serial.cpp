// gelu, host 01: one loop.
//
// Change    first rung: the definition.
// Traffic   every array once.
// Limits    calls of a library function.
// Fails at  nothing, slowly.
#include "reference/cpu/gelu/gelu.hpp"
#include "reference/ops/gelu.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Gelu::Problem<T>&, const Gelu::In<T, Space::host>& in, const Gelu::Out<T, Space::host>& out,
         Context&) {
  for (std::int64_t i = 0; i < out.y.rows; ++i) {
    for (std::int64_t j = 0; j < out.y.cols; ++j) out.y(i, j) = gelu_of(in.x(i, j));
  }
}

PLUMB_REGISTER(Gelu, "01_serial", run, float, double);

}  // namespace
}  // namespace plumb
