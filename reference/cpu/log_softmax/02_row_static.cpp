// log_softmax, host 02: rows dealt out evenly to OpenMP threads.
//
// Change    the row loop is parallel, schedule(static): all rows cost the same.
// Traffic   as rung 01.
// Limits    one call of exp per entry. Rung 04 answers that.
// Fails at  fewer rows than threads.
#include <cmath>
#include <limits>

#include "reference/ops/log_softmax.hpp"

namespace plumb {
namespace {

template <class T>
void run(const LogSoftmax::Problem<T>&, const LogSoftmax::In<T, Space::host>& in,
         const LogSoftmax::Out<T, Space::host>& out, Context&) {
  const std::int64_t cols = in.x.cols;
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    const T* x = in.x.data + i * in.x.ld;
    T* y = out.y.data + i * out.y.ld;
    T max = -std::numeric_limits<T>::infinity();
    for (std::int64_t j = 0; j < cols; ++j) max = x[j] > max ? x[j] : max;
    T sum = 0;
    for (std::int64_t j = 0; j < cols; ++j) sum += std::exp(x[j] - max);
    const T log_sum = std::log(sum);
    for (std::int64_t j = 0; j < cols; ++j) y[j] = x[j] - max - log_sum;
  }
}

PLUMB_REGISTER(LogSoftmax, "02_row_static", run, float, double);

}  // namespace
}  // namespace plumb
