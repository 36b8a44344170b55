// spmm, rung 13: the kernel is chosen by a model of the time that each would take, and the choice is printed.
//
// Change    prepare() counts, for every candidate of candidates.hpp, what it would do for this matrix and width: batches of entries one
//           after the other, batches of all warps (each waits for its longest row), bytes from cache and memory, launches. The costs of
//           these are fitted to drawn cases by tools/fit (costs.hpp has them, and the error on cases held out). The candidates: a group
//           per row (rung 9), groups that share rows (10), rows in the order of their lengths (6), streamed rows (11), columns staged
//           (5) or not (1); long rows cut (7) into parts of 256, 64 or 16 entries; panels (12) where B is larger than the cache and rows
//           have columns far apart.
// Traffic   of the candidate chosen; the counts cost a copy of row_ptr to the host and some passes over it there, in prepare().
// Fails at  matrices whose rows change character along the matrix: one choice is made for all of it.
// Source    the choice by features as in Greathouse and Daga, SC'14, and Dai et al., "Heuristic Adaptability to Input Dynamics for SpMM
//           on GPUs", DAC'22; terms and fit our own.
#include "gpu/spmm/candidates.hpp"

namespace plumb {
namespace {

template <class T>
using Rung = Adaptive<spmm::Candidates, T>;

PLUMB_REGISTER_WITH(Spmm, "13_adaptive",
                    (Rung<T>::run, Rung<T>::kTraits, Rung<T>::supports, Rung<T>::prepare, Rung<T>::release),
                    float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
