// sddmm, rung 4: 16-byte loads, and as many lanes per entry as these leave work for.
//
// Change    k / 4 lanes (fp64: k / 2) take an entry, so that at k = 32 a warp has four in flight, and three
//           shuffles sum all of them.
// Traffic   as rung 3; a quarter of the loads. Where bases or ld do not lie on 16 bytes, single elements.
// Limits    fp32 / fp64: 40 / 32 registers, no spills (sm_90, nvcc 13.0, ptxas -v). 6 / 8 blocks of 256 per
//           SM.
// Fails at  nothing by shape, but each entry still searches for its row and reads X anew. Rung 5 answers
//           that.
// Source    J. Luitjens, "CUDA Pro Tip: Increase Performance with Vectorized Memory Access" (2013).
#include "gpu/sddmm/entries.hpp"

namespace plumb {
namespace {

using namespace sddmm;

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  run_vector_loads(in, out, context);
}

const Register<Sddmm, float, Space::device> f32{"04_vector_loads", run<float>};
const Register<Sddmm, double, Space::device> f64{"04_vector_loads", run<double>};

}  // namespace
}  // namespace plumb
