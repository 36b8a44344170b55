// transpose, rung 3: the tile's rows one element apart.
//
// Change    a pitch of 33 puts the elements of a column into different banks.
// Traffic   as rung 2.
// Fails at  what one block of 256 threads has in flight: four elements each. Rung 4 answers that.
// Source    Ruetsch and Micikevicius (2009).
#include "gpu/transpose/tile.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Transpose::Problem<T>&, const Transpose::In<T, Space::device>& in,
         const Transpose::Out<T, Space::device>& out, Context& context) {
  transpose::run_tiles<T, 32, 8, 33>(in, out, context);
}

PLUMB_REGISTER(Transpose, "03_padded", run, float, double, f16, bf16, e4m3);

}  // namespace
}  // namespace plumb
