// requires: cublas
// gemv, vendor: cuBLAS gemv.
//
// Change    the library's own kernel. It is column-major: our row-major A (rows, cols) is its (cols, rows),
//           taken transposed.
// Traffic   compulsory bytes.
// Fails at  sizes of zero, which it refuses, and so do we: unsupported. An alpha below 2^-24: the library multiplies x by it, and where
//           that underflows, 0 times an infinity is NaN. So with any alpha below 1 and one column, whose
//           elements it multiplies by alpha.
// Source    cuBLAS library, "cublas<t>gemv()".
#include <cmath>

#include "gpu/runtime/cublas.hpp"
#include "reference/ops/gemv.hpp"

namespace plumb {
namespace {

template <class T>
using In = Gemv::In<T, Space::device>;
template <class T>
using Out = Gemv::Out<T, Space::device>;

template <class T>
const char* supports(const Gemv::Problem<T>& p, const In<T>& in, const Out<T>&) {
  if (in.A.rows == 0 || in.A.cols == 0) return "cuBLAS gemv takes no matrix without rows or columns";
  if (p.alpha != T(0) && std::fabs(p.alpha) < T(0x1p-24))
    return "cuBLAS gemv multiplies x by alpha, which underflows for so small an alpha";
  if (in.A.cols == 1 && p.alpha != T(0) && std::fabs(p.alpha) < T(1))
    return "cuBLAS gemv multiplies a single column by alpha, and what underflows loses an infinity that it "
           "meets";
  return in.A.ld > 2147483647 ? "a leading dimension beyond 32 bits" : nullptr;
}

template <class T>
void* prepare(const Gemv::Problem<T>&, const In<T>&, const Out<T>&, Context& context) {
  return new Cublas(context, kOwnMath<T>);
}

cublasStatus_t call(cublasHandle_t h, int m, int n, const float* alpha, const float* a, int lda,
                    const float* x, const float* beta, float* y) {
  return cublasSgemv(h, CUBLAS_OP_T, m, n, alpha, a, lda, x, 1, beta, y, 1);
}
cublasStatus_t call(cublasHandle_t h, int m, int n, const double* alpha, const double* a, int lda,
                    const double* x, const double* beta, double* y) {
  return cublasDgemv(h, CUBLAS_OP_T, m, n, alpha, a, lda, x, 1, beta, y, 1);
}

template <class T>
void run(const Gemv::Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  PLUMB_CUBLAS(call(static_cast<Cublas*>(context.plan)->get(), static_cast<int>(in.A.cols),
                    static_cast<int>(in.A.rows), &p.alpha, in.A.data, static_cast<int>(in.A.ld), in.x.data,
                    &p.beta, out.y.data));
}

PLUMB_REGISTER_WITH(Gemv, "80_cublas",
                    (run<T>, Traits{}.of_library(), supports<T>, prepare<T>, release_cublas), float, double);

}  // namespace
}  // namespace plumb
