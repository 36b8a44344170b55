// softmax, host 02: rows by threads; the sum is taken with the maximum so far, and rescaled where that rises.
//
// Change    against 01: an OpenMP loop over rows; maximum and sum in one loop, by blocks of 32.
// Traffic   x twice.
// Limits    rows that are fewer than cores.
// Fails at  one long row: it has one core.
// Source    Milakov and Gimelshein (2018).
#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/ops/softmax.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Softmax::Problem<T>&, const Softmax::In<T, Space::host>& in,
         const Softmax::Out<T, Space::host>& out, Context&) {
  constexpr std::int64_t kBlock = 32;
  const std::int64_t cols = in.x.cols;
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    const T* const x = in.x.data + i * in.x.ld;
    T* const y = out.y.data + i * out.y.ld;
    T max = -std::numeric_limits<T>::infinity(), sum = 0;
    for (std::int64_t begin = 0; begin < cols; begin += kBlock) {
      const std::int64_t end = std::min(cols, begin + kBlock);
      const T risen = std::max(max, *std::max_element(x + begin, x + end));
      T part = 0;
      for (std::int64_t j = begin; j < end; ++j) part += std::exp(x[j] - risen);
      sum = sum * std::exp(max - risen) + part, max = risen;
    }
    const T scale = 1 / sum;
    for (std::int64_t j = 0; j < cols; ++j) y[j] = std::exp(x[j] - max) * scale;
  }
}

PLUMB_REGISTER(Softmax, "02_online", run, float, double);

}  // namespace
}  // namespace plumb
