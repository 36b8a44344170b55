// requires: tensor_map
// gemm, rung 19: only A is packed; the copy engine fetches tiles of B from B itself (fp32).
//
// Change    rung 15 with a map of B (cp.async.bulk.tensor) in place of packed panels: a tile of B, 16 or 32
//           rows by 128 columns, lies in shared memory as a packed one does, zeros past its ends; the loop is
//           the same, and half of the packing is not done.
// Traffic   as rung 15, and B once less through memory, each way.
// Limits    fp32: gemm_slices 248 registers; gemm_multistage 230 to 232 registers; gemm_packed 217 to 221
//           registers, 128 bytes of static shared memory; gemm_pack 40 registers, 16896 bytes of static
//           shared memory; gemm_add_parts 30 to 32 registers, 0 to 1024 bytes of static shared memory, no
//           spills (sm_90, nvcc 13.0, ptxas -v). gemm_packed: 64 KiB of dynamic shared memory (stages of 32:
//           96), 2 blocks of 128 threads per SM. H200, next to cuBLAS, rung 15 of the same run before it:
//           0.97, 1.00 at 2044 (349 us), 1.09, 1.11 at 3136, 1.05, 1.07 at 4088, 1.12, 1.13 at 6132, 1.09,
//           1.11 at 8176 (53.6 TFLOP/s). A as it lies as well, a lane taking four steps of K of a row at a
//           time, loses: 367 us at 2044, 9,050 at 6132; 25 to 40 % of its multiply-adds have two operands in
//           one bank, here 11. Rows by a bulk copy each, without a map, are too many copies: 530 us at 2044.
// Fails at  rows of B that do not lie on 16 bytes, where it is rung 15; 1022, too small to pack.
// Source    PTX ISA, "cp.async.bulk.tensor".
#include "gpu/gemm/mapped_family.hpp"

namespace plumb {
namespace {

using namespace gemm;

const Register<Gemm, float, Space::device> f32{"19_b_as_it_lies", run_mapped, Traits{}.needs_sm(90)};

}  // namespace
}  // namespace plumb
