// sddmm, rung 4: 16-byte loads, and as many lanes per entry as these leave work for.
//
// Change    k / 4 lanes (fp64: k / 2) take an entry, so that at k = 32 a warp has four in flight, and three
//           shuffles sum all of them.
// Traffic   as rung 3; a quarter of the loads. Where bases or ld do not lie on 16 bytes, single elements.
// Fails at  nothing by shape, but each entry still searches for its row and reads X anew. Rung 5 answers
//           that.
// Source    J. Luitjens, "CUDA Pro Tip: Increase Performance with Vectorized Memory Access" (2013).
#include "gpu/sddmm/common.hpp"

namespace plumb {
namespace {

using namespace sddmm;

template <class T, bool Aligned>
__global__ void __launch_bounds__(kThreads) sddmm_vector_loads(In<T> in, Out<T> out, int width) {
  const Index thread = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  const Index e = thread / width;
  const int part = static_cast<int>(thread % width);
  scalar_t<T> sum = 0;
  if (e < in.A.nnz) {
    const in_t<T>* x = in.X.data + row_of(in.A.row_ptr, 0, in.A.rows, e) * in.X.ld;
    const in_t<T>* y = in.Y.data + in.A.col[e] * in.Y.ld;
    for (Index at = 0; at < in.X.cols; at += width * kPieceSize<T>) {
      sum = add_product(sum, load_piece<Aligned>(x, at, part, width, in.X.cols),
                        load_piece<Aligned>(y, at, part, width, in.X.cols));
    }
  }
  sum = sum_lanes(sum, width);
  if (e < in.A.nnz && part == 0) out.s.data[e] = stored<out_t<T>>(sum);
}

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  int width = 1;
  while (width < 32 && width * kPieceSize<T> < in.X.cols) width *= 2;
  const auto kernel = on_16_bytes(in) ? sddmm_vector_loads<T, true> : sddmm_vector_loads<T, false>;
  launch(kernel, ceil_div(in.A.nnz * width, kThreads), kThreads, 0, context.stream, in, out, width);
}

PLUMB_REGISTER(Sddmm, "04_vector_loads", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
