// sddmm, rung 5: the row of X stays in registers while the row's entries go by.
//
// Change    a warp takes a row; eight lanes an entry, with up to four pieces of X each: X is read once per
//           row, and no entry searches.
// Traffic   k elements of Y per entry, k of X per row. Beyond k = 128 (fp64: 64) the rest of X is read again.
// Fails at  skew: a giant row is one warp's work, and rows of one or two entries leave most groups idle.
//           Rung 6 answers that.
// Source    Nisa, Sukumaran-Rajam, Kurt, Hong and Sadayappan, HiPC 2018, who keep rows on chip.
#include "gpu/sddmm/entries.hpp"

namespace plumb {
namespace {

using namespace sddmm;

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  run_row_in_registers(in, out, context);
}

PLUMB_REGISTER(Sddmm, "05_row_in_registers", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
