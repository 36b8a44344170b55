// log_softmax, rung 2: one warp per row.
//
// Change    lanes take neighbouring elements; shuffles combine their maxima and sums.
// Traffic   x three times and y once, coalesced; the second and third time from the caches, where the row
//           fits.
// Fails at  rows that the first-level cache loses between passes, and rows of fewer than 32, where lanes
//           idle. Rung 3 answers both.
// Source    the ladder's own step.
#include "gpu/log_softmax/warp_per_row.hpp"

namespace plumb {
namespace {

template <class T>
void run(const log_softmax::Problem<T>&, const log_softmax::In<T>& in, const log_softmax::Out<T>& out,
         Context& context) {
  log_softmax::run_warp_per_row(in, out, context);
}

PLUMB_REGISTER(LogSoftmax, "02_warp_per_row", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
