// spmv, rung 4: 2 to 32 lanes per row, chosen from the mean row length.
//
// Change    a warp takes 32 / width rows at once, so short rows fill it.
// Traffic   compulsory bytes; a warp's loads cover neighbouring rows, which lie next to each other in CSR.
// Fails at  matrices whose mean says little of their rows: power laws. Rungs 8 and 12 answer that.
// Source    Bell and Garland, SC'09; the choice of width as in CUSP and in Reguly and Giles, InPar'12.
#include <cstdio>

#include "gpu/spmv/kernels/vector_per_row.hpp"

namespace plumb {
namespace {

using namespace spmv;

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const int width = vector_width(in.A.rows, in.A.nnz);
  char text[64];
  std::snprintf(text, sizeof text, "%d lanes per row", width);
  context.explain(text);
  run_vector_per_row(width, p, in, out, context);
}

PLUMB_REGISTER(Spmv, "04_vector_per_row", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
