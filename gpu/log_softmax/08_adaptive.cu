// log_softmax, rung 8: what holds a row is chosen by a model of the time that each would take, and the choice is printed.
//
// Change    prepare() says for every candidate of candidates.hpp what it would do: moves one after the other, warps, exponentials, bytes
//           from cache and memory, launches. The costs of these are fitted to drawn cases by tools/fit (costs.hpp says from which, and the
//           error on cases held out). The candidates: a warp per row (rung 2), rows in the registers of lanes (3) or of a block (6), a
//           block per row with one read for maximum and sum (5), pieces of rows (7).
// Traffic   of the candidate chosen; prepare() makes the choice, so that a run takes no launch for it.
// Fails at  shapes that suit none of the candidates.
// Source    terms and fit our own, as gemm's rung 22.
#include "gpu/log_softmax/candidates.hpp"

namespace plumb {
namespace {

template <class T>
using Rung = Adaptive<log_softmax::Candidates, T>;

PLUMB_REGISTER_WITH(LogSoftmax, "08_adaptive",
                    (Rung<T>::run, Rung<T>::kTraits, Rung<T>::supports, Rung<T>::prepare, Rung<T>::release),
                    float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
