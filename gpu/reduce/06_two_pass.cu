// reduce, rung 6: two passes, the grid sized to the chip.
//
// Change    a thread folds many elements in a register before any tree; eight blocks per multiprocessor,
//           whatever n is. Reproducible.
// Traffic   x once; the partial results fit any cache.
// Fails at  4-byte loads: more instructions in flight than bytes. Rung 7 answers that.
// Source    Harris (2007), kernel 7; grid-stride loops: M. Harris, "CUDA Pro Tip" (2013).
#include "gpu/reduce/two_pass.hpp"

namespace plumb {
namespace {

using namespace reduce;

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  if (p.kind == Reduce::Kind::sum)
    reduce_in_two_passes<Plain<Sum, T>, false>(in, out, context);
  else
    reduce_in_two_passes<Plain<Max, T>, false>(in, out, context);
}

PLUMB_REGISTER(Reduce, "06_two_pass", run, float, double);

}  // namespace
}  // namespace plumb
