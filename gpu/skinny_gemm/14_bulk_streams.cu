// skinny_gemm, rung 14: rows of X by bulk copies, W in registers, K divided among four lanes (fp32).
//
// Change    a tile of 16 rows is one bulk copy (cp.async.bulk) of 8 KiB to its warp's own ring, started by
//           one lane: rung 11 spends an instruction on every 512 bytes. Every lane holds 4 columns of a
//           quarter of W in registers, so that X is all that comes from shared memory: a 16-byte load feeds
//           16 multiply-adds. Lanes of a quarter take neighbouring 16 bytes of a row, the two rows in hand
//           from either half of 128 bytes: no two of the 8 places in one bank without any padding. The
//           quarters' sums are combined by 3 shuffles for 128 multiply-adds; each lane's columns are permuted so that
//           what it keeps needs no choosing. X is told to leave the second-level cache first, Y stays there.
// Traffic   compulsory for up to 16 columns, in pieces of 8 KiB; X again for each further 16 columns.
// Fails at  K beyond 128, rows with a gap between them or not of whole 16 bytes: rung 11's streams, as
//           before. The last tile's products, which nothing hides.
// Source    PTX ISA, "cp.async.bulk", "createpolicy".
#include "gpu/skinny_gemm/kernels/bulk_streams.hpp"
#include "gpu/skinny_gemm/kernels/warp_streams.hpp"

namespace plumb {
namespace {

using namespace skinny;

void run(const Problem<float>&, const In<float>& in, const Out<float>& out, Context& context) {
  if (rows_in_bulk(in)) return run_bulk_streams(in, out, context);
  context.explain("rung 11's streams: rows of X not of whole 16 bytes, with gaps, or longer than 128");
  run_streams<Streams>(in, out, context);
}

// It takes any alignment, and asks for 16 bytes because verify would otherwise judge the fallback alone. sm_80
// has neither the copies nor the shared memory.
const Register<SkinnyGemm, float, Space::device> f32{"14_bulk_streams", run, Traits{}.needs_sm(90).align(16)};

}  // namespace
}  // namespace plumb
