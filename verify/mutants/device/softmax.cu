// Planted faults of softmax's kernels: each is a right kernel with one thing changed. `verify --mutants` must kill every one.
#include "reference/ops/softmax.hpp"
#include "verify/mutants/device/device_mutant.hpp"

namespace plumb {
namespace {

PLUMB_DEVICE_FAULTS_OF(Softmax);

constexpr int kThreads = 128;

// The maximum begins with the first element, which an empty row lacks.
template <class T>
__global__ void softmax_mutant_first(In<T> in, Out<T> out) {
  const Index i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= in.x.rows) return;
  T max = in.x(i, 0), sum = T(0);
  for (Index j = 1; j < in.x.cols; ++j) max = in.x(i, j) > max ? in.x(i, j) : max;
  for (Index j = 0; j < in.x.cols; ++j) sum += exp(in.x(i, j) - max);
  for (Index j = 0; j < in.x.cols; ++j) out.y(i, j) = exp(in.x(i, j) - max) / sum;
}
template <class T>
void first_of_none(const P<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  launch(softmax_mutant_first<T>, (in.x.rows + kThreads - 1) / kThreads, kThreads, 0, context.stream, in,
         out);
}
PLUMB_DEVICE_FAULT_BY(first_of_none, "first_element_of_an_empty_row", 0,
                      "the maximum begins with the first element, also where a row has none",
                      "the naive rung of softmax, until sizes of 0 were drawn", kRace | kSanitizer);

}  // namespace
}  // namespace plumb
