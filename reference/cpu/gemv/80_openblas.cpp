// gemv, host 80: OpenBLAS, called once per block of rows.
//
// Change    the library's own kernels, called from our threads: its threads and ours would compete for the
//           cores.
// Traffic   as rung 01.
// Limits    the serial build, which takes one caller at a time (reference/core/openblas.hpp).
// Fails at  fewer rows than cores; 32-bit sizes only. With beta == 0 the library multiplies y by 0 in some versions, where NaN
//           survives, and it multiplies x by alpha: y is scaled here, before the call, and the sums after it.
#include <omp.h>

#include <limits>

#include "reference/core/openblas.hpp"
#include "reference/ops/gemv.hpp"

namespace plumb {
namespace {

// sums += A x
void multiply(int m, int n, const float* a, int lda, const float* x, float* sums) {
  cblas_sgemv(CblasRowMajor, CblasNoTrans, m, n, 1, a, lda, x, 1, 1, sums, 1);
}
void multiply(int m, int n, const double* a, int lda, const double* x, double* sums) {
  cblas_dgemv(CblasRowMajor, CblasNoTrans, m, n, 1, a, lda, x, 1, 1, sums, 1);
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
  const std::int64_t rows = in.A.rows, cols = in.A.cols;
  // the library multiplies x by alpha, where small products are lost: any other alpha than 1 is ours
  const bool scaled = p.alpha != T(1) && p.alpha != T(0) && cols > 0;
  T* sums =
      scaled ? static_cast<T*>(context.workspace(rows * static_cast<std::int64_t>(sizeof(T)))) : &out.y[0];
  const int callers = openblas_callers();
  if (callers == 1) context.explain(kOpenblasIsSerial);
#pragma omp parallel num_threads(callers)
  {
    const std::int64_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
    const std::int64_t begin = rows * thread / threads, end = rows * (thread + 1) / threads;
    for (std::int64_t i = begin; i < end; ++i) {
      if (p.beta == T(0)) {
        out.y[i] = 0;
      } else {
        out.y[i] *= p.beta;
      }
      if (scaled) sums[i] = 0;
    }
    if (begin < end && p.alpha != T(0) && cols > 0)
      multiply(static_cast<int>(end - begin), static_cast<int>(cols), &in.A(begin, 0),
               static_cast<int>(in.A.ld), in.x.data, &sums[begin]);
    for (std::int64_t i = begin; scaled && i < end; ++i) out.y[i] += p.alpha * sums[i];
  }
}

PLUMB_REGISTER_WITH(Gemv, "80_openblas", (run<T>, Traits{}.of_library(), supports<T>), float, double);

}  // namespace
}  // namespace plumb
