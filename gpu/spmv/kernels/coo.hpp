// The coordinate kernels of rungs 14 and 17. Atomic additions where a row crosses a warp, so neither is
// reproducible.
#pragma once
#include "gpu/spmv/common.hpp"

namespace plumb {
namespace spmv {

constexpr int kCooThreads = 256;
constexpr int kCooRounds = 8;  // of 32 entries per warp

template <class T>
__global__ void __launch_bounds__(kCooThreads) spmv_scale(T beta, T* y /* (rows) */, Index rows) {
  const Index i = static_cast<Index>(blockIdx.x) * kCooThreads + threadIdx.x;
  if (i < rows) y[i] = beta == T(0) ? T(0) : beta * y[i];
}

// Row of every entry, from CSR; a warp per row.
static __global__ void __launch_bounds__(kCooThreads)
    spmv_coo_rows(const std::int32_t* row_ptr /* (rows + 1) */, Index rows, std::int32_t* row /* (nnz) */) {
  const Index i = (static_cast<Index>(blockIdx.x) * kCooThreads + threadIdx.x) / 32;
  if (i >= rows) return;
  const Index end = row_ptr[i + 1];
  for (Index k = row_ptr[i] + static_cast<Index>(threadIdx.x % 32); k < end; k += 32)
    row[k] = static_cast<std::int32_t>(i);
}

// A warp takes 32 entries at a time: a segmented scan by row leaves each row's sum in its last lane, which
// adds it to y.
template <class T>
__global__ void __launch_bounds__(kCooThreads)
    spmv_coo(T alpha, const std::int32_t* row /* (nnz), ascending */, const std::int32_t* col /* (nnz) */,
             const T* val /* (nnz) */, Index nnz, const T* x /* (cols) */, T* y /* (rows) */) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Index warp = (static_cast<Index>(blockIdx.x) * kCooThreads + threadIdx.x) / 32;
  const Index begin = warp * (32 * kCooRounds);
  for (int round = 0; round < kCooRounds; ++round) {
    const Index k = begin + round * 32 + lane;
    const bool mine = k < nnz;
    const std::int32_t i = mine ? row[k] : -1;
    T sum = mine ? val[k] * __ldg(x + col[k]) : T(0);
    for (int d = 1; d < 32; d *= 2) {
      const T before = __shfl_up_sync(kAllLanes, sum, d);
      const std::int32_t other = __shfl_up_sync(kAllLanes, i, d);
      if (lane >= d && other == i) sum += before;
    }
    const std::int32_t next = __shfl_down_sync(kAllLanes, i, 1);
    if (mine && (lane == 31 || next != i)) atomicAdd(y + i, alpha * sum);
  }
}

template <class T>
void run_coo(T alpha, const std::int32_t* row, const std::int32_t* col, const T* val, Index nnz, const T* x,
             T* y, void* stream) {
  if (alpha == T(0)) return;  // NaN in A or x does not count
  launch(spmv_coo<T>, ceil_div(nnz, kCooThreads * kCooRounds), kCooThreads, 0, stream, alpha, row, col, val,
         nnz, x, y);
}

}  // namespace spmv
}  // namespace plumb
