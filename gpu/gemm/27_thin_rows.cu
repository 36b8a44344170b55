// gemm, rung 27: C of few rows, B from memory to registers, in fp32.
//
// Change    up to 16 rows of C are one tile, 128 columns wide: tiles of 32 rows multiply zeros, and pass B, which is nearly all of the bytes, through
//           shared memory for two uses. Here a lane loads four columns of a row of B and multiplies them with all rows of A, which a warp
//           turns in shared memory, 32 terms at a time, and reads by broadcast. Eight warps of a block share its depth and add their sums
//           there; the depth of tiles in parts as in rung 21, so that all multiprocessors read.
// Traffic   compulsory for up to 16 rows, B again for each further 16; tiles in parts once more for each part.
// Fails at  more rows than a few: rungs 23 and 25.
// Source    as rung 21.
#include "gpu/gemm/families/fitted_family.hpp"

namespace plumb {
namespace {

using namespace gemm;

using Rung = FittedRung<float, FitThinRows>;

const Register<Gemm, float, Space::device> f32{"27_thin_rows", Rung::run,     Traits{}.needs_sm(80),
                                               nullptr,        Rung::prepare, Rung::release};

}  // namespace
}  // namespace plumb
