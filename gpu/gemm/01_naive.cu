// gemm, rung 1: one thread per element of C, in blocks of 32 x 32.
//
// Change    first rung: the two outer loops are the grid, nothing else.
// Traffic   every element of A and B is loaded once per element of C that needs it: 2 loads per multiply-add.
//           A warp's loads of B are coalesced, its loads of A are one address for all lanes; the caches give
//           the reuse.
// Fails at  every size: each multiply-add takes two loads. Rung 2 answers that.
// Source    the definition.
#include "gpu/gemm/kernels/naive.hpp"

namespace plumb {
namespace {

using namespace gemm::naive;

PLUMB_REGISTER(Gemm, "01_naive", run, float, double, f16, bf16, f16_f32, bf16_f32, e4m3_f16, e4m3_bf16,
               e4m3_f32, e5m2_f16, e5m2_bf16, e5m2_f32);

}  // namespace
}  // namespace plumb
