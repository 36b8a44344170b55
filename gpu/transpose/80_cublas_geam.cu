// requires: cublas
// transpose, vendor: cuBLAS geam with a transposed first operand.
//
// Change    the library's own kernel. It is column-major: our row-major A (rows, cols) is its (cols, rows),
//           and so is B.
// Traffic   compulsory bytes.
// Fails at  sizes of zero, which it refuses, and so do we: unsupported.
// Source    cuBLAS library, "cublas<t>geam()".
#include "gpu/runtime/cublas.hpp"
#include "reference/ops/transpose.hpp"

namespace plumb {
namespace {

template <class T>
using In = Transpose::In<T, Space::device>;
template <class T>
using Out = Transpose::Out<T, Space::device>;

constexpr std::int64_t kMostInt = 2147483647;

template <class T>
const char* supports(const Transpose::Problem<T>&, const In<T>& in, const Out<T>& out) {
  if (in.A.rows == 0 || in.A.cols == 0) return "cuBLAS geam takes no matrix without rows or columns";
  return in.A.ld > kMostInt || out.B.ld > kMostInt ? "a leading dimension beyond 32 bits" : nullptr;
}

template <class T>
void* prepare(const Transpose::Problem<T>&, const In<T>&, const Out<T>&, Context& context) {
  return new Cublas(context, kOwnMath<T>);
}

cublasStatus_t geam(cublasHandle_t h, int m, int n, const float* one, const float* a, int lda,
                    const float* zero, float* c, int ldc) {
  return cublasSgeam(h, CUBLAS_OP_T, CUBLAS_OP_N, m, n, one, a, lda, zero, c, ldc, c, ldc);
}
cublasStatus_t geam(cublasHandle_t h, int m, int n, const double* one, const double* a, int lda,
                    const double* zero, double* c, int ldc) {
  return cublasDgeam(h, CUBLAS_OP_T, CUBLAS_OP_N, m, n, one, a, lda, zero, c, ldc, c, ldc);
}

template <class T>
void run(const Transpose::Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  const T one = 1, zero = 0;
  PLUMB_CUBLAS(geam(static_cast<Cublas*>(context.plan)->get(), static_cast<int>(in.A.rows),
                    static_cast<int>(in.A.cols), &one, in.A.data, static_cast<int>(in.A.ld), &zero,
                    out.B.data, static_cast<int>(out.B.ld)));
}

PLUMB_REGISTER_WITH(Transpose, "80_cublas_geam",
                    (run<T>, Traits{}.of_library(), supports<T>, prepare<T>, release_cublas), float, double);

}  // namespace
}  // namespace plumb
