// reduce, rung 13: the grid, and who folds its results, are chosen by a model of the time that each would take.
//
// Change    prepare() says for every candidate of candidates.hpp what it would do: loads of a thread one after the other, results of
//           blocks to fold, warps, bytes, launches. The costs of these are fitted to drawn cases by tools/fit (costs.hpp says from which,
//           and the error on cases held out). The candidates: rung 9 with 8, 4 or one block a multiprocessor or one block in all, and
//           rung 7. The count of finished blocks is the plan's, and the last block puts it back to 0, so that a run is one launch
//           without a fill. Every candidate adds in an order that n and the grid fix: reproducible.
// Traffic   of the candidate chosen; prepare() makes the choice, so that a run takes no launch for it.
// Fails at  vectors that suit none of the candidates.
// Source    terms and fit our own, as gemm's rung 22.
#include "gpu/reduce/candidates.hpp"

namespace plumb {
namespace {

template <class T>
using Rung = Adaptive<reduce::Candidates, T>;

PLUMB_REGISTER_WITH(Reduce, "13_adaptive",
                    (Rung<T>::run, Rung<T>::kTraits, Rung<T>::supports, Rung<T>::prepare, Rung<T>::release),
                    float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
