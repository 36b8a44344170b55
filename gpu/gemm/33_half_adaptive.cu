// requires: sm_90a, tensor_map
// gemm, rung 33: 16-bit operands, the tile and the parts of the depth chosen by a model of time.
//
// Change    where rung 32's tiles leave multiprocessors idle, smaller tiles are taken, or the depth in parts, whose sums a second kernel adds
//           in their order. half_candidates.hpp has the list, and a model of the clocks that each would take, from the roofs of the chip;
//           rung 1 is a candidate too, since it takes operands as they lie.
// Traffic   of the candidate chosen; where the depth is in parts, their sums once each way.
// Limits    those of the candidate.
// Fails at  operands whose rows do not lie on 16 bytes: they are copied before each run.
// Source    terms our own.
#include "gpu/gemm/half_candidates.hpp"

namespace plumb {
namespace {

using namespace gemm;

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const Index m = out.C.rows, n = out.C.cols, depth = depth_of(p, in);
  if (m == 0 || n == 0) return;
  const half::Choice choice = half::choose<T>(m, n, depth);
  const double prepared = half::clocks_to_align(in.A) + half::clocks_to_align(in.B);
  if (!half::has_maps<T>(in, out, depth) || half::naive_clocks(m, n, depth) < choice.clocks + prepared) {
    context.explain("32 x 32 tiles, a thread for each element");
    return naive::run(p, in, out, context);
  }
  const half::Candidate<T>& chosen = half::kCandidates<T>[choice.candidate];
  context.explain(chosen.name);
  chosen.run(p, in, out, choice.parts, context);
}

PLUMB_REGISTER_WITH(Gemm, "33_half_adaptive", (run<T>, Traits{}.needs_sm(90), half::supports<T>), f16, bf16,
                    f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
