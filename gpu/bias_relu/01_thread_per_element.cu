// bias_relu, rung 1: one thread per element.
//
// Change    first rung: element numbers are taken apart into row and column by a 64-bit division.
// Traffic   compulsory bytes, coalesced; the bias from the cache.
// Fails at  the division: some 70 instructions per element beside one load and one store. Rung 2 answers
//           that.
// Source    the definition.
#include "gpu/bias_relu/element.hpp"

namespace plumb {
namespace {

using namespace bias_relu;

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  run_elements(p, in, out, context);
}

PLUMB_REGISTER(BiasRelu, "01_thread_per_element", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
