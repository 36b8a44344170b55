// dense_to_csr, vendor: cuSPARSE DenseToSparse, its only algorithm.
//
// Change    the library's own kernels. Descriptors and buffers are made in prepare(); analysis, which makes
//           the row pointers, depends on the values, and is part of each run. Wide rows come out with their
//           columns in no order (cuSPARSE 12.6.3, from 200 columns on in our cases), so the library's own
//           sort follows: the time is that of conversion, sort and gather of the values, which our contract
//           needs.
// Traffic   not published.
// Limits    the library's.
// Fails at  sizes of zero, which it refuses, and so do we: unsupported; the sort takes sizes of 32 bits.
// Source    cuSPARSE library, "cusparseDenseToSparse()", "cusparseXcsrsort()", "cusparseGather()".
#include <numeric>
#include <vector>

#include "gpu/runtime/cusparse.hpp"
#include "gpu/runtime/transfer.hpp"
#include "reference/ops/dense_to_csr.hpp"

namespace plumb {
namespace {

template <class T>
using Problem = DenseToCsr::Problem<T>;
template <class T>
using In = DenseToCsr::In<T, Space::device>;
template <class T>
using Out = DenseToCsr::Out<T, Space::device>;

template <class T>
struct CusparseConversion {
  cusparseHandle_t handle = nullptr;
  cusparseDnMatDescr_t x = nullptr;
  cusparseSpMatDescr_t a = nullptr;
  cusparseMatDescr_t general = nullptr;      // what the sort wants to know: indices begin at 0
  cusparseDnVecDescr_t converted = nullptr;  // values as they come out of the conversion
  cusparseSpVecDescr_t sorted = nullptr;
  void *buffer = nullptr, *sort_buffer = nullptr;
  T* values = nullptr;
  int *identity = nullptr, *permutation = nullptr;  // the sort starts from 0, 1, 2, ...

  CusparseConversion(const In<T>& in, const Out<T>& out, Context& context) {
    const std::int64_t nnz = out.col.size;
    values = static_cast<T*>(context.workspace(nnz * static_cast<std::int64_t>(sizeof(T))));
    identity = static_cast<int*>(context.workspace(nnz * static_cast<std::int64_t>(sizeof(int))));
    permutation = static_cast<int*>(context.workspace(nnz * static_cast<std::int64_t>(sizeof(int))));
    std::vector<int> ascending(static_cast<std::size_t>(nnz));
    std::iota(ascending.begin(), ascending.end(), 0);
    device_write(identity, ascending.data(), ascending.size() * sizeof(int), context.stream);
    try {
      PLUMB_CUSPARSE(cusparseCreate(&handle));
      PLUMB_CUSPARSE(cusparseSetStream(handle, static_cast<cudaStream_t>(context.stream)));
      PLUMB_CUSPARSE(cusparseCreateDnMat(&x, in.x.rows, in.x.cols, in.x.ld, const_cast<T*>(in.x.data),
                                         kCudaType<T>, CUSPARSE_ORDER_ROW));
      PLUMB_CUSPARSE(cusparseCreateCsr(&a, in.x.rows, in.x.cols, out.col.size, out.row_ptr.data, out.col.data,
                                       values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                       CUSPARSE_INDEX_BASE_ZERO, kCudaType<T>));
      std::size_t bytes = 0;
      PLUMB_CUSPARSE(
          cusparseDenseToSparse_bufferSize(handle, x, a, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, &bytes));
      buffer = context.workspace(static_cast<std::int64_t>(bytes));
      PLUMB_CUSPARSE(cusparseCreateMatDescr(&general));
      PLUMB_CUSPARSE(cusparseXcsrsort_bufferSizeExt(handle, rows(in), cols(in), static_cast<int>(nnz),
                                                    out.row_ptr.data, out.col.data, &bytes));
      sort_buffer = context.workspace(static_cast<std::int64_t>(bytes));
      PLUMB_CUSPARSE(cusparseCreateDnVec(&converted, nnz, values, kCudaType<T>));
      PLUMB_CUSPARSE(cusparseCreateSpVec(&sorted, nnz, nnz, permutation, out.val.data, CUSPARSE_INDEX_32I,
                                         CUSPARSE_INDEX_BASE_ZERO, kCudaType<T>));
    } catch (...) {
      destroy();
      throw;
    }
  }
  CusparseConversion(const CusparseConversion&) = delete;
  CusparseConversion& operator=(const CusparseConversion&) = delete;
  ~CusparseConversion() { destroy(); }

  void run(const In<T>& in, const Out<T>& out, void* stream) {
    const int nnz = static_cast<int>(out.col.size);
    PLUMB_CUSPARSE(cusparseDenseToSparse_analysis(handle, x, a, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, buffer));
    PLUMB_CUSPARSE(cusparseCsrSetPointers(a, out.row_ptr.data, out.col.data, values));
    PLUMB_CUSPARSE(cusparseDenseToSparse_convert(handle, x, a, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, buffer));
    device_copy(permutation, identity, static_cast<std::size_t>(nnz) * sizeof(int), stream);
    PLUMB_CUSPARSE(cusparseXcsrsort(handle, rows(in), cols(in), nnz, general, out.row_ptr.data, out.col.data,
                                    permutation, sort_buffer));
    PLUMB_CUSPARSE(cusparseGather(handle, converted, sorted));
  }

 private:
  static int rows(const In<T>& in) { return static_cast<int>(in.x.rows); }
  static int cols(const In<T>& in) { return static_cast<int>(in.x.cols); }
  void destroy() {
    if (sorted != nullptr) (void)cusparseDestroySpVec(sorted);
    if (converted != nullptr) (void)cusparseDestroyDnVec(converted);
    if (general != nullptr) (void)cusparseDestroyMatDescr(general);
    if (a != nullptr) (void)cusparseDestroySpMat(a);
    if (x != nullptr) (void)cusparseDestroyDnMat(x);
    if (handle != nullptr) (void)cusparseDestroy(handle);
  }
};

template <class T>
const char* supports(const Problem<T>&, const In<T>& in, const Out<T>& out) {
  if (in.x.rows == 0 || in.x.cols == 0 || out.col.size == 0)
    return "cuSPARSE takes no matrix without rows, columns or entries";
  return in.x.rows > 2147483647 ? "more rows than the library's sort takes" : nullptr;
}

template <class T>
void* prepare(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  return new CusparseConversion<T>(in, out, context);
}

template <class T>
void release(void* plan) {
  delete static_cast<CusparseConversion<T>*>(plan);
}

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  static_cast<CusparseConversion<T>*>(context.plan)->run(in, out, context.stream);
}

const Register<DenseToCsr, float, Space::device> f32{
    "80_cusparse",   run<float>,     Traits{}.not_reproducible().align(16),
    supports<float>, prepare<float>, release<float>};
const Register<DenseToCsr, double, Space::device> f64{
    "80_cusparse",    run<double>,     Traits{}.not_reproducible().align(16),
    supports<double>, prepare<double>, release<double>};

}  // namespace
}  // namespace plumb
