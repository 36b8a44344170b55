// requires: cublas
// skinny_gemm, vendor: cuBLAS gemm with the operands exchanged (row-major Y = X W is column-major Y^T = W^T
// X^T).
//
// Change    the library's own kernels, arithmetic of the operator's type.
// Traffic   the library's.
// Fails at  sizes of zero, which it refuses, and so do we: unsupported.
// Source    cuBLAS library, "cublas<t>gemm()".
#include "gpu/runtime/cublas.hpp"
#include "reference/ops/skinny_gemm.hpp"

namespace plumb {
namespace {

template <class T>
using In = SkinnyGemm::In<T, Space::device>;
template <class T>
using Out = SkinnyGemm::Out<T, Space::device>;

template <class T>
const char* supports(const SkinnyGemm::Problem<T>&, const In<T>& in, const Out<T>& out) {
  if (out.Y.rows == 0 || out.Y.cols == 0 || in.X.cols == 0)
    return "cuBLAS gemm takes no leading dimension of 0";
  return nullptr;
}

template <class T>
void* prepare(const SkinnyGemm::Problem<T>&, const In<T>&, const Out<T>&, Context& context) {
  return new Cublas(context, kOwnMath<T>);
}

cublasStatus_t call(cublasHandle_t h, std::int64_t m, std::int64_t n, std::int64_t k, const float* a,
                    std::int64_t lda, const float* b, std::int64_t ldb, float* c, std::int64_t ldc) {
  const float one = 1, zero = 0;
  return cublasSgemm_64(h, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, a, lda, b, ldb, &zero, c, ldc);
}
cublasStatus_t call(cublasHandle_t h, std::int64_t m, std::int64_t n, std::int64_t k, const double* a,
                    std::int64_t lda, const double* b, std::int64_t ldb, double* c, std::int64_t ldc) {
  const double one = 1, zero = 0;
  return cublasDgemm_64(h, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, a, lda, b, ldb, &zero, c, ldc);
}

/// 16-bit operands, fp32 sums.
template <class E, class O>
cublasStatus_t call(cublasHandle_t h, std::int64_t m, std::int64_t n, std::int64_t k, const E* a,
                    std::int64_t lda, const E* b, std::int64_t ldb, O* c, std::int64_t ldc) {
  const float one = 1, zero = 0;
  return cublasGemmEx_64(h, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, a, kCudaType<E>, lda, b, kCudaType<E>,
                         ldb, &zero, c, kCudaType<O>, ldc, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

template <class T>
void run(const SkinnyGemm::Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  PLUMB_CUBLAS(call(static_cast<Cublas*>(context.plan)->get(), out.Y.cols, out.Y.rows, in.X.cols, in.W.data,
                    in.W.ld, in.X.data, in.X.ld, out.Y.data, out.Y.ld));
}

PLUMB_REGISTER_WITH(SkinnyGemm, "80_cublas",
                    (run<T>, Traits{}.of_library(), supports<T>, prepare<T>, release_cublas), float, double,
                    f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
