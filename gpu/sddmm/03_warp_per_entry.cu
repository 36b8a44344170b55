// sddmm, rung 3: one warp per entry, lanes along k, summed by shuffles.
//
// Change    a row of Y is read side by side: its sectors are used whole.
// Traffic   2 k elements per entry, coalesced; X and row_ptr mostly from the L1.
// Limits    fp32 / fp64: 31 / 30 registers, no spills (sm_90, nvcc 13.0, ptxas -v). 8 blocks of 256 per SM.
// Fails at  short k: at k = 32 a lane has one product and then five shuffles; and every entry waits for its
//           own search before its first load. Rungs 4 and 6 answer these.
// Source    M. Harris, "Faster Parallel Reductions on Kepler" (2014), for the reduction.
#include "gpu/sddmm/entries.hpp"

namespace plumb {
namespace {

using namespace sddmm;

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  run_warp_per_entry(in, out, context);
}

const Register<Sddmm, float, Space::device> f32{"03_warp_per_entry", run<float>};
const Register<Sddmm, double, Space::device> f64{"03_warp_per_entry", run<double>};

}  // namespace
}  // namespace plumb
