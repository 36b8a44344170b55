// skinny_gemm, rung 2: one thread per row, the sum in a register.
//
// Change    the column loop goes outside: each element of Y is summed in a register and written once.
// Traffic   Y once; X n times, a row apart between lanes, which the caches must absorb; W from the cache.
// Fails at  loads: two per multiply-add, X's from 32 different lines. Rung 3 takes W out of that path.
// Source    the definition.
#include "gpu/skinny_gemm/kernels/register_sum.hpp"

namespace plumb {
namespace {

using namespace skinny;

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  run_register_sum(in, out, context);
}

PLUMB_REGISTER(SkinnyGemm, "02_register_sum", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
