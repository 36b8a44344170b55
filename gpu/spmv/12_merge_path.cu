// spmv, rung 12: rows and entries balanced together along the merge path.
//
// Change    the unit of work is a step of the merge of row ends with entries, so neither giant rows nor empty
//           ones unbalance it.
// Traffic   compulsory bytes, coalesced; row ends and products staged in shared memory; a break point and a
//           carry per 2048 steps.
// Fails at  nothing by shape; on regular matrices it only adds the search and the scan. Rung 13 picks it
//           where rows are skewed.
// Source    Merrill and Garland, "Merge-based parallel sparse matrix-vector multiplication", SC'16.
#include "gpu/spmv/kernels/merge_path.hpp"

namespace plumb {
namespace {

using namespace spmv;

template <class T>
void* prepare(const Problem<T>&, const In<T>& in, const Out<T>&, Context& context) {
  return new MergePlan<T>(prepare_merge_path(in, context));
}

template <class T>
void release(void* plan) {
  delete static_cast<MergePlan<T>*>(plan);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  run_merge_path(*static_cast<const MergePlan<T>*>(context.plan), p, in, out, context);
}

PLUMB_REGISTER_WITH(Spmv, "12_merge_path", (run<T>, {}, nullptr, prepare<T>, release<T>), float, double, f16,
                    bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
