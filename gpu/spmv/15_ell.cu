// spmv, rung 15: ELLPACK, converted in prepare().
//
// Change    every row has as many slots as the longest, stored slot by slot: thread i reads slot s of row i
//           next to its neighbours'.
// Traffic   rows * longest row entries, padding included; no row_ptr.
// Fails at  one long row: the padding explodes, and supports() refuses beyond three times the entries. Rungs
//           16 and 17 answer that.
// Source    Kincaid, Oppe and Young, ITPACKV 2D user's guide (1989); Bell and Garland, SC'09.
#include "gpu/spmv/features.hpp"
#include "gpu/spmv/kernels/ell.hpp"

namespace plumb {
namespace {

using namespace spmv;

template <class T>
const char* supports(const Problem<T>&, const In<T>& in, const Out<T>&) {
  const HostCopy<std::int32_t> row_ptr(in.A.row_ptr, in.A.rows + 1, nullptr);
  return explodes(longest_row(row_ptr) * in.A.rows, in.A.rows, in.A.nnz)
             ? "ELL would pad to more than three times the entries: one row is much longer than the mean"
             : nullptr;
}

template <class T>
void* prepare(const Problem<T>&, const In<T>& in, const Out<T>&, Context& context) {
  const HostCopy<std::int32_t> row_ptr(in.A.row_ptr, in.A.rows + 1, context.stream);
  return new Ell<T>(make_ell(longest_row(row_ptr), in, context));
}

template <class T>
void release(void* plan) {
  delete static_cast<Ell<T>*>(plan);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  run_ell(*static_cast<const Ell<T>*>(context.plan), p, in, out, context);
}

PLUMB_REGISTER_WITH(Spmv, "15_ell", (run<T>, {}, supports<T>, prepare<T>, release<T>), float, double);

}  // namespace
}  // namespace plumb
