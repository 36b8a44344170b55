// cuSPARSE's SpMM behind the two vendor rungs: descriptors, buffer and analysis in prepare(), one call in
// run().
#pragma once
#include "gpu/runtime/cusparse.hpp"
#include "gpu/spmm/common.hpp"

namespace plumb {
namespace spmm {

/// Everything of a call that does not depend on the values; destroyed with what it owns.
template <class T>
struct CusparseSpmm {
  cusparseHandle_t handle = nullptr;
  cusparseSpMatDescr_t a = nullptr;
  cusparseDnMatDescr_t b = nullptr, c = nullptr;
  cusparseSpMMAlg_t algorithm;
  void* buffer = nullptr;
  T alpha = 1, beta = 0;

  CusparseSpmm(const In<T>& in, const Out<T>& out, Context& context, cusparseSpMMAlg_t which)
      : algorithm(which) {
    try {
      PLUMB_CUSPARSE(cusparseCreate(&handle));
      PLUMB_CUSPARSE(cusparseSetStream(handle, static_cast<cudaStream_t>(context.stream)));
      PLUMB_CUSPARSE(
          cusparseCreateCsr(&a, in.A.rows, in.A.cols, in.A.nnz, const_cast<std::int32_t*>(in.A.row_ptr),
                            const_cast<std::int32_t*>(in.A.col), const_cast<T*>(in.A.val), CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, kCudaType<T>));
      PLUMB_CUSPARSE(cusparseCreateDnMat(&b, in.B.rows, in.B.cols, in.B.ld, const_cast<T*>(in.B.data),
                                         kCudaType<T>, CUSPARSE_ORDER_ROW));
      PLUMB_CUSPARSE(cusparseCreateDnMat(&c, out.C.rows, out.C.cols, out.C.ld, out.C.data, kCudaType<T>,
                                         CUSPARSE_ORDER_ROW));
      std::size_t bytes = 0;
      PLUMB_CUSPARSE(cusparseSpMM_bufferSize(handle, kPlain, kPlain, &alpha, a, b, &beta, c, kCudaType<T>,
                                             algorithm, &bytes));
      buffer = context.workspace(static_cast<std::int64_t>(bytes));
      PLUMB_CUSPARSE(cusparseSpMM_preprocess(handle, kPlain, kPlain, &alpha, a, b, &beta, c, kCudaType<T>,
                                             algorithm, buffer));
    } catch (...) {
      destroy();
      throw;
    }
  }
  CusparseSpmm(const CusparseSpmm&) = delete;
  CusparseSpmm& operator=(const CusparseSpmm&) = delete;
  ~CusparseSpmm() { destroy(); }

  void run() {
    PLUMB_CUSPARSE(
        cusparseSpMM(handle, kPlain, kPlain, &alpha, a, b, &beta, c, kCudaType<T>, algorithm, buffer));
  }

 private:
  static constexpr cusparseOperation_t kPlain = CUSPARSE_OPERATION_NON_TRANSPOSE;

  void destroy() {
    if (c != nullptr) (void)cusparseDestroyDnMat(c);
    if (b != nullptr) (void)cusparseDestroyDnMat(b);
    if (a != nullptr) (void)cusparseDestroySpMat(a);
    if (handle != nullptr) (void)cusparseDestroy(handle);
  }
};

template <class T>
const char* cusparse_supports(const Problem<T>&, const In<T>& in, const Out<T>& out) {
  return in.A.rows == 0 || in.A.cols == 0 || in.A.nnz == 0 || out.C.cols == 0
             ? "cuSPARSE takes no matrix without rows, columns or entries"
             : nullptr;
}

template <class T>
void cusparse_release(void* plan) {
  delete static_cast<CusparseSpmm<T>*>(plan);
}

template <class T>
void cusparse_run(const Problem<T>&, const In<T>&, const Out<T>&, Context& context) {
  static_cast<CusparseSpmm<T>*>(context.plan)->run();
}

}  // namespace spmm
}  // namespace plumb
