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

template <class T>
using Tiles = gemm::FittedRung<T, gemm::FitColumns<T>>;

template <class T>
void* prepare(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  const AsGemm<T> as(in, out);
  return Tiles<T>::prepare(as.p, as.in, as.out, context);
}

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  const AsGemm<T> as(in, out);
  Tiles<T>::run(as.p, as.in, as.out, context);
}

PLUMB_REGISTER_WITH(SkinnyGemm, "20_fitted_columns",
                    (run<T>, Traits{}.needs_sm(90), nullptr, prepare<T>, Tiles<T>::release), float, double);

}  // namespace
}  // namespace plumb
