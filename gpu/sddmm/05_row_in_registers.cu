// sddmm, rung 5: the row of X stays in registers while the row's entries go by.
//
// Change    a warp takes a row; eight lanes an entry, with up to four pieces of X each: X is read once per
//           row, and no entry searches.
// Traffic   k elements of Y per entry, k of X per row. Beyond k = 128 (fp64: 64) the rest of X is read again.
// Limits    fp32 / fp64: 66 to 72 / 54 to 59 registers, no spills (sm_90, nvcc 13.0, ptxas -v). 3 / 4 blocks
//           of 256 per SM.
// Fails at  skew: a giant row is one warp's work, and rows of one or two entries leave most groups idle.
//           Rung 6 answers that.
// Source    Nisa, Sukumaran-Rajam, Kurt, Hong and Sadayappan, HiPC 2018, who keep rows on chip.
#include "gpu/sddmm/common.hpp"

namespace plumb {
namespace {

using namespace sddmm;

constexpr int kWidth = 8;   // lanes of an entry
constexpr int kPieces = 4;  // of X in each lane's registers

template <class T, bool Aligned>
__global__ void __launch_bounds__(kThreads) sddmm_row_in_registers(In<T> in, Out<T> out) {
  constexpr Index kStride = kWidth * Piece<T>::kSize;
  const Index i = (static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x) / 32, terms = in.X.cols;
  if (i >= in.A.rows) return;  // whole warps
  const int lane = static_cast<int>(threadIdx.x) % 32, part = lane % kWidth, group = lane / kWidth;
  const T* x = in.X.data + i * in.X.ld;
  Piece<T> held[kPieces];
#pragma unroll
  for (int p = 0; p < kPieces; ++p) held[p] = load_piece<Aligned>(x, p * kStride, part, kWidth, terms);
  const Index end = in.A.row_ptr[i + 1];
  for (Index first = in.A.row_ptr[i]; first < end; first += 32 / kWidth) {
    const Index e = first + group;
    T sum = T(0);
    if (e < end) {
      const T* y = in.Y.data + in.A.col[e] * in.Y.ld;
#pragma unroll
      for (int p = 0; p < kPieces; ++p) {
        if (p * kStride < terms)
          sum = add_product(sum, held[p], load_piece<Aligned>(y, p * kStride, part, kWidth, terms));
      }
      for (Index at = kPieces * kStride; at < terms; at += kStride) {
        sum = add_product(sum, load_piece<Aligned>(x, at, part, kWidth, terms),
                          load_piece<Aligned>(y, at, part, kWidth, terms));
      }
    }
    sum = sum_lanes(sum, kWidth);
    if (e < end && part == 0) out.s.data[e] = sum;
  }
}

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  const auto kernel = on_16_bytes(in) ? sddmm_row_in_registers<T, true> : sddmm_row_in_registers<T, false>;
  launch(kernel, ceil_div(in.A.rows, kThreads / 32), kThreads, 0, context.stream, in, out);
}

const Register<Sddmm, float, Space::device> f32{"05_row_in_registers", run<float>};
const Register<Sddmm, double, Space::device> f64{"05_row_in_registers", run<double>};

}  // namespace
}  // namespace plumb
