// dense_to_csr, rung 6: entries are gathered in shared memory and leave in whole lines.
//
// Change    rung 5, each warp compacting its entries in shared memory while the first looks back; then
//           neighbouring lanes store neighbouring entries.
// Traffic   compulsory bytes, and 8 per tile of 16 KB for its state.
// Fails at  nothing by shape; where rows do not lie on 16 bytes, a tile is 4 KB and its state weighs more.
// Source    as rung 5; the staging as in CUB's DeviceSelect.
#include "gpu/dense_to_csr/look_back.hpp"

namespace plumb {
namespace {

using namespace dense_to_csr;

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  run_look_back<true>(in, out, context);
}

PLUMB_REGISTER(DenseToCsr, "06_staged_writes", run, float, double);

}  // namespace
}  // namespace plumb
