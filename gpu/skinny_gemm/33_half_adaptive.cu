// requires: sm_90a, tensor_map
// skinny_gemm, rung 33: 16-bit elements, fragments of X or gemm's tiles, by a model of time.
//
// Change    rung 31's fragments where X is what counts; from some tens of columns on the tiles of gemm's rung 33, which bring B and A by the
//           copy engine; rung 32's bulk copies where rows are many, or lie on less than 16 bytes. half_choice.hpp has the model of the clocks
//           of either, from the roofs of the chip.
// Traffic   of the one chosen.
// Limits    those of the one chosen.
// Fails at  as the one chosen.
// Source    terms our own.
#include "gpu/skinny_gemm/half_choice.hpp"

namespace plumb {
namespace {

using namespace skinny;

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  const gemm::Problem<T> p{1, 0};
  const gemm::In<T> of_gemm{in.X, in.W};
  const gemm::Out<T> to{out.Y};
  const half::Choice choice = half::choose<T>(of_gemm, to);
  if (!choice.tiles) {
    context.explain(choice.bulk ? "rows of X by bulk copies" : "fragments of X from global memory");
    return choice.bulk ? half::run_bulk(in, out, context) : half::run_fragments(in, out, context);
  }
  const gemm::half::Candidate<T>& chosen = gemm::half::kCandidates<T>[choice.of_gemm.candidate];
  context.explain(chosen.name);
  chosen.run(p, of_gemm, to, choice.of_gemm.parts, context);
}

template <class T>
const char* supports(const Problem<T>&, const In<T>& in, const Out<T>& out) {
  return gemm::half::supports<T>({}, {in.X, in.W}, {out.Y});
}

PLUMB_REGISTER_WITH(SkinnyGemm, "33_half_adaptive", (run<T>, Traits{}.needs_sm(90), supports<T>), f16, bf16,
                    f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
