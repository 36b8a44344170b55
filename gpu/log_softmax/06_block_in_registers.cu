// log_softmax, rung 6: wide rows in the registers of a block.
//
// Change    rung 3's idea for rows that a warp cannot hold: 256 to 1,024 threads keep up to 16 elements each,
//           so that rows of up to 16,384 are read once.
// Traffic   compulsory: x once, y once. Wider rows: rung 5's kernel, x twice.
// Limits    fp32 / fp64: log_softmax_block_in_registers 20 to 47 / 32 to 62 registers, 32 to 128 / 64 to 256
//           bytes of static shared memory; log_softmax_online 24 / 28 registers, 64 / 128 bytes of static
//           shared memory, no spills (sm_90, nvcc 13.0, ptxas -v). 8 blocks of 256 threads per SM at 1,024
//           columns; one of 1,024 at 16,384 (fp32 by 16 bytes: 2).
// Fails at  narrow rows, which leave most of a block idle: rung 3 is for those.
// Source    the ladder's own step.
#include "gpu/log_softmax/online.hpp"

namespace plumb {
namespace {

using namespace log_softmax;

/// Held: elements per thread, in pieces of V as in rung 3.
template <class T, int Threads, int Held, int V>
__global__ void __launch_bounds__(Threads) log_softmax_block_in_registers(In<T> in, Out<T> out) {
  __shared__ T scratch[Threads / 32];
  const Index row = blockIdx.x;
  const int first = static_cast<int>(threadIdx.x) * V, cols = static_cast<int>(in.x.cols);
  const T* const x = in.x.data + row * in.x.ld + first;
  T* const y = out.y.data + row * out.y.ld + first;
  Piece<T, V> held[Held / V];
  T m = lowest<T>(), s = T(0);
#pragma unroll
  for (int p = 0; p < Held / V; ++p) {
    const bool inside = p * Threads * V + first < cols;
    if (inside) held[p] = *reinterpret_cast<const Piece<T, V>*>(x + p * Threads * V);
#pragma unroll
    for (int e = 0; e < V; ++e) {
      if (!inside) held[p].e[e] = lowest<T>();
      m = larger(m, held[p].e[e]);
    }
  }
  m = max_block<Threads>(m, scratch);
#pragma unroll
  for (int p = 0; p < Held / V; ++p) {
#pragma unroll
    for (int e = 0; e < V; ++e) {
      held[p].e[e] -= m;
      if (p * Threads * V + first < cols) s += exp_of(held[p].e[e]);
    }
  }
  const T log_sum = log_of(sum_block<Threads>(s, scratch));
#pragma unroll
  for (int p = 0; p < Held / V; ++p) {
#pragma unroll
    for (int e = 0; e < V; ++e) held[p].e[e] -= log_sum;
    if (p * Threads * V + first < cols) *reinterpret_cast<Piece<T, V>*>(y + p * Threads * V) = held[p];
  }
}

template <class T, int Threads, int Held>
void start(const In<T>& in, const Out<T>& out, Context& context) {
  constexpr int kV = 16 / sizeof(T);
  launch(whole_pieces<kV>(in, out) ? log_softmax_block_in_registers<T, Threads, Held, kV>
                                   : log_softmax_block_in_registers<T, Threads, Held, 1>,
         in.x.rows, Threads, 0, context.stream, in, out);
}

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  const Index n = in.x.cols;
  if (n == 0) return;
  if (n <= 1024) return start<T, 256, 4>(in, out, context);
  if (n <= 2048) return start<T, 256, 8>(in, out, context);
  if (n <= 4096) return start<T, 256, 16>(in, out, context);
  if (n <= 8192) return start<T, 512, 16>(in, out, context);
  if (n <= 16384) return start<T, 1024, 16>(in, out, context);
  launch(log_softmax_online<T>, in.x.rows, kOnlineThreads, 0, context.stream, in, out);
}

const Register<LogSoftmax, float, Space::device> f32{"06_block_in_registers", run<float>};
const Register<LogSoftmax, double, Space::device> f64{"06_block_in_registers", run<double>};

}  // namespace
}  // namespace plumb
