// sddmm, rung 10: the kernel is chosen by a model of the time that each would take, and the choice is printed.
//
// Change    prepare() counts, for every candidate of candidates.hpp, what it would do for this matrix and k: batches of gathers one after
//           the other, lines of Y gathered by a multiprocessor, bytes from cache and memory, warps, launches; for panels, the distinct
//           columns that 8 or 16 neighbouring rows hold. The costs of these are fitted to drawn cases by tools/fit (costs.hpp says from
//           which, and the error on cases held out). The candidates: rungs 5, 6, 8, 9 and 11 to 13; rung 7 is rung 8 where k is not known
//           to the compiler, and slower where it is. It chose by thresholds on the entries per distinct column before.
// Traffic   of the candidate chosen; the counts cost two passes over the columns on the device, a copy of row_ptr to the host and a pass
//           over it there, in prepare().
// Fails at  matrices whose rows change character along the matrix: one choice is made for all of it.
// Source    terms and fit our own, as spmm's rung 13.
#include "gpu/sddmm/candidates.hpp"

namespace plumb {
namespace {

template <class T>
using Rung = Adaptive<sddmm::Candidates, T>;

PLUMB_REGISTER_WITH(Sddmm, "10_adaptive",
                    (Rung<T>::run, Rung<T>::kTraits, Rung<T>::supports, Rung<T>::prepare, Rung<T>::release),
                    float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
