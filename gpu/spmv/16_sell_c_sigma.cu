// spmv, rung 16: SELL-C-sigma with C = 32 and sigma = 1024, converted in prepare().
//
// Change    slices of 32 rows have their own width, and rows are sorted by length within windows of 1024
//           first, so that a slice's rows are much alike: the padding of rung 15 all but goes.
//           Windows are sorted and entries copied on the device; the host adds up the widths of slices.
// Traffic   entries plus little padding, coalesced; 4 bytes per row for the order.
// Fails at  a giant row: its slice is 31 rows of padding, and one warp's work. Refused beyond three times the
//           entries.
// Source    M. Kreutzer, G. Hager, G. Wellein, H. Fehske, A. R. Bishop, SIAM J. Sci. Comput. 36 (2014).
#include "gpu/spmv/kernels/sell.hpp"

namespace plumb {
namespace {

using namespace spmv;

template <class T>
const char* supports(const Problem<T>&, const In<T>& in, const Out<T>&) {
  return sell_refused(in);
}

template <class T>
void* prepare(const Problem<T>&, const In<T>& in, const Out<T>&, Context& context) {
  return new Sell<T>(prepare_sell(in, context));
}

template <class T>
void release(void* plan) {
  delete static_cast<Sell<T>*>(plan);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  run_sell(*static_cast<const Sell<T>*>(context.plan), p, in, out, context);
}

PLUMB_REGISTER_WITH(Spmv, "16_sell_c_sigma", (run<T>, {}, supports<T>, prepare<T>, release<T>), float, double,
                    f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
