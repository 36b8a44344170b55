// skinny_gemm, rung 16: the kernel is chosen by a model of the time that each would take, and the choice is printed.
//
// Change    prepare() says for every candidate of candidates.hpp what its blocks would do: the depth of one, the multiply-adds and the
//           copies of the busiest multiprocessor, bytes from cache and memory with X as often as it is read. The costs of these are fitted
//           to drawn cases by tools/fit (costs.hpp says from which, and the error on cases held out). A plan for many runs measures the
//           four best by the model. The candidates: rungs 2, 10, 15 and 17 to 20 in both types, 11 and 14 in fp32, 9 and 12 in fp64;
//           gemv's lanes for one column; tiles of gemm's ladder: 32 x 32 with the depth in parts, 64 x 64, and 32 x 32 or 32 x 64 whose
//           depth warps share, in fp64 also 128 x 32. No drawn case was fastest by rung 6; rung 13 computes in another arithmetic.
// Traffic   of the candidate chosen; prepare() makes the choice, so that a run takes no launch for it.
// Fails at  shapes that suit none of the candidates; a plan for few runs where the model's two best are close.
// Source    terms and fit our own, as gemm's rung 22.
#include "gpu/skinny_gemm/candidates.hpp"

namespace plumb {
namespace {

template <class T>
using Rung = Adaptive<skinny::Candidates, T>;

PLUMB_REGISTER_WITH(SkinnyGemm, "16_adaptive",
                    (Rung<T>::run, Rung<T>::kTraits, Rung<T>::supports, Rung<T>::prepare, Rung<T>::release),
                    float, double);

}  // namespace
}  // namespace plumb
