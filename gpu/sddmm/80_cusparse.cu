// requires: cusparse
// sddmm, vendor: cuSPARSE SDDMM on CSR, its only algorithm.
//
// Change    the library's own kernel. It writes alpha (X Y^T) .* A + beta C into C's values, with alpha 1 and
//           beta 0; Y is passed as it lies, taken transposed. Descriptors, buffer and analysis are made in
//           prepare().
// Traffic   not published.
// Limits    the library's.
// Fails at  sizes of zero, which it refuses, and so do we: unsupported. Columns that do not ascend, of some matrices: 29,079 to 29,642 of
//           135,987 results of sddmm.f64(rows=4250,cols=64,k=96,pattern=unsorted,density=0.5,fill=real,seed=299999831855) are not written
//           (cuSPARSE 12.6.3, H100, four runs); others of that pattern come out right.
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
  CusparseHandle handle;
  CusparseDnMat x, y;
  CusparseSpMat s;
  void* buffer = nullptr;
  T one = T(1), zero = T(0);

  CusparseSddmm(const In<T>& in, const Out<T>& out, Context& context)
      : handle(make_cusparse(context.stream)),
        x(describe(in.X)),
        y(describe(in.Y)),
        s(describe_csr(in.A.rows, in.A.cols, in.A.nnz, in.A.row_ptr, in.A.col, out.s.data)) {
    std::size_t bytes = 0;
    PLUMB_CUSPARSE(cusparseSDDMM_bufferSize(handle.get(), kPlain, kTransposed, &one, x.get(), y.get(), &zero,
                                            s.get(), kCudaType<T>, CUSPARSE_SDDMM_ALG_DEFAULT, &bytes));
    buffer = context.workspace(static_cast<std::int64_t>(bytes));
    PLUMB_CUSPARSE(cusparseSDDMM_preprocess(handle.get(), kPlain, kTransposed, &one, x.get(), y.get(), &zero,
                                            s.get(), kCudaType<T>, CUSPARSE_SDDMM_ALG_DEFAULT, buffer));
  }

  void run() {
    PLUMB_CUSPARSE(cusparseSDDMM(handle.get(), kPlain, kTransposed, &one, x.get(), y.get(), &zero, s.get(),
                                 kCudaType<T>, CUSPARSE_SDDMM_ALG_DEFAULT, buffer));
  }

 private:
  static constexpr cusparseOperation_t kPlain = CUSPARSE_OPERATION_NON_TRANSPOSE,
                                       kTransposed = CUSPARSE_OPERATION_TRANSPOSE;
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
    "80_cusparse",   run<float>,     Traits{}.of_library().not_reproducible().align(16),
    supports<float>, prepare<float>, release<float>};
const Register<Sddmm, double, Space::device> f64{
    "80_cusparse",    run<double>,     Traits{}.of_library().not_reproducible().align(16),
    supports<double>, prepare<double>, release<double>};

}  // namespace
}  // namespace plumb
