// conv2d, host 80: windows gathered as a matrix, and OpenBLAS for the product.
//
// Change    the library's kernels in place of those of rung 02, on blocks of kPixels windows.
// Traffic   the matrix of windows of a block, c r s x kPixels, is written, read and packed again by the
//           library.
// Limits    OpenBLAS's choice of kernels; its serial build, which takes one caller at a time
//           (reference/core/openblas.hpp).
// Fails at  few filters, where the gather is most of the work; 32-bit sizes only.
// Source    Chellapilla, Puri and Simard (2006).
#include <omp.h>

#include <limits>

#include "reference/core/openblas.hpp"
#include "reference/cpu/conv2d/panels.hpp"

namespace plumb {
namespace {

using namespace conv2d;

constexpr std::int64_t kPixels = 256;  // windows of a block: with 576 terms they fill half a megabyte in fp32

void multiply(int m, int n, int k, const float* a, int lda, const float* b, int ldb, float* c, int ldc) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a, lda, b, ldb, 0, c, ldc);
}
void multiply(int m, int n, int k, const double* a, int lda, const double* b, int ldb, double* c, int ldc) {
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a, lda, b, ldb, 0, c, ldc);
}

template <class T>
const char* supports(const Conv2d::Problem<T>&, const Conv2d::In<T, Space::host>& in,
                     const Conv2d::Out<T, Space::host>& out) {
  constexpr std::int64_t kMax = std::numeric_limits<int>::max();
  if (in.F.cols == 0) return "BLAS takes no leading dimension of 0: there are no channels";
  return in.F.ld <= kMax && out.Y.ld <= kMax ? nullptr
                                             : "the 32-bit BLAS interface cannot address sizes past 2^31 - 1";
}

template <class T>
void run(const Conv2d::Problem<T>& p, const Conv2d::In<T, Space::host>& in,
         const Conv2d::Out<T, Space::host>& out, Context& context) {
  const int callers = openblas_callers();
  if (callers == 1) context.explain(kOpenblasIsSerial);
  const auto Y = out.Y;
  if (p.k == 0) return;
  const std::int64_t depth = in.F.cols, size = depth * kPixels;
  T* columns = static_cast<T*>(context.workspace(callers * size * static_cast<std::int64_t>(sizeof(T))));
#pragma omp parallel for collapse(2) schedule(dynamic) num_threads(callers)
  for (std::int64_t image = 0; image < p.n; ++image) {
    for (std::int64_t first = 0; first < Y.cols; first += kPixels) {
      T* block = columns + omp_get_thread_num() * size;
      const std::int64_t wide = std::min(kPixels, Y.cols - first);
      gather_windows(p, in.X, image, first, wide, block, kPixels);
      multiply(p.k, static_cast<int>(wide), static_cast<int>(depth), in.F.data, static_cast<int>(in.F.ld),
               block, static_cast<int>(kPixels), &Y(image * p.k, first), static_cast<int>(Y.ld));
    }
  }
}

PLUMB_REGISTER_WITH(Conv2d, "80_openblas_im2col", (run<T>, Traits{}.of_library(), supports<T>), float,
                    double);

}  // namespace
}  // namespace plumb
