// skinny_gemm, rung 20: gemm's tiles that are as wide as Y.
//
// Change    gemm's rung 25: 128 rows by the multiple of eight columns that fits Y, X in stages of 128 bytes of a row. Rungs 10, 15 and 18 make 16,
//           32 or 64 columns: of 41, more than half as many again. A lane makes 8 rows by up to 8 columns, so that a load from shared memory
//           feeds twice the products of rung 19's, whose tiles hold W whole: 602 terms of 41 columns leave it no room. Few rows have
//           their depth in parts.
// Traffic   X once for up to 64 columns; W v / 128 times from the second-level cache.
// Fails at  few columns, where rung 19 and 14 are bound by X alone.
// Source    as gemm's rung 25.
#include "gpu/skinny_gemm/candidates.hpp"

namespace plumb {
namespace {

using namespace skinny;

using Tiles = gemm::Candidate<float>;
constexpr Tiles kFitted = gemm::fitted<float>();

void* prepare(const Problem<float>&, const In<float>& in, const Out<float>& out, Context& context) {
  const AsGemm<float> as(in, out);
  auto* const kept = new gemm::Kept<float>;
  gemm::Work work{};
  kFitted.work(as.in, as.out, in.X.cols, work);
  kept->division = work.division;
  kept->finished = kFitted.prepare(work.division, as.out, context);
  return kept;
}
void release(void* plan) { delete static_cast<gemm::Kept<float>*>(plan); }

void run(const Problem<float>&, const In<float>& in, const Out<float>& out, Context& context) {
  const AsGemm<float> as(in, out);
  kFitted.run(*static_cast<const gemm::Kept<float>*>(context.plan), as.p, as.in, as.out, context);
}

const Register<SkinnyGemm, float, Space::device> f32{
    "20_fitted_columns", run, Traits{}.needs_sm(80), nullptr, prepare, release};

}  // namespace
}  // namespace plumb
