// gemm, host 15: rung 05 with the rows dealt out to OpenMP threads inside each step of the sum.
//
// Change    the sum loop cannot be distributed: two threads would add to one element of C (a mutant does
//           that). The row loop is distributed within one parallel region; schedule(static) gives a thread
//           the same rows at every k.
// Traffic   as rung 05, a share per thread.
// Limits    the traffic of C. No barrier is needed between steps: a row stays with its thread.
// Fails at  C larger than the caches.
#include "reference/cpu/gemm/loops.hpp"
#include "reference/ops/gemm.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Gemm::Problem<T>& p, const Gemm::In<T, Space::host>& in, const Gemm::Out<T, Space::host>& out,
         Context&) {
  const auto A = in.A, B = in.B;
  const auto C = out.C;
  const std::int64_t depth = depth_of(p, in);
#pragma omp parallel
  {
#pragma omp for schedule(static) nowait
    for (std::int64_t i = 0; i < C.rows; ++i) scale_rows(C, p.beta, i, i + 1);
    for (std::int64_t k = 0; k < depth; ++k) {
      // nowait: OpenMP gives equal static loops of one region the same shares, so rows stay with their thread
#pragma omp for schedule(static) nowait
      for (std::int64_t i = 0; i < C.rows; ++i) {
        const T a = A(i, k);
        for (std::int64_t j = 0; j < C.cols; ++j) C(i, j) += p.alpha * (a * B(k, j));
      }
    }
  }
}

PLUMB_REGISTER_WITH(Gemm, "15_kij_openmp", (run<T>, {}, by_rows<T>), float, double);

}  // namespace
}  // namespace plumb
