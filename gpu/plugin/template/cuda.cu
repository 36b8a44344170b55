// spmv on the device: one warp per row. Arrays lie in device memory; launch on the context's stream and nowhere else.
#include <cuda_runtime.h>

#include "plugin_abi.h"

namespace {

constexpr int kThreads = 256, kWarp = 32;

template <class T>
__global__ void __launch_bounds__(kThreads)
    spmv_warp_per_row(const int32_t* row_ptr, const int32_t* col, const T* val, const T* x, T* y,
                      int64_t rows, T alpha, T beta) {
  const int64_t row = (int64_t{blockIdx.x} * kThreads + threadIdx.x) / kWarp;
  const int lane = threadIdx.x % kWarp;
  if (row >= rows) return;  // a whole warp leaves together
  T sum = 0;
  const int32_t end = alpha == T(0) ? row_ptr[row] : row_ptr[row + 1];  // alpha == 0: A and x do not count
  for (int32_t k = row_ptr[row] + lane; k < end; k += kWarp) sum += val[k] * x[col[k]];
  for (int step = kWarp / 2; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (lane == 0) y[row] = beta == T(0) ? alpha * sum : alpha * sum + beta * y[row];
}

template <class T>
const char* run(const plumb_call* call) {
  const plumb_array *row_ptr = plumb_find_array(call, "A.row_ptr"), *col = plumb_find_array(call, "A.col");
  const plumb_array *val = plumb_find_array(call, "A.val"), *x = plumb_find_array(call, "x"),
                    *y = plumb_find_array(call, "y");
  if (!row_ptr || !col || !val || !x || !y) return "an array of spmv is missing";
  const int64_t rows = y->shape[0];
  if (rows == 0) return nullptr;
  const int64_t blocks = (rows * kWarp + kThreads - 1) / kThreads;
  spmv_warp_per_row<T>
      <<<static_cast<unsigned>(blocks), kThreads, 0, static_cast<cudaStream_t>(call->context->stream)>>>(
          static_cast<const int32_t*>(row_ptr->data), static_cast<const int32_t*>(col->data),
          static_cast<const T*>(val->data), static_cast<const T*>(x->data), static_cast<T*>(y->data), rows,
          static_cast<T>(plumb_find_scalar(call, "alpha", 1)),
          static_cast<T>(plumb_find_scalar(call, "beta", 0)));
  const cudaError_t status = cudaGetLastError();
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

}  // namespace

extern "C" const char* spmv_cuda_f32(const plumb_call* call) { return run<float>(call); }
extern "C" const char* spmv_cuda_f64(const plumb_call* call) { return run<double>(call); }
