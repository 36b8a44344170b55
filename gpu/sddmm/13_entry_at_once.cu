// sddmm, rung 13: for few entries, where nothing counts but how often an entry waits for memory.
//
// Change    rung 4 with its waits taken out: the row of an entry is found in prepare(), not by a search of its own, and two pieces of X
//           and two of Y a lane are asked for together, by as many lanes as that takes. An entry waits twice: for its row and column,
//           and for X and Y. Rung 8 has 32 entries for a warp, which few entries do not fill a device with.
// Traffic   2 k elements per entry, X mostly from the L1; row and column of an entry.
// Fails at  many entries: X is loaded for each, and five shuffles are for one sum. Rung 8 answers these.
// Source    our own.
#include "gpu/sddmm/at_once.hpp"

namespace plumb {
namespace {

using namespace sddmm;

template <class T>
void* prepare(const Problem<T>&, const In<T>& in, const Out<T>&, Context& context) {
  return prepare_at_once(in, context);
}

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  run_at_once<2>(static_cast<const std::int32_t*>(context.plan), in, out, context);
}

PLUMB_REGISTER_WITH(Sddmm, "13_entry_at_once", (run<T>, {}, steps_support<T>, prepare<T>), float, double, f16,
                    bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
