// requires: cublas
// conv2d, vendor: windows gathered as a matrix in workspace, and cuBLAS for the product of each image.
//
// Change    what a user composes from the vendor's BLAS: a kernel writes the windows of up to kColumnBytes of
//           images, a strided batch of products follows, in the operator's type. A 1 x 1 filter with stride 1
//           and no padding needs no gather: an image's planes are the matrix.
// Traffic   the matrix of windows, n c r s oh ow elements, is written and read: r s times X each way.
// Fails at  sizes of zero, which the library refuses, and so do we: unsupported. It declares itself for
//           finite inputs, as gemm's 80_cublas does. cuDNN, the vendor's library for this operator, is not
//           assumed to be there.
// Source    cuBLAS library, "cublas<t>gemmStridedBatched()"; Chellapilla, Puri and Simard (2006).
#include "gpu/conv2d/common.hpp"
#include "gpu/runtime/cublas.hpp"

namespace plumb {
namespace {

using namespace conv2d;

constexpr int kThreads = 256;
constexpr Index kColumnBytes = Index{1} << 30;  // of the matrix of windows at a time, or of one image

cublasStatus_t batched(cublasHandle_t h, Index m, Index n, Index k, const float* one, const float* a,
                       Index lda, Index stride_a, const float* b, Index ldb, const float* zero, float* c,
                       Index ldc, Index stride_c, Index count) {
  return cublasSgemmStridedBatched_64(h, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, one, a, lda, stride_a, b, ldb, 0,
                                      zero, c, ldc, stride_c, count);
}
cublasStatus_t batched(cublasHandle_t h, Index m, Index n, Index k, const double* one, const double* a,
                       Index lda, Index stride_a, const double* b, Index ldb, const double* zero, double* c,
                       Index ldc, Index stride_c, Index count) {
  return cublasDgemmStridedBatched_64(h, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, one, a, lda, stride_a, b, ldb, 0,
                                      zero, c, ldc, stride_c, count);
}

/// columns (images, c r s, oh ow), from image `first` on.
template <class T>
__global__ void __launch_bounds__(kThreads)
    conv2d_im2col(Problem<T> p, In<T> in, Index first, Index pixels, unsigned blocks_of_row, T* columns) {
  const Index row = blockIdx.x / blocks_of_row;  // image * c r s + term
  const int at = static_cast<int>(blockIdx.x % blocks_of_row) * kThreads + static_cast<int>(threadIdx.x);
  if (at >= pixels) return;
  const Index image = row / in.F.cols;
  const int term = static_cast<int>(row - image * in.F.cols), area = p.r * p.s, ch = term / area,
            a = term % area / p.s, b = term % p.s;
  columns[row * pixels + at] = pixel_or_zero(p, in.X.data + ((first + image) * p.c + ch) * in.X.ld,
                                             at / p.ow * p.stride_h - p.pad_h + a * p.dilation_h,
                                             at % p.ow * p.stride_w - p.pad_w + b * p.dilation_w);
}

template <class T>
const char* supports(const Problem<T>&, const In<T>& in, const Out<T>& out) {
  if (out.Y.rows == 0 || out.Y.cols == 0 || in.F.cols == 0)
    return "cuBLAS gemm takes no leading dimension of 0";
  return out.Y.cols <= 0x7fffff00 && in.F.cols <= 0x7fffff00 ? nullptr
                                                             : "counts outputs and terms in 32 bits";
}

template <class T>
void* prepare(const Problem<T>&, const In<T>&, const Out<T>&, Context& context) {
  return new Cublas(context, kOwnMath<T>);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const cublasHandle_t handle = static_cast<Cublas*>(context.plan)->get();
  const T one = T(1), zero = T(0);
  const Index pixels = out.Y.cols, terms = in.F.cols;
  // row-major Y = F columns is column-major Y^T = columns^T F^T: exchange the operands, and nothing is copied
  if (p.r == 1 && p.s == 1 && p.stride_h == 1 && p.stride_w == 1 && p.pad_h == 0 && p.pad_w == 0) {
    context.explain("1 x 1: the image is the matrix of windows");
    PLUMB_CUBLAS(batched(handle, pixels, p.k, terms, &one, in.X.data, in.X.ld, p.c * in.X.ld, in.F.data,
                         in.F.ld, &zero, out.Y.data, out.Y.ld, p.k * out.Y.ld, p.n));
    return;
  }
  const Index bytes = terms * pixels * static_cast<Index>(sizeof(T)), fit = kColumnBytes / bytes;
  const Index together = fit < 1 ? 1 : fit > p.n ? p.n : fit, blocks = ceil_div(pixels, kThreads);
  T* columns = static_cast<T*>(context.workspace(together * bytes));
  for (Index image = 0; image < p.n; image += together) {
    const Index count = p.n - image < together ? p.n - image : together;
    launch(conv2d_im2col<T>, count * terms * blocks, kThreads, 0, context.stream, p, in, image, pixels,
           static_cast<unsigned>(blocks), columns);
    PLUMB_CUBLAS(batched(handle, pixels, p.k, terms, &one, columns, pixels, terms * pixels, in.F.data,
                         in.F.ld, &zero, out.Y.data + image * p.k * out.Y.ld, out.Y.ld, p.k * out.Y.ld,
                         count));
  }
}

PLUMB_REGISTER_WITH(Conv2d, "80_cublas_im2col",
                    (run<T>, Traits{}.of_library().for_finite_inputs(), supports<T>, prepare<T>,
                     release_cublas),
                    float, double);

}  // namespace
}  // namespace plumb
