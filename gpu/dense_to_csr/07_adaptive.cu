// dense_to_csr, rung 7: one pass or two, and by what rows are read, are chosen by a model of the time that each would take.
//
// Change    prepare() says for every candidate of candidates.hpp what it would do: loads one after the other, warps, bytes of x (once,
//           twice, or the sectors that hold an entry), stores of entries, launches. The costs of these are fitted to drawn cases by
//           tools/fit (costs.hpp says from which, and the error on cases held out). The candidates: rungs 6, 5, 4, 2 and 3.
// Traffic   of the candidate chosen; prepare() makes the choice, so that a run takes no launch for it.
// Fails at  shapes that suit none of the candidates, and entries that lie close together, which rung 4 reads less for than the model says.
// Source    terms and fit our own, as gemm's rung 22.
#include "gpu/dense_to_csr/candidates.hpp"

namespace plumb {
namespace {

template <class T>
using Rung = Adaptive<dense_to_csr::Candidates, T>;

PLUMB_REGISTER_WITH(DenseToCsr, "07_adaptive",
                    (Rung<T>::run, Rung<T>::kTraits, Rung<T>::supports, Rung<T>::prepare, Rung<T>::release),
                    float, double);

}  // namespace
}  // namespace plumb
