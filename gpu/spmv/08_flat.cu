// spmv, rung 8: equal numbers of entries per block; rows may span blocks ("flat").
//
// Change    blocks own 2048 entries each instead of whole rows. The block in which a row starts finishes it
//           with what it has; every later block that holds more of the row leaves that as a carry, which a
//           second kernel adds.
// Traffic   compulsory bytes, coalesced; a break point (8 bytes) and a carry (16) per 2048 entries.
// Fails at  millions of empty rows between two entries: one block finishes them all. Rung 12 counts rows as
//           work too.
// Source    the segmented kernels of Bell and Garland, SC'09, and Blelloch, Heroux and Zagha, CMU-CS-93-173,
//           with carries for atomics.
#include "gpu/spmv/kernels/flat.hpp"

namespace plumb {
namespace {

using namespace spmv;

template <class T>
void* prepare(const Problem<T>&, const In<T>& in, const Out<T>&, Context& context) {
  return new FlatPlan<T>(prepare_flat(in, context));
}

template <class T>
void release(void* plan) {
  delete static_cast<FlatPlan<T>*>(plan);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  run_flat(*static_cast<const FlatPlan<T>*>(context.plan), p, in, out, context);
}

PLUMB_REGISTER_WITH(Spmv, "08_flat", (run<T>, {}, nullptr, prepare<T>, release<T>), float, double, f16, bf16,
                    f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
