// skinny_gemm, host 80: OpenBLAS, called once per block of rows.
//
// Change    the library's general product, called from our threads: its threads and ours would compete for
//           the cores.
// Traffic   X is packed: written and read once more than needed.
// Limits    the packing; the serial build, which takes one caller at a time (reference/core/openblas.hpp).
// Fails at  fewer rows than cores; 32-bit sizes only.
#include <omp.h>

#include <algorithm>
#include <limits>

#include "reference/core/openblas.hpp"
#include "reference/ops/skinny_gemm.hpp"

namespace plumb {
namespace {

void multiply(int m, int n, int k, const float* x, int ldx, const float* w, int ldw, float* y, int ldy) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, x, ldx, w, ldw, 0, y, ldy);
}
void multiply(int m, int n, int k, const double* x, int ldx, const double* w, int ldw, double* y, int ldy) {
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, x, ldx, w, ldw, 0, y, ldy);
}

template <class T>
const char* supports(const SkinnyGemm::Problem<T>&, const SkinnyGemm::In<T, Space::host>& in,
                     const SkinnyGemm::Out<T, Space::host>& out) {
  constexpr std::int64_t kMax = std::numeric_limits<int>::max();
  const bool fits = in.X.rows <= kMax && in.X.ld <= kMax && in.W.ld <= kMax && out.Y.ld <= kMax;
  return fits ? nullptr : "the 32-bit BLAS interface cannot address sizes past 2^31 - 1";
}

template <class T>
void run(const SkinnyGemm::Problem<T>&, const SkinnyGemm::In<T, Space::host>& in,
         const SkinnyGemm::Out<T, Space::host>& out, Context& context) {
  const auto X = in.X, W = in.W;
  const auto Y = out.Y;
  if (Y.rows == 0 || Y.cols == 0) return;
  if (X.cols == 0) {  // BLAS rejects leading dimensions of 0, which empty matrices may have
    for (std::int64_t i = 0; i < Y.rows; ++i) std::fill_n(&Y(i, 0), Y.cols, T(0));
    return;
  }
  const int callers = openblas_callers();
  if (callers == 1) context.explain(kOpenblasIsSerial);
#pragma omp parallel num_threads(callers)
  {
    const std::int64_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
    const std::int64_t begin = Y.rows * thread / threads, end = Y.rows * (thread + 1) / threads;
    if (begin < end) {
      multiply(static_cast<int>(end - begin), static_cast<int>(Y.cols), static_cast<int>(X.cols),
               &X(begin, 0), static_cast<int>(X.ld), W.data, static_cast<int>(W.ld), &Y(begin, 0),
               static_cast<int>(Y.ld));
    }
  }
}

PLUMB_REGISTER_WITH(SkinnyGemm, "80_openblas", (run<T>, Traits{}.of_library(), supports<T>), float, double);

}  // namespace
}  // namespace plumb
