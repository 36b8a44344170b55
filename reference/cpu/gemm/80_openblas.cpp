// gemm, host 80: OpenBLAS, called once per block of rows.
//
// Change    the library's own kernels, called from our threads: its threads and ours would compete for the
//           cores.
// Traffic   B packed by every thread.
// Limits    OpenBLAS's choice of kernels; its serial build, which takes one caller at a time
//           (reference/core/openblas.hpp).
// Fails at  fewer rows than cores; 32-bit sizes only.
#include <omp.h>

#include <limits>

#include "reference/core/openblas.hpp"
#include "reference/cpu/gemm/loops.hpp"
#include "reference/ops/gemm.hpp"

namespace plumb {
namespace {

void multiply(int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb, float beta,
              float* c, int ldc) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
void multiply(int m, int n, int k, double alpha, const double* a, int lda, const double* b, int ldb,
              double beta, double* c, int ldc) {
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

template <class T>
const char* supports(const Gemm::Problem<T>&, const Gemm::In<T, Space::host>& in,
                     const Gemm::Out<T, Space::host>& out) {
  constexpr std::int64_t kMax = std::numeric_limits<int>::max();
  const bool fits =
      in.A.rows <= kMax && in.A.ld <= kMax && in.B.rows <= kMax && in.B.ld <= kMax && out.C.ld <= kMax;
  return fits ? nullptr : "the 32-bit BLAS interface cannot address sizes past 2^31 - 1";
}

template <class T>
void run(const Gemm::Problem<T>& p, const Gemm::In<T, Space::host>& in, const Gemm::Out<T, Space::host>& out,
         Context& context) {
  const int callers = openblas_callers();
  if (callers == 1) context.explain(kOpenblasIsSerial);
  const auto A = in.A, B = in.B;
  const auto C = out.C;
  // BLAS rejects leading dimensions of 0, which empty matrices may have
  if (depth_of(p, in) == 0 || C.rows == 0 || C.cols == 0) return scale_rows(C, p.beta, 0, C.rows);
#pragma omp parallel num_threads(callers)
  {
    const std::int64_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
    const std::int64_t begin = C.rows * thread / threads, end = C.rows * (thread + 1) / threads;
    if (begin < end) {
      multiply(static_cast<int>(end - begin), static_cast<int>(C.cols), static_cast<int>(A.cols), p.alpha,
               &A(begin, 0), static_cast<int>(A.ld), B.data, static_cast<int>(B.ld), p.beta, &C(begin, 0),
               static_cast<int>(C.ld));
    }
  }
}

PLUMB_REGISTER_WITH(Gemm, "80_openblas", (run<T>, Traits{}.of_library(), supports<T>), float, double);

}  // namespace
}  // namespace plumb
