// spmv, rung 13: the kernel is chosen by a model of the time that each would take, and the choice is printed.
//
// Change    prepare() counts, for every candidate of candidates.hpp, what it would do for this matrix: batches of entries one after
//           the other, batches of all warps (each waits for its longest row), bytes from cache and memory, sectors gathered from x,
//           launches. The costs of these are fitted to drawn cases by tools/fit (costs.hpp has them, and the error on cases held
//           out). The candidates: a group of lanes (rung 4) or a block (2) per row, long rows cut into tiles (22: rows from 2048 or 256
//           entries, tiles of 2048 or 512), equal tiles of entries (8), of entries and rows (12), of whole rows (7), SELL-C-sigma
//           (16) where it stores at most three times as much, column blocks (21).
// Traffic   of the candidate chosen; the counts cost a copy of row_ptr to the host, some passes over it there and a sample of col, in
//           prepare().
// Fails at  matrices whose rows change character along the matrix: one choice is made for all of it.
// Source    the choice by features as in Greathouse and Daga, SC'14 (CSR-Adaptive), and its kin; terms and fit our own.
#include "gpu/spmv/candidates.hpp"

namespace plumb {
namespace {

template <class T>
using Rung = Adaptive<spmv::Candidates, T>;

PLUMB_REGISTER_WITH(Spmv, "13_adaptive",
                    (Rung<T>::run, Rung<T>::kTraits, Rung<T>::supports, Rung<T>::prepare, Rung<T>::release),
                    float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
