// bias_relu, rung 4: 16 bytes per thread, and no more.
//
// Change    rung 3 with one vector in flight per thread: the warps of a full multiprocessor together have
//           enough loads in flight, and a block that ends sooner frees its place for the next.
// Traffic   as rung 3.
// Fails at  as rung 3: it declares the alignment that it needs.
// Source    Little's law: 2,048 threads with 16 bytes each are 32 KiB in flight per multiprocessor.
#include "gpu/bias_relu/vector_loads.hpp"

namespace plumb {
namespace {

using namespace bias_relu;

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  run_vectors<1>(p, in, out, context);
}

PLUMB_REGISTER_WITH(BiasRelu, "04_one_vector", (run<T>, Traits{}.align(16)), float, double, f16, bf16,
                    f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
