// spmm, rung 6: rows in the order of their lengths, longest first.
//
// Change    prepare() sorts the rows, so that the rows of a warp are equally long, and none starts late.
// Traffic   4 bytes more per row; neighbours in C and in A are neighbours no more, unless equally long.
// Fails at  matrices whose neighbouring rows share columns: the cache loses what the order was worth. A giant
//           row, which is begun first and still is the last: rung 7.
// Source    Gale, Zaharia, Young and Elsen, "Sparse GPU Kernels for Deep Learning", SC'20 (row swizzle).
#include "gpu/spmm/order.hpp"
#include "gpu/spmm/rows.hpp"

namespace plumb {
namespace {

using namespace spmm;

template <class T>
void* prepare(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  const HostCopy<std::int32_t> row_ptr(in.A.row_ptr, in.A.rows + 1, context.stream);
  auto* work = new Rows<T>;
  work->lanes = lanes_for(out.C.cols, vector_length(in, out));
  work->order = prepare_order(row_ptr, in.A.nnz, work->count, context);
  return work;
}

template <class T>
void release(void* plan) {
  delete static_cast<Rows<T>*>(plan);
}

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  run_rows<1>(vector_length(in, out), *static_cast<const Rows<T>*>(context.plan), in, out, context);
}

PLUMB_REGISTER_WITH(Spmm, "06_row_swizzle", (run<T>, {}, nullptr, prepare<T>, release<T>), float, double);

}  // namespace
}  // namespace plumb
