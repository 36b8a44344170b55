// dense_to_csr, rung 5: one pass; tiles learn what lies before them by decoupled look-back.
//
// Change    x stays in registers while the tile finds its place, so it is read once; tiles are cut from the
//           sequence of all elements, so rows may be narrow or few.
// Traffic   compulsory bytes, and 8 per tile of 16 KB for its state.
// Fails at  scattered stores: where one element in four counts, each store instruction writes a quarter of
//           what it spans, four times over. Rung 6 answers that.
// Source    Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", NVIDIA
//           technical report NVR-2016-002.
#include "gpu/dense_to_csr/look_back.hpp"

namespace plumb {
namespace {

using namespace dense_to_csr;

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  run_look_back<false>(in, out, context);
}

PLUMB_REGISTER(DenseToCsr, "05_look_back", run, float, double);

}  // namespace
}  // namespace plumb
