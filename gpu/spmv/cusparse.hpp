// cuSPARSE's SpMV behind the two vendor rungs: descriptors, buffer and analysis in prepare(), one call in
// run().
#pragma once
#include "gpu/runtime/cusparse.hpp"
#include "reference/ops/spmv.hpp"

namespace plumb {
namespace spmv {

/// Everything of a call that does not depend on the values; destroyed with what it owns.
template <class T>
struct CusparseSpmv {
  cusparseHandle_t handle = nullptr;
  cusparseSpMatDescr_t a = nullptr;
  cusparseDnVecDescr_t x = nullptr, y = nullptr;
  cusparseSpMVAlg_t algorithm;
  void* buffer = nullptr;

  CusparseSpmv(const Spmv::Problem<T>& p, const Spmv::In<T, Space::device>& in,
               const Spmv::Out<T, Space::device>& out, Context& context, cusparseSpMVAlg_t which)
      : algorithm(which) {
    try {
      PLUMB_CUSPARSE(cusparseCreate(&handle));
      PLUMB_CUSPARSE(cusparseSetStream(handle, static_cast<cudaStream_t>(context.stream)));
      PLUMB_CUSPARSE(
          cusparseCreateCsr(&a, in.A.rows, in.A.cols, in.A.nnz, const_cast<std::int32_t*>(in.A.row_ptr),
                            const_cast<std::int32_t*>(in.A.col), const_cast<T*>(in.A.val), CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, kCudaType<T>));
      PLUMB_CUSPARSE(cusparseCreateDnVec(&x, in.x.size, const_cast<T*>(in.x.data), kCudaType<T>));
      PLUMB_CUSPARSE(cusparseCreateDnVec(&y, out.y.size, out.y.data, kCudaType<T>));
      std::size_t bytes = 0;
      PLUMB_CUSPARSE(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &p.alpha, a, x,
                                             &p.beta, y, kCudaType<T>, algorithm, &bytes));
      buffer = context.workspace(static_cast<std::int64_t>(bytes));
      PLUMB_CUSPARSE(cusparseSpMV_preprocess(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &p.alpha, a, x,
                                             &p.beta, y, kCudaType<T>, algorithm, buffer));
    } catch (...) {
      destroy();
      throw;
    }
  }
  CusparseSpmv(const CusparseSpmv&) = delete;
  CusparseSpmv& operator=(const CusparseSpmv&) = delete;
  ~CusparseSpmv() { destroy(); }

  void run(const Spmv::Problem<T>& p) {
    PLUMB_CUSPARSE(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &p.alpha, a, x, &p.beta, y,
                                kCudaType<T>, algorithm, buffer));
  }

 private:
  void destroy() {
    if (y != nullptr) (void)cusparseDestroyDnVec(y);
    if (x != nullptr) (void)cusparseDestroyDnVec(x);
    if (a != nullptr) (void)cusparseDestroySpMat(a);
    if (handle != nullptr) (void)cusparseDestroy(handle);
  }
};

template <class T>
const char* cusparse_supports(const Spmv::Problem<T>&, const Spmv::In<T, Space::device>& in,
                              const Spmv::Out<T, Space::device>&) {
  return in.A.rows == 0 || in.A.cols == 0 || in.A.nnz == 0
             ? "cuSPARSE takes no matrix without rows, columns or entries"
             : nullptr;
}

template <class T>
void cusparse_release(void* plan) {
  delete static_cast<CusparseSpmv<T>*>(plan);
}

template <class T>
void cusparse_run(const Spmv::Problem<T>& p, const Spmv::In<T, Space::device>&,
                  const Spmv::Out<T, Space::device>&, Context& context) {
  static_cast<CusparseSpmv<T>*>(context.plan)->run(p);
}

}  // namespace spmv
}  // namespace plumb
