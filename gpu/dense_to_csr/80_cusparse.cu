// requires: cusparse
// dense_to_csr, vendor: cuSPARSE DenseToSparse, its only algorithm.
//
// Change    the library's own kernels. Descriptors and buffers are made in prepare(); analysis, which makes
//           the row pointers, depends on the values, and is part of each run. Wide rows come out with their
//           columns in no order (cuSPARSE 12.6.3, from 200 columns on in our cases), so the library's own
//           sort follows: the time is that of conversion, sort and gather of the values, which our contract
//           needs.
// Traffic   not published.
// Fails at  sizes of zero, which it refuses, and so do we: unsupported; the sort takes sizes of 32 bits.
// Source    cuSPARSE library, "cusparseDenseToSparse()", "cusparseXcsrsort()", "cusparseGather()".
#include <numeric>
#include <vector>

#include "gpu/device/memory.hpp"
#include "gpu/runtime/cusparse.hpp"
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
  CusparseHandle handle;
  CusparseDnMat x;
  CusparseSpMat a;
  CusparseMat general;      // needed by the sort: indices begin at 0
  CusparseDnVec converted;  // values in the order of the conversion
  CusparseSpVec sorted;
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
    handle = make_cusparse(context.stream);
    x = describe(in.x);
    a = describe_csr(in.x.rows, in.x.cols, nnz, out.row_ptr.data, out.col.data, values);
    std::size_t bytes = 0;
    PLUMB_CUSPARSE(cusparseDenseToSparse_bufferSize(handle.get(), x.get(), a.get(),
                                                    CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, &bytes));
    buffer = context.workspace(static_cast<std::int64_t>(bytes));
    cusparseMatDescr_t plain = nullptr;
    PLUMB_CUSPARSE(cusparseCreateMatDescr(&plain));
    general.reset(plain);
    PLUMB_CUSPARSE(cusparseXcsrsort_bufferSizeExt(handle.get(), rows(in), cols(in), static_cast<int>(nnz),
                                                  out.row_ptr.data, out.col.data, &bytes));
    sort_buffer = context.workspace(static_cast<std::int64_t>(bytes));
    converted = describe_vector(nnz, values);
    cusparseSpVecDescr_t gathered = nullptr;
    PLUMB_CUSPARSE(cusparseCreateSpVec(&gathered, nnz, nnz, permutation, out.val.data, CUSPARSE_INDEX_32I,
                                       CUSPARSE_INDEX_BASE_ZERO, kCudaType<T>));
    sorted.reset(gathered);
  }

  void run(const In<T>& in, const Out<T>& out, void* stream) {
    const int nnz = static_cast<int>(out.col.size);
    PLUMB_CUSPARSE(cusparseDenseToSparse_analysis(handle.get(), x.get(), a.get(),
                                                  CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, buffer));
    PLUMB_CUSPARSE(cusparseCsrSetPointers(a.get(), out.row_ptr.data, out.col.data, values));
    PLUMB_CUSPARSE(cusparseDenseToSparse_convert(handle.get(), x.get(), a.get(),
                                                 CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, buffer));
    device_copy(permutation, identity, static_cast<std::size_t>(nnz) * sizeof(int), stream);
    PLUMB_CUSPARSE(cusparseXcsrsort(handle.get(), rows(in), cols(in), nnz, general.get(), out.row_ptr.data,
                                    out.col.data, permutation, sort_buffer));
    PLUMB_CUSPARSE(cusparseGather(handle.get(), converted.get(), sorted.get()));
  }

 private:
  static int rows(const In<T>& in) { return static_cast<int>(in.x.rows); }
  static int cols(const In<T>& in) { return static_cast<int>(in.x.cols); }
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

PLUMB_REGISTER_WITH(DenseToCsr, "80_cusparse",
                    (run<T>, Traits{}.of_library().not_reproducible().align(16), supports<T>, prepare<T>,
                     release<T>),
                    float, double);

}  // namespace
}  // namespace plumb
