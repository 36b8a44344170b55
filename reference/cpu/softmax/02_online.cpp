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

#include "reference/core/values.hpp"
#include "reference/ops/softmax.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Softmax::Problem<T>&, const Softmax::In<T, Space::host>& in,
         const Softmax::Out<T, Space::host>& out, Context&) {
  using V = scalar_t<T>;
  constexpr std::int64_t kBlock = 32;
  const std::int64_t cols = in.x.cols;
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    const in_t<T>* const x = in.x.data + i * in.x.ld;
    out_t<T>* const y = out.y.data + i * out.y.ld;
    V max = -std::numeric_limits<V>::infinity(), sum = 0;
    for (std::int64_t begin = 0; begin < cols; begin += kBlock) {
      const std::int64_t end = std::min(cols, begin + kBlock);
      V risen = max, part = 0;
      for (std::int64_t j = begin; j < end; ++j) risen = std::max(risen, value(x[j]));
      for (std::int64_t j = begin; j < end; ++j) part += std::exp(value(x[j]) - risen);
      sum = sum * std::exp(max - risen) + part, max = risen;
    }
    const V scale = 1 / sum;
    for (std::int64_t j = 0; j < cols; ++j) y[j] = stored<out_t<T>>(std::exp(value(x[j]) - max) * scale);
  }
}

PLUMB_REGISTER(Softmax, "02_online", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
