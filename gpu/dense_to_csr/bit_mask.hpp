// The kernels of rung 4. Apart from the rung because the adaptive one takes them too.
#pragma once
#include "gpu/common/scan.hpp"
#include "gpu/dense_to_csr/common.hpp"

namespace plumb {
namespace dense_to_csr {

// A warp per row; lane w keeps the w-th of 32 ballots, and all are stored together.
template <class T>
__global__ void __launch_bounds__(kThreads)
    dense_to_csr_masks(In<T> in, Out<T> out, unsigned* mask /* (rows, words) */, Index words) {
  const Index i = (static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (i >= in.x.rows) return;  // whole warps
  const T* x = in.x.data + i * in.x.ld;
  int count = 0;
  for (Index first = 0; first < words; first += 32) {
    const int here = static_cast<int>(words - first < 32 ? words - first : 32);
    unsigned kept = 0;
#pragma unroll 8
    for (int w = 0; w < here; ++w) {
      const Index j = (first + w) * 32 + lane;
      const unsigned entries = __ballot_sync(kAllLanes, j < in.x.cols && __ldcs(x + j) != T(0));
      if (lane == w) kept = entries;
    }
    if (lane < here) mask[i * words + first + lane] = kept;
    count += __popc(kept);
  }
#pragma unroll
  for (int d = 16; d > 0; d /= 2) count += __shfl_down_sync(kAllLanes, count, d);
  if (lane == 0) out.row_ptr.data[i + 1] = count;
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    dense_to_csr_mask_fills(In<T> in, Out<T> out, const unsigned* mask /* (rows, words) */, Index words) {
  const Index i = (static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (i >= in.x.rows) return;  // whole warps
  const T* x = in.x.data + i * in.x.ld;
  Index begin = out.row_ptr.data[i];
  for (Index first = 0; first < words; first += 32) {
    const unsigned word = first + lane < words ? mask[i * words + first + lane] : 0;
    const int through = scan_lanes(__popc(word), lane);
    unsigned filled = __ballot_sync(kAllLanes, word != 0);
    while (filled != 0) {  // the same in all lanes
      const int w = __ffs(static_cast<int>(filled)) - 1;
      filled &= filled - 1;
      const unsigned entries = __shfl_sync(kAllLanes, word, w);
      const int end = __shfl_sync(kAllLanes, through, w);
      if ((entries >> lane & 1) != 0) {
        const Index j = (first + w) * 32 + lane;
        const Index at = begin + end - __popc(entries >> lane);  // entries from this one on lie between
        out.col.data[at] = static_cast<std::int32_t>(j);
        out.val.data[at] = x[j];
      }
    }
    begin += __shfl_sync(kAllLanes, through, 31);
  }
}

template <class T>
void run_bit_mask(const In<T>& in, const Out<T>& out, Context& context) {
  const Index words = ceil_div(in.x.cols, 32), blocks = ceil_div(in.x.rows, kWarps);
  auto* mask =
      static_cast<unsigned*>(context.workspace(in.x.rows * words * static_cast<Index>(sizeof(unsigned))));
  launch(dense_to_csr_masks<T>, blocks, kThreads, 0, context.stream, in, out, mask, words);
  scan_counts(out.row_ptr.data, in.x.rows, context);
  launch(dense_to_csr_mask_fills<T>, blocks, kThreads, 0, context.stream, in, out, mask, words);
}

}  // namespace dense_to_csr
}  // namespace plumb
