// dense_to_csr, rung 4: counting leaves a bit per element, so that filling reads only entries.
//
// Change    the ballots of rung 2 are kept: 1/32 of x in fp32, 1/64 in fp64. The second pass goes over words,
//           skips empty ones and loads the elements whose bit is set.
// Traffic   x once, the mask once each way, and again the sectors of x that hold an entry: few where one
//           element in a hundred counts, nearly all where one in four does.
// Limits    fp32 / fp64: dense_to_csr_masks 35 / 32 registers; dense_to_csr_scan_tiles 27 registers, 32 bytes
//           of static shared memory; dense_to_csr_scan_totals 24 registers, 32 bytes of static shared memory;
//           dense_to_csr_mask_fills 23 registers; dense_to_csr_add_totals 10 registers, no spills (sm_90,
//           nvcc 13.0, ptxas -v). The first pass: 6 / 8 blocks of 256 per SM.
// Fails at  dense x, which is read twice after all; few rows. Rung 5 answers both.
// Source    bitmaps as in Zhu et al., "Sparse Tensor Core" (MICRO 2019), and kin.
#include "gpu/dense_to_csr/row_scan.hpp"

namespace plumb {
namespace {

using namespace dense_to_csr;

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
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  const Index words = ceil_div(in.x.cols, 32), blocks = ceil_div(in.x.rows, kWarps);
  auto* mask =
      static_cast<unsigned*>(context.workspace(in.x.rows * words * static_cast<Index>(sizeof(unsigned))));
  launch(dense_to_csr_masks<T>, blocks, kThreads, 0, context.stream, in, out, mask, words);
  scan_counts(out.row_ptr.data, in.x.rows, context);
  launch(dense_to_csr_mask_fills<T>, blocks, kThreads, 0, context.stream, in, out, mask, words);
}

const Register<DenseToCsr, float, Space::device> f32{"04_bit_mask", run<float>};
const Register<DenseToCsr, double, Space::device> f64{"04_bit_mask", run<double>};

}  // namespace
}  // namespace plumb
