// The bodies of rungs 5 and 6: entries summed by groups of lanes, each gathered when it is used. Apart from them because the adaptive rung
// picks them too.
#pragma once
#include "gpu/sddmm/common.hpp"

namespace plumb {
namespace sddmm {

constexpr int kEntryLanes = 8;  // lanes of an entry
constexpr int kHeldPieces = 4;  // of X in each lane's registers

template <class T, bool Aligned>
__global__ void __launch_bounds__(kThreads) sddmm_row_in_registers(In<T> in, Out<T> out) {
  constexpr Index kStride = kEntryLanes * kPieceSize<T>;
  const Index i = (static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x) / 32, terms = in.X.cols;
  if (i >= in.A.rows) return;  // whole warps
  const int lane = static_cast<int>(threadIdx.x) % 32, part = lane % kEntryLanes, group = lane / kEntryLanes;
  const in_t<T>* x = in.X.data + i * in.X.ld;
  Piece<in_t<T>> held[kHeldPieces];
#pragma unroll
  for (int p = 0; p < kHeldPieces; ++p)
    held[p] = load_piece<Aligned>(x, p * kStride, part, kEntryLanes, terms);
  const Index end = in.A.row_ptr[i + 1];
  for (Index first = in.A.row_ptr[i]; first < end; first += 32 / kEntryLanes) {
    const Index e = first + group;
    scalar_t<T> sum = 0;
    if (e < end) {
      const in_t<T>* y = in.Y.data + in.A.col[e] * in.Y.ld;
#pragma unroll
      for (int p = 0; p < kHeldPieces; ++p) {
        if (p * kStride < terms)
          sum = add_product(sum, held[p], load_piece<Aligned>(y, p * kStride, part, kEntryLanes, terms));
      }
      for (Index at = kHeldPieces * kStride; at < terms; at += kStride) {
        sum = add_product(sum, load_piece<Aligned>(x, at, part, kEntryLanes, terms),
                          load_piece<Aligned>(y, at, part, kEntryLanes, terms));
      }
    }
    sum = sum_lanes(sum, kEntryLanes);
    if (e < end && part == 0) out.s.data[e] = stored<out_t<T>>(sum);
  }
}

template <class T>
void run_row_in_registers(const In<T>& in, const Out<T>& out, Context& context) {
  const auto kernel = on_16_bytes(in) ? sddmm_row_in_registers<T, true> : sddmm_row_in_registers<T, false>;
  launch(kernel, ceil_div(in.A.rows, kThreads / 32), kThreads, 0, context.stream, in, out);
}

constexpr int kRunEntries = 32;  // entries of a group

template <class T, bool Aligned>
__global__ void __launch_bounds__(kThreads) sddmm_nonzero_split(In<T> in, Out<T> out) {
  constexpr Index kStride = kEntryLanes * kPieceSize<T>;
  const int lane = static_cast<int>(threadIdx.x) % 32, part = lane % kEntryLanes;
  const Index group = (static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x) / kEntryLanes,
              terms = in.X.cols;
  const Index begin = group * kRunEntries,
              end = begin + kRunEntries < in.A.nnz ? begin + kRunEntries : in.A.nnz;
  Index row = begin < end ? row_of(in.A.row_ptr, 0, in.A.rows, begin) : 0, row_end = 0;
  const in_t<T>* x = in.X.data;
  Piece<in_t<T>> held[kHeldPieces];
  for (int step = 0; step < kRunEntries; ++step) {  // all lanes of the warp take part in the sums
    const Index e = begin + step;
    scalar_t<T> sum = 0;
    if (e < end) {
      if (e >= row_end) {  // the first entry, or the first of another row
        if (step > 0) {
          ++row;
          if (in.A.row_ptr[row + 1] <= e) row = row_of(in.A.row_ptr, row, in.A.rows, e);  // past empty rows
        }
        row_end = in.A.row_ptr[row + 1];
        x = in.X.data + row * in.X.ld;
#pragma unroll
        for (int p = 0; p < kHeldPieces; ++p)
          held[p] = load_piece<Aligned>(x, p * kStride, part, kEntryLanes, terms);
      }
      const in_t<T>* y = in.Y.data + in.A.col[e] * in.Y.ld;
#pragma unroll
      for (int p = 0; p < kHeldPieces; ++p) {
        if (p * kStride < terms)
          sum = add_product(sum, held[p], load_piece<Aligned>(y, p * kStride, part, kEntryLanes, terms));
      }
      for (Index at = kHeldPieces * kStride; at < terms; at += kStride) {
        sum = add_product(sum, load_piece<Aligned>(x, at, part, kEntryLanes, terms),
                          load_piece<Aligned>(y, at, part, kEntryLanes, terms));
      }
    }
    sum = sum_lanes(sum, kEntryLanes);
    if (e < end && part == 0) out.s.data[e] = stored<out_t<T>>(sum);
  }
}

template <class T>
void run_nonzero_split(const In<T>& in, const Out<T>& out, Context& context) {
  const auto kernel = on_16_bytes(in) ? sddmm_nonzero_split<T, true> : sddmm_nonzero_split<T, false>;
  launch(kernel, ceil_div(ceil_div(in.A.nnz, kRunEntries), kThreads / kEntryLanes), kThreads, 0,
         context.stream, in, out);
}

}  // namespace sddmm
}  // namespace plumb
