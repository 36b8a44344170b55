// requires: cusparse
// What every rung and pipeline that calls cuSPARSE needs: its errors as exceptions, its names of our types, and owners of its objects.
#pragma once
#include <cusparse.h>

#include <memory>
#include <string>

#include "gpu/runtime/cuda_type.hpp"
#include "reference/core/abi.hpp"
#include "reference/core/error.hpp"

namespace plumb {

inline void check_cusparse(cusparseStatus_t status, const char* call, const char* file, int line) {
  if (status != CUSPARSE_STATUS_SUCCESS) throw input_error(file, line, call, cusparseGetErrorString(status));
}
#define PLUMB_CUSPARSE(call) ::plumb::check_cusparse((call), #call, __FILE__, __LINE__)

struct CusparseDeleter {
  void operator()(cusparseContext* h) const noexcept { (void)cusparseDestroy(h); }
  void operator()(cusparseSpMatDescr* d) const noexcept { (void)cusparseDestroySpMat(d); }
  void operator()(cusparseDnMatDescr* d) const noexcept { (void)cusparseDestroyDnMat(d); }
  void operator()(cusparseDnVecDescr* d) const noexcept { (void)cusparseDestroyDnVec(d); }
  void operator()(cusparseSpVecDescr* d) const noexcept { (void)cusparseDestroySpVec(d); }
  void operator()(cusparseMatDescr* d) const noexcept { (void)cusparseDestroyMatDescr(d); }
};
using CusparseHandle = std::unique_ptr<cusparseContext, CusparseDeleter>;
using CusparseSpMat = std::unique_ptr<cusparseSpMatDescr, CusparseDeleter>;
using CusparseDnMat = std::unique_ptr<cusparseDnMatDescr, CusparseDeleter>;
using CusparseDnVec = std::unique_ptr<cusparseDnVecDescr, CusparseDeleter>;
using CusparseSpVec = std::unique_ptr<cusparseSpVecDescr, CusparseDeleter>;
using CusparseMat = std::unique_ptr<cusparseMatDescr, CusparseDeleter>;

/// The library, working on `stream`.
inline CusparseHandle make_cusparse(void* stream) {
  cusparseHandle_t handle = nullptr;
  PLUMB_CUSPARSE(cusparseCreate(&handle));
  CusparseHandle owned(handle);
  PLUMB_CUSPARSE(cusparseSetStream(handle, static_cast<cudaStream_t>(stream)));
  return owned;
}

/// Descriptors of operands in device memory. The library takes pointers to mutable data also for what it only reads.
template <class T>
CusparseSpMat describe_csr(std::int64_t rows, std::int64_t cols, std::int64_t nnz,
                           const std::int32_t* row_ptr, const std::int32_t* col, const T* val) {
  cusparseSpMatDescr_t d = nullptr;
  PLUMB_CUSPARSE(cusparseCreateCsr(&d, rows, cols, nnz, const_cast<std::int32_t*>(row_ptr),
                                   const_cast<std::int32_t*>(col), const_cast<T*>(val), CUSPARSE_INDEX_32I,
                                   CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, kCudaType<T>));
  return CusparseSpMat(d);
}
template <class T>
CusparseSpMat describe(const CsrView<T, Space::device>& a) {
  return describe_csr(a.rows, a.cols, a.nnz, a.row_ptr, a.col, a.val);
}
template <class T>
CusparseDnMat describe_dense(std::int64_t rows, std::int64_t cols, std::int64_t ld, const T* data) {
  cusparseDnMatDescr_t d = nullptr;
  PLUMB_CUSPARSE(
      cusparseCreateDnMat(&d, rows, cols, ld, const_cast<T*>(data), kCudaType<T>, CUSPARSE_ORDER_ROW));
  return CusparseDnMat(d);
}
template <class T>
CusparseDnMat describe(const DenseView<T, Space::device>& m) {
  return describe_dense(m.rows, m.cols, m.ld, m.data);
}
template <class T>
CusparseDnVec describe_vector(std::int64_t size, const T* data) {
  cusparseDnVecDescr_t d = nullptr;
  PLUMB_CUSPARSE(cusparseCreateDnVec(&d, size, const_cast<T*>(data), kCudaType<T>));
  return CusparseDnVec(d);
}

}  // namespace plumb
