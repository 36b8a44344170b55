// requires: tensor_map
// gemm, rung 22: the tiles are chosen by a model of the time that each shape would take, and the choice is printed.
//
// Change    prepare() says for every candidate of candidates.hpp what its blocks would do: the depth of one, the multiply-adds of the
//           busiest multiprocessor, bytes from the cache and of the parts, launches. The costs of these are fitted to drawn cases by
//           tools/fit (costs.hpp has them, and the error on cases held out). The candidates are the launches of rungs 16, 18
//           to 21 and 23 to 27; in fp64 also tiles of 64 x 128 by four warps of 64 x 32, whole or in parts, of 128 x 128 by eight, and others of parts.hpp.
// Traffic   of the candidate chosen; prepare() makes the choice, so that a run takes no launch for it.
// Fails at  shapes that suit none of the candidates.
// Source    terms and fit our own.
#include "gpu/gemm/candidates.hpp"

namespace plumb {
namespace {

template <class T>
using Rung = Adaptive<gemm::Candidates, T>;

PLUMB_REGISTER_WITH(Gemm, "22_adaptive",
                    (Rung<T>::run, Rung<T>::kTraits, Rung<T>::supports, Rung<T>::prepare, Rung<T>::release),
                    float, double);

}  // namespace
}  // namespace plumb
