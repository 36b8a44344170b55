// spmm, rung 4: a warp stages 32 indices and values of its row in shared memory ("coalesced row caching").
//
// Change    rung 2's lanes read every index and value from global memory, all from one address; here each is
//           loaded by one lane, 32 neighbours at once, and broadcast from shared memory.
// Traffic   as rung 2, with one global load per 32 entries in place of 64.
// Fails at  rows shorter than 32: the staging is a round trip more. Widths below 32, as rung 2.
// Source    Huang, Dai, Wang and Yang, "GE-SpMM", SC'20 (coalesced row caching).
#include "gpu/spmm/staged.hpp"

namespace plumb {
namespace {

using namespace spmm;

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  launch_staged_rows<T, 1>(in, out, context);
}

PLUMB_REGISTER(Spmm, "04_shared_staging", run, float, double);

}  // namespace
}  // namespace plumb
