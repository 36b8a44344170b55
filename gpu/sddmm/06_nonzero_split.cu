// sddmm, rung 6: entries are dealt out evenly, whatever row they are in.
//
// Change    a group of eight lanes takes 32 consecutive entries, searches for the row of the first, and goes
//           on from there; X is loaded into registers again where a row ends. 65,536 rows of 32,
//           k = 32, fp32: 106 us, rung 5 151 us (H200).
// Traffic   as rung 5; X once more for each run that is cut.
// Fails at  latency: an entry's gather is used at once, so each group has one row of Y in flight. Rung 7
//           answers that.
// Source    the equal split of Dalton, Olson and Bell, TOMS 2015, and of Gale, Zaharia, Young and Elsen,
//           SC'20.
#include "gpu/sddmm/entries.hpp"

namespace plumb {
namespace {

using namespace sddmm;

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  run_nonzero_split(in, out, context);
}

PLUMB_REGISTER(Sddmm, "06_nonzero_split", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
