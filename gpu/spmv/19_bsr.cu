// spmv, rung 19: BSR with 4 x 4 blocks, converted in prepare().
//
// Change    one column number for 16 places, and x read four neighbouring elements at a time.
// Traffic   16 values and 6 bytes per block, empty places included.
// Fails at  entries without 4 x 4 neighbours: refused beyond three times the entries. Repeated columns:
//           refused.
// Source    E.-J. Im, K. Yelick, R. Vuduc, "Sparsity", IJHPCA 18 (2004); cuSPARSE's BSR.
#include "gpu/spmv/kernels/blocks.hpp"

namespace plumb {
namespace {

using namespace spmv;

template <class T>
const char* supports(const Problem<T>&, const In<T>& in, const Out<T>&) {
  const HostCopy<std::int32_t> row_ptr(in.A.row_ptr, in.A.rows + 1, nullptr),
      col(in.A.col, in.A.nnz, nullptr);
  if (has_repeated_columns(in.A.rows, in.A.cols, row_ptr.data(), col.data()))
    return "BSR has one place per row and column: a column is repeated";
  const Index most = most_blocks(in.A.rows, in.A.nnz);
  const BlockPattern pattern = find_blocks(row_ptr, col, in.A.cols, most);
  return static_cast<Index>(pattern.col.size()) > most
             ? "BSR would store more than three times the entries: they do not lie in 4 x 4 blocks"
             : nullptr;
}

template <class T>
void* prepare(const Problem<T>&, const In<T>& in, const Out<T>&, Context& context) {
  const HostCopy<std::int32_t> row_ptr(in.A.row_ptr, in.A.rows + 1, context.stream),
      col(in.A.col, in.A.nnz, context.stream);
  const BlockPattern pattern = find_blocks(row_ptr, col, in.A.cols, in.A.nnz);
  return new Blocks<T>(make_blocks(in, -1, pattern, row_ptr, col, context));
}

template <class T>
void release(void* plan) {
  delete static_cast<Blocks<T>*>(plan);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  run_blocks(*static_cast<const Blocks<T>*>(context.plan), p, in, out, context);
}

PLUMB_REGISTER_WITH(Spmv, "19_bsr", (run<T>, {}, supports<T>, prepare<T>, release<T>), float, double);

}  // namespace
}  // namespace plumb
