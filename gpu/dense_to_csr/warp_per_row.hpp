// The kernels of rung 2. Apart from the rung because the adaptive one takes them too.
#pragma once
#include "gpu/common/scan.hpp"
#include "gpu/dense_to_csr/common.hpp"

namespace plumb {
namespace dense_to_csr {

template <class T>
__global__ void __launch_bounds__(kThreads) dense_to_csr_warp_counts(In<T> in, Out<T> out) {
  const Index i = (static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (i >= in.x.rows) return;  // whole warps
  int count = 0;
  for (Index base = 0; base < in.x.cols; base += 32) {
    const bool counts = base + lane < in.x.cols && in.x.data[i * in.x.ld + base + lane] != T(0);
    count += __popc(__ballot_sync(kAllLanes, counts));
  }
  if (lane == 0) out.row_ptr.data[i + 1] = count;
}

template <class T>
__global__ void __launch_bounds__(kThreads) dense_to_csr_warp_fills(In<T> in, Out<T> out) {
  const Index i = (static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (i >= in.x.rows) return;  // whole warps
  Index begin = out.row_ptr.data[i];
  for (Index base = 0; base < in.x.cols; base += 32) {
    const Index j = base + lane;
    const T v = j < in.x.cols ? in.x.data[i * in.x.ld + j] : T(0);
    const bool counts = v != T(0);
    const unsigned entries = __ballot_sync(kAllLanes, counts);
    if (counts) {
      const Index at = begin + __popc(entries & ((1u << lane) - 1));
      out.col.data[at] = static_cast<std::int32_t>(j);
      out.val.data[at] = v;
    }
    begin += __popc(entries);
  }
}

template <class T>
void run_warp_per_row(const In<T>& in, const Out<T>& out, Context& context) {
  const Index blocks = ceil_div(in.x.rows, kWarps);
  launch(dense_to_csr_warp_counts<T>, blocks, kThreads, 0, context.stream, in, out);
  scan_counts(out.row_ptr.data, in.x.rows, context);
  launch(dense_to_csr_warp_fills<T>, blocks, kThreads, 0, context.stream, in, out);
}

}  // namespace dense_to_csr
}  // namespace plumb
