// The bodies of rungs 3 to 6: entries summed by groups of lanes, each gathered when it is used. Header only.
#pragma once
#include "gpu/sddmm/common.hpp"

namespace plumb {
namespace sddmm {

template <class T>
__global__ void __launch_bounds__(kThreads) sddmm_warp_per_entry(In<T> in, Out<T> out) {
  const Index e = (static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (e >= in.A.nnz) return;  // whole warps
  const T* x = in.X.data + row_of(in.A.row_ptr, 0, in.A.rows, e) * in.X.ld;
  const T* y = in.Y.data + in.A.col[e] * in.Y.ld;
  T sum = T(0);
  for (Index k = lane; k < in.X.cols; k += 32) sum += x[k] * y[k];
  sum = sum_lanes(sum, 32);
  if (lane == 0) out.s.data[e] = sum;
}

template <class T>
void run_warp_per_entry(const In<T>& in, const Out<T>& out, Context& context) {
  launch(sddmm_warp_per_entry<T>, ceil_div(in.A.nnz, kThreads / 32), kThreads, 0, context.stream, in, out);
}

template <class T, bool Aligned>
__global__ void __launch_bounds__(kThreads) sddmm_vector_loads(In<T> in, Out<T> out, int width) {
  const Index thread = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  const Index e = thread / width;
  const int part = static_cast<int>(thread % width);
  T sum = T(0);
  if (e < in.A.nnz) {
    const T* x = in.X.data + row_of(in.A.row_ptr, 0, in.A.rows, e) * in.X.ld;
    const T* y = in.Y.data + in.A.col[e] * in.Y.ld;
    for (Index at = 0; at < in.X.cols; at += width * Piece<T>::kSize) {
      sum = add_product(sum, load_piece<Aligned>(x, at, part, width, in.X.cols),
                        load_piece<Aligned>(y, at, part, width, in.X.cols));
    }
  }
  sum = sum_lanes(sum, width);
  if (e < in.A.nnz && part == 0) out.s.data[e] = sum;
}

template <class T>
void run_vector_loads(const In<T>& in, const Out<T>& out, Context& context) {
  int width = 1;
  while (width < 32 && width * Piece<T>::kSize < in.X.cols) width *= 2;
  const auto kernel = on_16_bytes(in) ? sddmm_vector_loads<T, true> : sddmm_vector_loads<T, false>;
  launch(kernel, ceil_div(in.A.nnz * width, kThreads), kThreads, 0, context.stream, in, out, width);
}

constexpr int kEntryLanes = 8;  // lanes of an entry
constexpr int kHeldPieces = 4;  // of X in each lane's registers

template <class T, bool Aligned>
__global__ void __launch_bounds__(kThreads) sddmm_row_in_registers(In<T> in, Out<T> out) {
  constexpr Index kStride = kEntryLanes * Piece<T>::kSize;
  const Index i = (static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x) / 32, terms = in.X.cols;
  if (i >= in.A.rows) return;  // whole warps
  const int lane = static_cast<int>(threadIdx.x) % 32, part = lane % kEntryLanes, group = lane / kEntryLanes;
  const T* x = in.X.data + i * in.X.ld;
  Piece<T> held[kHeldPieces];
#pragma unroll
  for (int p = 0; p < kHeldPieces; ++p)
    held[p] = load_piece<Aligned>(x, p * kStride, part, kEntryLanes, terms);
  const Index end = in.A.row_ptr[i + 1];
  for (Index first = in.A.row_ptr[i]; first < end; first += 32 / kEntryLanes) {
    const Index e = first + group;
    T sum = T(0);
    if (e < end) {
      const T* y = in.Y.data + in.A.col[e] * in.Y.ld;
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
    if (e < end && part == 0) out.s.data[e] = sum;
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
  constexpr Index kStride = kEntryLanes * Piece<T>::kSize;
  const int lane = static_cast<int>(threadIdx.x) % 32, part = lane % kEntryLanes;
  const Index group = (static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x) / kEntryLanes,
              terms = in.X.cols;
  const Index begin = group * kRunEntries,
              end = begin + kRunEntries < in.A.nnz ? begin + kRunEntries : in.A.nnz;
  Index row = begin < end ? row_of(in.A.row_ptr, 0, in.A.rows, begin) : 0, row_end = 0;
  const T* x = in.X.data;
  Piece<T> held[kHeldPieces];
  for (int step = 0; step < kRunEntries; ++step) {  // all lanes of the warp take part in the sums
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
        for (int p = 0; p < kHeldPieces; ++p)
          held[p] = load_piece<Aligned>(x, p * kStride, part, kEntryLanes, terms);
      }
      const T* y = in.Y.data + in.A.col[e] * in.Y.ld;
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
    if (e < end && part == 0) out.s.data[e] = sum;
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
