// bias_relu, rung 3: 16 bytes per load and store, four rows' worth in flight per thread.
//
// Change    a thread moves four floats or two doubles at a time; vectors are numbered through the rows, so
//           narrow matrices fill the warps too. The division that this costs is in 32 bits where the sizes
//           allow.
// Traffic   compulsory bytes in whole 16-byte pieces; each row's last, partial piece element by element.
// Fails at  bases or leading dimensions that are not multiples of 16 bytes: it declares that it needs them.
// Source    J. Luitjens, "CUDA Pro Tip: Increase Performance with Vectorized Memory Access" (2013).
#include "gpu/bias_relu/vector_loads.hpp"

namespace plumb {
namespace {

using namespace bias_relu;

constexpr int kInFlight = 4;

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  run_vectors<kInFlight>(p, in, out, context);
}

PLUMB_REGISTER_WITH(BiasRelu, "03_vector_loads", (run<T>, Traits{}.align(16)), float, double, f16, bf16,
                    f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
