// sddmm, vendor: cuSPARSE SDDMM on CSR, its only algorithm.
//
// Change    the library's own kernel. It writes alpha (X Y^T) .* A + beta C into C's values, with alpha 1 and
//           beta 0; Y is passed as it lies, taken transposed. Descriptors, buffer and analysis are made in
//           prepare().
// Traffic   not published.
// Limits    the library's.
// Fails at  sizes of zero, which it refuses, and so do we: unsupported.
// Source    cuSPARSE library, "cusparseSDDMM()".
#include "gpu/runtime/cusparse.hpp"
#include "reference/ops/sddmm.hpp"

namespace plumb {
namespace {

template <class T>
using Problem = Sddmm::Problem<T>;
template <class T>
using In = Sddmm::In<T, Space::device>;
template <class T>
using Out = Sddmm::Out<T, Space::device>;

template <class T>
struct CusparseSddmm {
  cusparseHandle_t handle = nullptr;
  cusparseDnMatDescr_t x = nullptr, y = nullptr;
  cusparseSpMatDescr_t s = nullptr;
  void* buffer = nullptr;
  T one = T(1), zero = T(0);

  CusparseSddmm(const In<T>& in, const Out<T>& out, Context& context) {
    try {
      PLUMB_CUSPARSE(cusparseCreate(&handle));
      PLUMB_CUSPARSE(cusparseSetStream(handle, static_cast<cudaStream_t>(context.stream)));
      PLUMB_CUSPARSE(cusparseCreateDnMat(&x, in.X.rows, in.X.cols, in.X.ld, const_cast<T*>(in.X.data),
                                         kCudaType<T>, CUSPARSE_ORDER_ROW));
      PLUMB_CUSPARSE(cusparseCreateDnMat(&y, in.Y.rows, in.Y.cols, in.Y.ld, const_cast<T*>(in.Y.data),
                                         kCudaType<T>, CUSPARSE_ORDER_ROW));
      PLUMB_CUSPARSE(cusparseCreateCsr(&s, in.A.rows, in.A.cols, in.A.nnz,
                                       const_cast<std::int32_t*>(in.A.row_ptr),
                                       const_cast<std::int32_t*>(in.A.col), out.s.data, CUSPARSE_INDEX_32I,
                                       CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, kCudaType<T>));
      std::size_t bytes = 0;
      PLUMB_CUSPARSE(cusparseSDDMM_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                              CUSPARSE_OPERATION_TRANSPOSE, &one, x, y, &zero, s,
                                              kCudaType<T>, CUSPARSE_SDDMM_ALG_DEFAULT, &bytes));
      buffer = context.workspace(static_cast<std::int64_t>(bytes));
      PLUMB_CUSPARSE(cusparseSDDMM_preprocess(handle, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                              CUSPARSE_OPERATION_TRANSPOSE, &one, x, y, &zero, s,
                                              kCudaType<T>, CUSPARSE_SDDMM_ALG_DEFAULT, buffer));
    } catch (...) {
      destroy();
      throw;
    }
  }
  CusparseSddmm(const CusparseSddmm&) = delete;
  CusparseSddmm& operator=(const CusparseSddmm&) = delete;
  ~CusparseSddmm() { destroy(); }

  void run() {
    PLUMB_CUSPARSE(cusparseSDDMM(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE, &one,
                                 x, y, &zero, s, kCudaType<T>, CUSPARSE_SDDMM_ALG_DEFAULT, buffer));
  }

 private:
  void destroy() {
    if (s != nullptr) (void)cusparseDestroySpMat(s);
    if (y != nullptr) (void)cusparseDestroyDnMat(y);
    if (x != nullptr) (void)cusparseDestroyDnMat(x);
    if (handle != nullptr) (void)cusparseDestroy(handle);
  }
};

template <class T>
const char* supports(const Problem<T>&, const In<T>& in, const Out<T>&) {
  return in.A.rows == 0 || in.A.cols == 0 || in.A.nnz == 0 || in.X.cols == 0
             ? "cuSPARSE takes no operand without rows, columns or entries"
             : nullptr;
}

template <class T>
void* prepare(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  return new CusparseSddmm<T>(in, out, context);
}

template <class T>
void release(void* plan) {
  delete static_cast<CusparseSddmm<T>*>(plan);
}

template <class T>
void run(const Problem<T>&, const In<T>&, const Out<T>&, Context& context) {
  static_cast<CusparseSddmm<T>*>(context.plan)->run();
}

const Register<Sddmm, float, Space::device> f32{
    "80_cusparse",   run<float>,     Traits{}.not_reproducible().align(16),
    supports<float>, prepare<float>, release<float>};
const Register<Sddmm, double, Space::device> f64{
    "80_cusparse",    run<double>,     Traits{}.not_reproducible().align(16),
    supports<double>, prepare<double>, release<double>};

}  // namespace
}  // namespace plumb
