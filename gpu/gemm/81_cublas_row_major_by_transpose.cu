// requires: cublas
// gemm, vendor: cuBLAS gemm on row-major operands by its transpose flags, and a transposition of the result.
//
// Change    the other way of using a column-major library: A and B are declared transposed, so that it
//           computes C column-major, in workspace; geam then turns it and adds beta C. What users do who do
//           not see the exchange of rung 80.
// Traffic   the library's, and C written and read once more.
// Fails at  as rung 80, and thin products, where the second pass over C weighs. At k = 2 it pads k with
//           zeros: an infinity in A then gives NaN where an infinity is due (cuBLAS 13.1, fp64, H200). It
//           therefore declares itself for finite inputs.
// Source    cuBLAS library, "cublas<t>gemm()", "cublas<t>geam()".
#include "gpu/gemm/cublas.hpp"

namespace plumb {
namespace {

using namespace gemm;

template <class T>
void run(const Gemm::Problem<T>& p, const Gemm::In<T, Space::device>& in,
         const Gemm::Out<T, Space::device>& out, Context& context) {
  cublasHandle_t handle = static_cast<Cublas*>(context.plan)->get();
  const std::int64_t m = out.C.rows, n = out.C.cols;
  T* const product = static_cast<T*>(
      context.workspace(m * n * static_cast<std::int64_t>(sizeof(T))));  // (m, n) column-major
  const T zero = T(0), one = T(1);
  PLUMB_CUBLAS(cublas_gemm(handle, CUBLAS_OP_T, CUBLAS_OP_T, m, n, in.A.cols, &p.alpha, in.A.data, in.A.ld,
                           in.B.data, in.B.ld, &zero, product, m));
  PLUMB_CUBLAS(
      cublas_transpose(handle, n, m, &one, product, m, &p.beta, out.C.data, out.C.ld, out.C.data, out.C.ld));
}

PLUMB_REGISTER_WITH(Gemm, "81_cublas_row_major_by_transpose",
                    (run<T>, Traits{}.of_library().for_finite_inputs(), cublas_supports<T>, cublas_prepare<T>,
                     release_cublas),
                    float, double);

}  // namespace
}  // namespace plumb
