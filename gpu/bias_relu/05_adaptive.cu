// bias_relu, rung 5: how much a thread moves is chosen by a model of the time that each way would take, and the choice is printed.
//
// Change    prepare() says for every candidate of candidates.hpp what it would do: moves one after the other, warps, loads, bytes from
//           cache and memory. The costs of these are fitted to drawn cases by tools/fit (costs.hpp says from which, and the error on
//           cases held out). The candidates: rungs 1 to 4, so that arrays of any alignment are taken.
// Traffic   of the candidate chosen; prepare() makes the choice, so that a run takes no launch for it.
// Fails at  shapes that suit none of the candidates.
// Source    terms and fit our own, as gemm's rung 22.
#include "gpu/bias_relu/candidates.hpp"

namespace plumb {
namespace {

template <class T>
using Rung = Adaptive<bias_relu::Candidates, T>;

PLUMB_REGISTER_WITH(BiasRelu, "05_adaptive",
                    (Rung<T>::run, Rung<T>::kTraits, Rung<T>::supports, Rung<T>::prepare, Rung<T>::release),
                    float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
