// requires: cublas
// gemm, vendor: cuBLAS gemm on row-major operands by exchanging them.
//
// Change    the library's own kernels, arithmetic of the operator's type (narrow types: fp32 sums). Row-major C = A B is column-major
//           C^T = B^T A^T, and a row-major matrix is its own transpose in column-major eyes: exchange A and
//           B, m and n, and nothing is copied.
// Traffic   the library's.
// Fails at  sizes of zero, which it refuses, and so do we: unsupported. At k = 2 it pads k with zeros: an
//           infinity in A then gives NaN where an infinity is due (cuBLAS 13.1, fp64, H200). It therefore
//           declares itself for finite inputs. Where beta is -0, some of its kernels read C and multiply it
//           (cuBLAS 13.1, both types, H200: m=7, n=2999, k=2): it is given +0.
// Source    cuBLAS library, "cublas<t>gemm()".
#include "gpu/gemm/cublas.hpp"

namespace plumb {
namespace {

using namespace gemm;

template <class T>
void run(const Gemm::Problem<T>& p, const Gemm::In<T, Space::device>& in,
         const Gemm::Out<T, Space::device>& out, Context& context) {
  const scalar_t<T> zero = 0, beta = p.beta == zero ? zero : p.beta;  // never -0
  PLUMB_CUBLAS(cublas_gemm(static_cast<Cublas*>(context.plan)->get(), CUBLAS_OP_N, CUBLAS_OP_N, out.C.cols,
                           out.C.rows, in.A.cols, &p.alpha, in.B.data, in.B.ld, in.A.data, in.A.ld, &beta,
                           out.C.data, out.C.ld));
}

PLUMB_REGISTER_WITH(Gemm, "80_cublas",
                    (run<T>, Traits{}.of_library().for_finite_inputs(), cublas_supports<T>, cublas_prepare<T>,
                     release_cublas),
                    float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
