// requires: cudnn
// conv2d, vendor: cuDNN, by its fastest algorithm that computes the sums themselves.
//
// Change    the vendor's library for this operator, in the operator's type and by FMA alone (CUDNN_FMA_MATH: no TF32). prepare() has the library time
//           its algorithms on this problem and takes the fastest of the direct ones (implicit and explicit product of matrices): FFT
//           and Winograd are another arithmetic, with another bound.
// Traffic   the library's; filters with gaps between them are packed first.
// Fails at  sizes of zero, and where the library is not installed: unsupported, with what the loader says.
//           It declares itself for finite inputs, as 80_cublas_im2col does.
// Source    cuDNN, "cudnnConvolutionForward()".
#include "gpu/conv2d/common.hpp"
#include "gpu/runtime/cudnn.hpp"

namespace plumb {
namespace {

using namespace conv2d;

constexpr int kThreads = 256;
constexpr std::size_t kMostSpace = std::size_t{1}
                                   << 30;  // bytes that an algorithm may have beside the operands

/// Filters one behind the other, as the library wants them.
template <class T>
__global__ void __launch_bounds__(kThreads) conv2d_pack_filters(In<T> in, T* packed) {
  const Index at = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (at < in.F.rows * in.F.cols) packed[at] = in.F(at / in.F.cols, at % in.F.cols);
}

template <class T>
const char* supports(const Problem<T>& p, const In<T>& in, const Out<T>& out) {
  const cudnn::Library& library = cudnn::library();
  if (!library.why_not.empty()) return library.why_not.c_str();
  if (out.Y.rows == 0 || out.Y.cols == 0 || in.F.cols == 0) return "cuDNN takes no size of 0";
  const Index x = in.X.rows * in.X.ld, y = out.Y.rows * out.Y.ld;
  return x <= 0x7fffffff && y <= 0x7fffffff ? nullptr : "counts elements in 32 bits";
}

/// The problem in the library's words, and the algorithm that it takes.
template <class T>
struct Plan {
  cudnn::Handle handle;
  cudnn::Tensor x, y;
  cudnn::Filters f;
  cudnn::Convolution sum;
  int algorithm = -1;
  std::size_t bytes = 0;
  void* space = nullptr;

  Plan(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
    constexpr int kType = sizeof(T) == 4 ? cudnn::kFloat : cudnn::kDouble;
    const auto of_x = static_cast<int>(in.X.ld), of_y = static_cast<int>(out.Y.ld);
    PLUMB_CUDNN_CALL(cudnnSetStream, handle.get(), context.stream);
    PLUMB_CUDNN_CALL(cudnnSetTensor4dDescriptorEx, x.get(), kType, p.n, p.c, p.h, p.w, p.c * of_x, of_x, p.w,
                     1);
    PLUMB_CUDNN_CALL(cudnnSetTensor4dDescriptorEx, y.get(), kType, p.n, p.k, p.oh, p.ow, p.k * of_y, of_y,
                     p.ow, 1);
    PLUMB_CUDNN_CALL(cudnnSetFilter4dDescriptor, f.get(), kType, cudnn::kNchw, p.k, p.c, p.r, p.s);
    PLUMB_CUDNN_CALL(cudnnSetConvolution2dDescriptor, sum.get(), p.pad_h, p.pad_w, p.stride_h, p.stride_w,
                     p.dilation_h, p.dilation_w, cudnn::kCrossCorrelation, kType);
    PLUMB_CUDNN_CALL(cudnnSetConvolutionMathType, sum.get(), cudnn::kFmaMath);
    choose(in, out, context);
  }

  /// The most that a direct algorithm asks for, within kMostSpace.
  [[nodiscard]] std::size_t space_of_direct() const {
    std::size_t most = 1;
    for (int a = 0; a < cudnn::kFirstOfTransforms; ++a) {
      std::size_t asked = 0;
      const cudnn::Status status = cudnn::library().cudnnGetConvolutionForwardWorkspaceSize(
          handle.get(), x.get(), f.get(), sum.get(), y.get(), a, &asked);
      if (status == 0 && asked > most && asked <= kMostSpace) most = asked;
    }
    return most;
  }
  /// By the library's times, on an output of the plan's own.
  void choose(const In<T>& in, const Out<T>& out, Context& context) {
    bytes = space_of_direct();
    space = context.workspace(static_cast<std::int64_t>(bytes));
    void* const made = context.workspace(out.Y.rows * out.Y.ld * static_cast<Index>(sizeof(T)));
    cudnn::Timed timed[cudnn::kAlgorithms];
    int given = 0;
    PLUMB_CUDNN_CALL(cudnnFindConvolutionForwardAlgorithmEx, handle.get(), x.get(), in.X.data, f.get(),
                     in.F.data, sum.get(), y.get(), made, cudnn::kAlgorithms, &given, timed, space, bytes);
    for (int i = 0; i < given && algorithm < 0; ++i) {  // the fastest first
      const cudnn::Timed& t = timed[i];
      const bool own = sizeof(T) == 8 || t.math == cudnn::kFmaMath;  // times by TF32 say nothing
      if (own && t.status == 0 && t.algorithm < cudnn::kFirstOfTransforms && t.workspace <= bytes)
        algorithm = t.algorithm;
    }
    if (algorithm < 0) algorithm = 0;  // the implicit product, which needs no space
  }
};

template <class T>
void* prepare(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  return new Plan<T>(p, in, out, context);
}

template <class T>
void release(void* plan) {
  delete static_cast<Plan<T>*>(plan);
}

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  static constexpr const char* kNames[] = {"implicit product of matrices", "implicit product, offsets before",
                                           "product of matrices", "direct"};
  const auto& plan = *static_cast<const Plan<T>*>(context.plan);
  const T one = T(1), zero = T(0);
  const T* filters = in.F.data;
  if (in.F.ld != in.F.cols) {
    const Index count = in.F.rows * in.F.cols;
    T* const packed = static_cast<T*>(context.workspace(count * static_cast<Index>(sizeof(T))));
    launch(conv2d_pack_filters<T>, ceil_div(count, kThreads), kThreads, 0, context.stream, in, packed);
    filters = packed;
  }
  PLUMB_CUDNN_CALL(cudnnConvolutionForward, plan.handle.get(), &one, plan.x.get(), in.X.data, plan.f.get(),
                   filters, plan.sum.get(), plan.algorithm, plan.space, plan.bytes, &zero, plan.y.get(),
                   out.Y.data);
  context.explain(kNames[plan.algorithm]);
}

PLUMB_REGISTER_WITH(Conv2d, "81_cudnn",
                    (run<T>, Traits{}.of_library().for_finite_inputs(), supports<T>, prepare<T>, release<T>),
                    float, double);

}  // namespace
}  // namespace plumb
