// conv2d, rung 1: one thread per output.
//
// Change    first rung: the sum as it is written; neighbouring threads make neighbouring outputs.
// Traffic   every thread reads its c r s pixels and weights; windows overlap in the first-level cache, all
//           threads of a block read the same weight.
// Fails at  every size: two loads, two bounds checks and the address arithmetic of a pixel for one
//           multiply-add. Rung 2 takes the checks out of the sum.
#include "gpu/conv2d/common.hpp"

namespace plumb {
namespace {

using namespace conv2d;

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads)
    conv2d_direct(Problem<T> p, In<T> in, Out<T> out, unsigned blocks_of_plane) {
  const Index plane = blockIdx.x / blocks_of_plane;
  const int at = static_cast<int>(blockIdx.x % blocks_of_plane) * kThreads + static_cast<int>(threadIdx.x);
  if (at >= out.Y.cols) return;
  const int y0 = at / p.ow * p.stride_h - p.pad_h, x0 = at % p.ow * p.stride_w - p.pad_w;
  const T* pixels = in.X.data + plane / p.k * p.c * in.X.ld;
  const T* weight = in.F.data + plane % p.k * in.F.ld;
  T sum = T(0);
  for (int ch = 0; ch < p.c; ++ch, pixels += in.X.ld) {
    for (int a = 0; a < p.r; ++a) {
      for (int b = 0; b < p.s; ++b)
        sum += *weight++ * pixel_or_zero(p, pixels, y0 + a * p.dilation_h, x0 + b * p.dilation_w);
    }
  }
  out.Y(plane, at) = sum;
}

template <class T>
const char* supports(const Problem<T>&, const In<T>&, const Out<T>& out) {
  return out.Y.cols <= 0x7fffff00 ? nullptr : "counts the outputs of a plane in 32 bits";
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const Index blocks = ceil_div(out.Y.cols, kThreads);
  launch(conv2d_direct<T>, out.Y.rows * blocks, kThreads, 0, context.stream, p, in, out,
         static_cast<unsigned>(blocks));
}

PLUMB_REGISTER_WITH(Conv2d, "01_direct", (run<T>, {}, supports<T>), float, double);

}  // namespace
}  // namespace plumb
