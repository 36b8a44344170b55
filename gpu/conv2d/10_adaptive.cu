// conv2d, rung 10: the tile and the parts of its sums are chosen by a model of the time that each would take, and the choice is printed.
//
// Change    prepare() says for every candidate of candidates.hpp what its blocks would do: the depth of one, the multiply-adds and the
//           gathered elements of the busiest multiprocessor, bytes from the cache and of the parts. The costs of these are fitted to
//           drawn cases by tools/fit (costs.hpp says from which, and the error on cases held out). The candidates: rung 3; tiles of 128,
//           64, 32 or 16 filters by 128 or 64 outputs, as rungs 6 and 7, each whole or in parts as rung 8, and with the copies of rung 9
//           where it would run; and for filters of one pixel rung 11, also by tiles of 64 x 128, 32 x 64 and, in fp64, 32 x 32. Rung 4 does rung
//           6's work with fewer copies in flight; rung 5 computes in another arithmetic: neither is a candidate.
// Traffic   of the candidate chosen; prepare() makes the choice, so that a run takes no launch for it.
// Fails at  shapes that suit none of the candidates; 3 x 3 filters with stride 1 that may be computed by rung 5.
// Source    terms and fit our own, as gemm's rung 22.
#include "gpu/conv2d/candidates.hpp"

namespace plumb {
namespace {

template <class T>
using Rung = Adaptive<conv2d::Candidates, T>;

PLUMB_REGISTER_WITH(Conv2d, "10_adaptive",
                    (Rung<T>::run, Rung<T>::kTraits, Rung<T>::supports, Rung<T>::prepare, Rung<T>::release),
                    float, double);

}  // namespace
}  // namespace plumb
