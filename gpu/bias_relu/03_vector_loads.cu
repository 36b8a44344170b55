// bias_relu, rung 3: 16 bytes per load and store, four rows' worth in flight per thread.
//
// Change    a thread moves four floats or two doubles at a time; vectors are numbered through the rows, so
//           narrow matrices fill the warps too. The division that this costs is in 32 bits where the sizes
//           allow.
// Traffic   compulsory bytes in whole 16-byte pieces; each row's last, partial piece element by element.
// Limits    62 registers in fp32, 61 in fp64, no shared memory: 4 blocks of 256 per SM (sm_90, nvcc 13.0,
//           ptxas -v).
// Fails at  bases or leading dimensions that are not multiples of 16 bytes: it declares that it needs them.
// Source    J. Luitjens, "CUDA Pro Tip: Increase Performance with Vectorized Memory Access" (2013).
#include "gpu/bias_relu/common.hpp"

namespace plumb {
namespace {

using namespace bias_relu;

constexpr int kThreads = 256;
constexpr int kInFlight = 4;

template <class T>
struct alignas(16) Vector {
  static constexpr int kLanes = 16 / sizeof(T);
  T lane[kLanes];
};

template <class T, class I>
__global__ void __launch_bounds__(kThreads)
    bias_relu_vector_loads(Problem<T> p, In<T> in, Out<T> out, I vectors /* rows * per_row */, I per_row) {
  using V = Vector<T>;
  const Index first = static_cast<Index>(blockIdx.x) * (kThreads * kInFlight) + threadIdx.x;
  V held[kInFlight];
  I row[kInFlight], col[kInFlight];
#pragma unroll
  for (int u = 0; u < kInFlight; ++u) {
    const Index at = first + u * kThreads;
    const I v = static_cast<I>(at);
    const bool mine = at < static_cast<Index>(vectors);
    row[u] = mine ? v / per_row : 0;
    col[u] = mine ? (v - row[u] * per_row) * V::kLanes : static_cast<I>(in.x.cols);
    if (static_cast<Index>(col[u]) + V::kLanes <= in.x.cols)
      held[u] = *reinterpret_cast<const V*>(&in.x(row[u], col[u]));
  }
#pragma unroll
  for (int u = 0; u < kInFlight; ++u) {
    if (static_cast<Index>(col[u]) + V::kLanes <= in.x.cols) {
      V b;
      if (in.b.size > 0) {
        b = *reinterpret_cast<const V*>(&in.b[col[u]]);
      } else {
#pragma unroll
        for (int l = 0; l < V::kLanes; ++l) b.lane[l] = p.bias;
      }
#pragma unroll
      for (int l = 0; l < V::kLanes; ++l) held[u].lane[l] = activate(held[u].lane[l], b.lane[l], p.cap);
      *reinterpret_cast<V*>(&out.y(row[u], col[u])) = held[u];
    } else {
      for (Index j = col[u]; j < in.x.cols; ++j)
        out.y(row[u], j) = activate(in.x(row[u], j), in.b.size > 0 ? in.b[j] : p.bias, p.cap);
    }
  }
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const Index per_row = ceil_div(in.x.cols, Vector<T>::kLanes), vectors = in.x.rows * per_row;
  const Index blocks = ceil_div(vectors, kThreads * kInFlight);
  if (vectors * Vector<T>::kLanes < 0x7fffffff) {
    launch(bias_relu_vector_loads<T, unsigned>, blocks, kThreads, 0, context.stream, p, in, out,
           static_cast<unsigned>(vectors), static_cast<unsigned>(per_row));
  } else {
    launch(bias_relu_vector_loads<T, Index>, blocks, kThreads, 0, context.stream, p, in, out, vectors,
           per_row);
  }
}

const Register<BiasRelu, float, Space::device> f32{"03_vector_loads", run<float>, Traits{}.align(16)};
const Register<BiasRelu, double, Space::device> f64{"03_vector_loads", run<double>, Traits{}.align(16)};

}  // namespace
}  // namespace plumb
