// transpose, rung 1: one thread per element.
//
// Change    first rung: reads run along a row of A, writes down a column of B.
// Traffic   compulsory reads, coalesced; each 4- or 8-byte write touches a 32-byte sector of its own.
// Fails at  the writes: 32 sectors per warp. Rung 2 answers that.
// Source    G. Ruetsch and P. Micikevicius, "Optimizing Matrix Transpose in CUDA" (2009).
#include "gpu/transpose/element.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Transpose::Problem<T>&, const Transpose::In<T, Space::device>& in,
         const Transpose::Out<T, Space::device>& out, Context& context) {
  transpose::run_elements<T, false>(in, out, context);
}

PLUMB_REGISTER(Transpose, "01_naive", run, float, double, f16, bf16, e4m3);

}  // namespace
}  // namespace plumb
