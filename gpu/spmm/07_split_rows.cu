// spmm, rung 7: long rows are cut into parts.
//
// Change    rows of more than 64 entries are taken from the groups and given to warps, 256 entries each,
//           whose slots share them; a second kernel adds the parts of a row, always in the same order: the
//           result is reproducible. Warps with parts come first. prepare() lists the parts. A warp joins up to
//           32 parts; a block only a row of more: a block for each took longer than the products (8,128 rows of
//           a power law, 64 columns, fp64, H100: 133 us, now 125).
// Traffic   as rung 3, and n sums written and read again per part.
// Fails at  regular matrices: it only adds the list.
// Source    Pang, Fei, Qu, Zhang and Li, "A Row Decomposition-based Approach for Sparse Matrix Multiplication
//           on GPUs", PPoPP'24 (RoDe), for treating long rows apart, in parts.
#include "gpu/spmm/split.hpp"

namespace plumb {
namespace {

using namespace spmm;

constexpr Index kCut = 64, kPart = 256;  // entries

template <class T>
struct Plan {
  Rows<T> work;
  Split split;
};

template <class T>
void* prepare(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  const HostCopy<std::int32_t> row_ptr(in.A.row_ptr, in.A.rows + 1, context.stream);
  auto* plan = new Plan<T>;
  plan->work.lanes = lanes_for(out.C.cols, vector_length(in, out));
  plan->work.count = out.C.rows;
  plan->work.cut = kCut;
  plan->split = prepare_split(row_ptr, kCut, kPart, context);
  take_split(plan->split, out.C.cols, plan->work, context);
  return plan;
}

template <class T>
void release(void* plan) {
  delete static_cast<Plan<T>*>(plan);
}

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  const auto& plan = *static_cast<const Plan<T>*>(context.plan);
  run_rows<1>(vector_length(in, out), plan.work, in, out, context);
  join_parts(plan.split, plan.work, out, context);
}

PLUMB_REGISTER_WITH(Spmm, "07_split_rows", (run<T>, {}, nullptr, prepare<T>, release<T>), float, double);

}  // namespace
}  // namespace plumb
