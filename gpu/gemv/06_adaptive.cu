// gemv, rung 6: the lanes for a row, or its pieces, are chosen by a model of the time that each would take, and the choice is printed.
//
// Change    prepare() says for every candidate of candidates.hpp what it would do: loads one after the other, warps and loads of a
//           multiprocessor, bytes from cache and memory, launches. The costs of these are fitted to drawn cases by tools/fit (costs.hpp
//           says from which, and the error on cases held out). The candidates: a warp per row (rung 3), fewer lanes (rung 5) with one,
//           four or 16 loads each, one lane (rung 1, with loads as wide as the alignment allows), a block per row, pieces of rows by
//           blocks (rung 4); all of them at any alignment. Rung 2 is a group of 32 lanes.
// Traffic   of the candidate chosen; prepare() makes the choice, so that a run takes no launch for it.
// Fails at  shapes that suit none of the candidates.
// Source    terms and fit our own, as gemm's rung 22.
#include "gpu/gemv/candidates.hpp"

namespace plumb {
namespace {

template <class T>
using Rung = Adaptive<gemv::Candidates, T>;

PLUMB_REGISTER_WITH(Gemv, "06_adaptive",
                    (Rung<T>::run, Rung<T>::kTraits, Rung<T>::supports, Rung<T>::prepare, Rung<T>::release),
                    float, double);

}  // namespace
}  // namespace plumb
