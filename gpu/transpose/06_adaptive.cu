// transpose, rung 6: tiles, or threads along either matrix, are chosen by a model of the time that each would take.
//
// Change    prepare() says for every candidate of candidates.hpp what it would do: sectors of A and of B, which thin matrices touch more
//           often by tiles than by single elements, moves one after the other, warps, bytes beyond the cache. The costs of these are
//           fitted to drawn cases by tools/fit (costs.hpp says from which, and the error on cases held out). The candidates: rungs 3, 4, 5
//           and 1, and rung 1 along the rows of B, for matrices of few rows.
// Traffic   of the candidate chosen; prepare() makes the choice, so that a run takes no launch for it.
// Fails at  shapes that suit none of the candidates.
// Source    terms and fit our own, as gemm's rung 22.
#include "gpu/transpose/candidates.hpp"

namespace plumb {
namespace {

template <class T>
using Rung = Adaptive<transpose::Candidates, T>;

PLUMB_REGISTER_WITH(Transpose, "06_adaptive",
                    (Rung<T>::run, Rung<T>::kTraits, Rung<T>::supports, Rung<T>::prepare, Rung<T>::release),
                    float, double, f16, bf16, e4m3);

}  // namespace
}  // namespace plumb
