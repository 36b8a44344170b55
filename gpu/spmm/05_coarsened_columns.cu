// spmm, rung 5: two or four columns a lane, 32 apart.
//
// Change    the entries that rung 4 stages serve 64 or 128 columns, and as many loads of B are in flight per entry.
// Traffic   as rung 4; indices and values once for 128 columns, not once for 32.
// Fails at  widths up to 32, where it is rung 4; a ragged last panel idles.
// Source    Huang, Dai, Wang and Yang, "GE-SpMM", SC'20 (coarse-grained warp merging).
#include "gpu/spmm/staged.hpp"

namespace plumb {
namespace {

using namespace spmm;

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  run_coarsened(in, out, context);
}

PLUMB_REGISTER(Spmm, "05_coarsened_columns", run, float, double);

}  // namespace
}  // namespace plumb
