// spmv, rung 20: blocked ELL with 4 x 4 blocks, converted in prepare().
//
// Change    rung 19 with the same number of blocks in every block row: block b of a row is found without a
//           pointer to it.
// Traffic   16 values and 6 bytes per block, empty places and padding blocks included.
// Fails at  block rows of different lengths: refused beyond three times the entries. Repeated columns: refused.
// Source    cuSPARSE, "Blocked-Ellpack"; J. W. Choi, A. Singh, R. W. Vuduc, PPoPP'10.
#include "gpu/spmv/kernels/blocks.hpp"

namespace plumb {
namespace {

using namespace spmv;

template <class T>
const char* supports(const Problem<T>&, const In<T>& in, const Out<T>&) {
  const HostCopy<std::int32_t> row_ptr(in.A.row_ptr, in.A.rows + 1, nullptr),
      col(in.A.col, in.A.nnz, nullptr);
  if (has_repeated_columns(in.A.rows, in.A.cols, row_ptr.data(), col.data()))
    return "blocked ELL has one place per row and column: a column is repeated";
  const Index most = most_blocks(in.A.rows, in.A.nnz);
  const BlockPattern pattern = find_blocks(row_ptr, col, in.A.cols, most);
  return pattern.widest * ceil_div(in.A.rows, kBlock) > most
             ? "blocked ELL would store more than three times the entries: block rows differ in length"
             : nullptr;
}

template <class T>
void* prepare(const Problem<T>&, const In<T>& in, const Out<T>&, Context& context) {
  const HostCopy<std::int32_t> row_ptr(in.A.row_ptr, in.A.rows + 1, context.stream),
      col(in.A.col, in.A.nnz, context.stream);
  const BlockPattern pattern = find_blocks(row_ptr, col, in.A.cols, in.A.nnz);
  return new Blocks<T>(make_blocks(in, pattern.widest, pattern, row_ptr, col, context));
}

template <class T>
void release(void* plan) {
  delete static_cast<Blocks<T>*>(plan);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  run_blocks(*static_cast<const Blocks<T>*>(context.plan), p, in, out, context);
}

PLUMB_REGISTER_WITH(Spmv, "20_blocked_ell", (run<T>, {}, supports<T>, prepare<T>, release<T>), float, double);

}  // namespace
}  // namespace plumb
