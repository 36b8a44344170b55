// sddmm, rung 6: entries are dealt out evenly, whatever row they are in.
//
// Change    a group of eight lanes takes 32 consecutive entries, searches for the row of the first, and goes
//           on from there; X is loaded into registers again where a row ends. 65,536 rows of 32,
//           k = 32, fp32: 106 us, rung 5 151 us (H200).
// Traffic   as rung 5; X once more for each run that is cut.
// Limits    fp32 / fp64: 48 to 64 / 48 to 55 registers, no spills (sm_90, nvcc 13.0, ptxas -v). 4 blocks of
//           256 per SM.
// Fails at  latency: an entry's gather is used at once, so each group has one row of Y in flight. Rung 7
//           answers that.
// Source    the equal split of Dalton, Olson and Bell, TOMS 2015, and of Gale, Zaharia, Young and Elsen,
//           SC'20.
#include "gpu/sddmm/common.hpp"

namespace plumb {
namespace {

using namespace sddmm;

constexpr int kWidth = 8;   // lanes of an entry
constexpr int kPieces = 4;  // of X in each lane's registers
constexpr int kRun = 32;    // entries of a group

template <class T, bool Aligned>
__global__ void __launch_bounds__(kThreads) sddmm_nonzero_split(In<T> in, Out<T> out) {
  constexpr Index kStride = kWidth * Piece<T>::kSize;
  const int lane = static_cast<int>(threadIdx.x) % 32, part = lane % kWidth;
  const Index group = (static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x) / kWidth, terms = in.X.cols;
  const Index begin = group * kRun, end = begin + kRun < in.A.nnz ? begin + kRun : in.A.nnz;
  Index row = begin < end ? row_of(in.A.row_ptr, 0, in.A.rows, begin) : 0, row_end = 0;
  const T* x = in.X.data;
  Piece<T> held[kPieces];
  for (int step = 0; step < kRun; ++step) {  // all lanes of the warp take part in the sums
    const Index e = begin + step;
    T sum = T(0);
    if (e < end) {
      if (e >= row_end) {  // the first entry, or the first of another row
        if (step > 0) {
          ++row;
          if (in.A.row_ptr[row + 1] <= e) row = row_of(in.A.row_ptr, row, in.A.rows, e);  // past empty rows
        }
        row_end = in.A.row_ptr[row + 1];
        x = in.X.data + row * in.X.ld;
#pragma unroll
        for (int p = 0; p < kPieces; ++p) held[p] = load_piece<Aligned>(x, p * kStride, part, kWidth, terms);
      }
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
  const auto kernel = on_16_bytes(in) ? sddmm_nonzero_split<T, true> : sddmm_nonzero_split<T, false>;
  launch(kernel, ceil_div(ceil_div(in.A.nnz, kRun), kThreads / kWidth), kThreads, 0, context.stream, in, out);
}

const Register<Sddmm, float, Space::device> f32{"06_nonzero_split", run<float>};
const Register<Sddmm, double, Space::device> f64{"06_nonzero_split", run<double>};

}  // namespace
}  // namespace plumb
