// requires: cusparse
// sddmm, vendor: cuSPARSE SDDMM on CSR, its only algorithm.
//
// Change    the library's own kernel. It writes alpha (X Y^T) .* A + beta C into C's values, with alpha 1 and
//           beta 0; Y is passed as it lies, taken transposed. Descriptors, buffer and analysis are made in
//           prepare().
// Traffic   not published.
// Fails at  sizes of zero, which it refuses, and so do we: unsupported. So are columns that do not ascend, or are there twice: of some such
//           matrices it leaves results unwritten, 29,079 to 29,642 of 135,987 of
//           sddmm.f64(rows=4250,cols=64,k=96,pattern=unsorted,density=0.5,fill=real,seed=299999831855) (cuSPARSE 12.6.3, H100, four runs)
//           and one of 3,839 where each row begins with a column that is there twice (H200).
//           bf16 it refuses (12.6.3): f16 alone.
// Source    cuSPARSE library, "cusparseSDDMM()".
#include "gpu/device/host_array.hpp"
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
  scalar_t<T> one = 1, zero = 0;

  CusparseSddmm(const In<T>& in, const Out<T>& out, Context& context)
      : handle(make_cusparse(context.stream)),
        x(describe(in.X)),
        y(describe(in.Y)),
        s(describe_csr(in.A.rows, in.A.cols, in.A.nnz, in.A.row_ptr, in.A.col, out.s.data)) {
    std::size_t bytes = 0;
    PLUMB_CUSPARSE(cusparseSDDMM_bufferSize(handle.get(), kPlain, kTransposed, &one, x.get(), y.get(), &zero,
                                            s.get(), kCudaType<scalar_t<T>>, CUSPARSE_SDDMM_ALG_DEFAULT,
                                            &bytes));
    buffer = context.workspace(static_cast<std::int64_t>(bytes));
    PLUMB_CUSPARSE(cusparseSDDMM_preprocess(handle.get(), kPlain, kTransposed, &one, x.get(), y.get(), &zero,
                                            s.get(), kCudaType<scalar_t<T>>, CUSPARSE_SDDMM_ALG_DEFAULT,
                                            buffer));
  }

  void run() {
    PLUMB_CUSPARSE(cusparseSDDMM(handle.get(), kPlain, kTransposed, &one, x.get(), y.get(), &zero, s.get(),
                                 kCudaType<scalar_t<T>>, CUSPARSE_SDDMM_ALG_DEFAULT, buffer));
  }

 private:
  static constexpr cusparseOperation_t kPlain = CUSPARSE_OPERATION_NON_TRANSPOSE,
                                       kTransposed = CUSPARSE_OPERATION_TRANSPOSE;
};

/// Whether the columns of each row ascend, none of them twice.
bool ascends(const HostCopy<std::int32_t>& row_ptr, const HostCopy<std::int32_t>& col) {
  for (std::int64_t i = 0; i + 1 < row_ptr.size(); ++i) {
    for (std::int64_t e = row_ptr[i] + 1; e < row_ptr[i + 1]; ++e) {
      if (col[e] <= col[e - 1]) return false;
    }
  }
  return true;
}

template <class T>
const char* supports(const Problem<T>&, const In<T>& in, const Out<T>&) {
  if (in.A.rows == 0 || in.A.cols == 0 || in.A.nnz == 0 || in.X.cols == 0)
    return "cuSPARSE takes no operand without rows, columns or entries";
  return ascends({in.A.row_ptr, in.A.rows + 1, nullptr}, {in.A.col, in.A.nnz, nullptr})
             ? nullptr
             : "cuSPARSE's SDDMM leaves results unwritten of matrices whose columns do not ascend in a row";
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

PLUMB_REGISTER_WITH(Sddmm, "80_cusparse",
                    (run<T>, Traits{}.of_library().not_reproducible().align(16), supports<T>, prepare<T>,
                     release<T>),
                    float, double, f16, f16_f32);

}  // namespace
}  // namespace plumb
