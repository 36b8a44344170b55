// skinny_gemm, rung 19: tiles of whole rows of X, each one bulk copy, whose depth the warps of a block share.
//
// Change    X's rows follow each other: whole rows of it are one piece of memory, which a bulk copy (cp.async.bulk) brings also where no row
//           but the first lies on a 16-byte boundary. Rungs 10 to 18 copy such rows 4 or 8 bytes a lane, and most of what they issue
//           is copies and their addresses. Rows with small gaps are copied with these. In fp32, rows of 512 bytes and more that
//           would lie in the same banks are copied one by one, so that they do not: a multiprocessor starts a copy in some 60 cycles. A
//           warp of its own starts the copies. Warps share the depth of the same rows, as many as shared memory asks for, and add
//           their sums there; other warps go on meanwhile. Products of fp32 by FMA, of fp64 by tensor cores, which read a row's terms
//           once for 8 columns.
// Traffic   compulsory for up to 64 columns, X again for each further 64; W once from the second-level cache for each block.
// Fails at  more terms and columns than shared memory holds of W beside two tiles (256 x 64 in fp64); rows with large gaps off
//           16 bytes: rung 18's tiles then.
// Source    as rung 14.
#include "gpu/skinny_gemm/kernels/stages.hpp"
#include "gpu/skinny_gemm/kernels/whole_rows.hpp"

namespace plumb {
namespace {

using namespace skinny;

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  if (whole_rows::takes(in, out)) return whole_rows::run_whole_rows(in, out, context);
  context.explain("rung 18's tiles: rows of X with gaps, or too long for shared memory");
  run_stages<MiddleTile<T>>(in, out, context);
}

// It takes any alignment, and asks for 16 bytes because verify would otherwise judge the fallback alone.
constexpr Traits kTraits = Traits{}.needs_sm(90).align(16);
PLUMB_REGISTER_WITH(SkinnyGemm, "19_whole_rows", (run<T>, kTraits), float, double);

}  // namespace
}  // namespace plumb
