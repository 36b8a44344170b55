// reduce, rung 7: rung 6 with 16-byte loads, four in flight per thread.
//
// Change    the bulk is read as 16-byte vectors between the first and the last 16-byte boundary; head and
//           tail one by one, so any alignment will do.
// Traffic   as rung 6.
// Fails at  small n, where two launches cost more than the read. Rung 9 answers that.
// Source    J. Luitjens, "CUDA Pro Tip: Increase Performance with Vectorized Memory Access" (2013).
#include "gpu/reduce/two_pass.hpp"

namespace plumb {
namespace {

using namespace reduce;

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  if (p.kind == Reduce::Kind::sum)
    reduce_in_two_passes<Plain<Sum, scalar_t<T>>, true>(in, out, context);
  else
    reduce_in_two_passes<Plain<Max, scalar_t<T>>, true>(in, out, context);
}

PLUMB_REGISTER(Reduce, "07_vector_loads", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
