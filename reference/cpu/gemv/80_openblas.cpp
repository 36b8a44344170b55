// gemv, host 80: OpenBLAS, called once per block of rows.
//
// Change    the library's own kernels, called from our threads: its pool and ours would fight over the cores.
// Traffic   as rung 01.
// Limits    the serial build, which takes one caller at a time (reference/core/openblas.hpp).
// Fails at  fewer rows than cores; 32-bit sizes only. With beta == 0 the library multiplies y by 0 in some
//           versions, where NaN survives, so y is cleared here.
#include <omp.h>

#include <limits>

#include "reference/core/openblas.hpp"
#include "reference/ops/gemv.hpp"

namespace plumb {
namespace {

void multiply(int m, int n, float alpha, const float* a, int lda, const float* x, float beta, float* y) {
  cblas_sgemv(CblasRowMajor, CblasNoTrans, m, n, alpha, a, lda, x, 1, beta, y, 1);
}
void multiply(int m, int n, double alpha, const double* a, int lda, const double* x, double beta, double* y) {
  cblas_dgemv(CblasRowMajor, CblasNoTrans, m, n, alpha, a, lda, x, 1, beta, y, 1);
}

template <class T>
const char* supports(const Gemv::Problem<T>&, const Gemv::In<T, Space::host>& in,
                     const Gemv::Out<T, Space::host>&) {
  constexpr std::int64_t kMax = std::numeric_limits<int>::max();
  return in.A.rows <= kMax && in.A.ld <= kMax
             ? nullptr
             : "the 32-bit BLAS interface cannot address sizes past 2^31 - 1";
}

template <class T>
void run(const Gemv::Problem<T>& p, const Gemv::In<T, Space::host>& in, const Gemv::Out<T, Space::host>& out,
         Context& context) {
  const std::int64_t rows = in.A.rows;
  T beta = p.beta;
  if (p.alpha == T(0) || in.A.cols == 0 || beta == T(0)) {
    for (std::int64_t i = 0; i < rows; ++i) out.y[i] = beta == T(0) ? T(0) : beta * out.y[i];
    if (p.alpha == T(0) || in.A.cols == 0) return;
    beta = 1;
  }
  const int callers = openblas_callers();
  if (callers == 1) context.explain(kOpenblasIsSerial);
#pragma omp parallel num_threads(callers)
  {
    const std::int64_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
    const std::int64_t begin = rows * thread / threads, end = rows * (thread + 1) / threads;
    if (begin < end) {
      multiply(static_cast<int>(end - begin), static_cast<int>(in.A.cols), p.alpha, &in.A(begin, 0),
               static_cast<int>(in.A.ld), in.x.data, beta, &out.y[begin]);
    }
  }
}

const Register<Gemv, float, Space::host> f32{"80_openblas", run<float>, Traits{}.of_library(),
                                             supports<float>};
const Register<Gemv, double, Space::host> f64{"80_openblas", run<double>, Traits{}.of_library(),
                                              supports<double>};

}  // namespace
}  // namespace plumb
