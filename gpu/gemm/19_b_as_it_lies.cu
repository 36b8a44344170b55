// requires: tensor_map
// gemm, rung 19: only A is packed; the copy engine fetches tiles of B from B itself (fp32).
//
// Change    rung 15 with a map of B (cp.async.bulk.tensor) in place of packed panels: a tile of B, 16 or 32
//           rows by 128 columns, lies in shared memory as a packed one does, zeros past its ends; the loop is
//           the same, and half of the packing is not done.
// Traffic   as rung 15, and B once less through memory, each way.
// Fails at  rows of B that do not lie on 16 bytes, where it is rung 15; 1022, too small to pack.
// Source    PTX ISA, "cp.async.bulk.tensor".
#include "gpu/gemm/families/mapped_family.hpp"

namespace plumb {
namespace {

using namespace gemm;

const Register<Gemm, float, Space::device> f32{"19_b_as_it_lies", run_mapped, Traits{}.needs_sm(90)};

}  // namespace
}  // namespace plumb
