// The body of rung 12: filters of one pixel that are few, made in one pass over the images. Header only.
#pragma once
#include "gpu/conv2d/kernels/implicit_gemm.hpp"

namespace plumb {
namespace conv2d {
namespace few_filters {

constexpr int kWarps = 8, kThreads = 32 * kWarps;
constexpr int kChannels = 256;  // whose weights a block holds at once

/// K filters by V outputs a lane.
template <class T, int K_, int V_>
struct Shape {
  static constexpr int K = K_, V = V_, kOutputs = 32 * V;
  static constexpr std::size_t kWeights = sizeof(T) * kChannels * K,
                               kSums = sizeof(T) * kWarps * K * kOutputs,
                               kShared = kWeights > kSums ? kWeights : kSums;
};

/// Weights of K filters from `first` on, of `count` channels from `channel` on, turned; zeros in place of filters past the last.
template <class S, class T>
PLUMB_DEVICE void load_weights(const Problem<T>& p, const In<T>& in, Index first, Index channel, int count,
                               T* weights /* (kChannels, K), shared */) {
  for (int e = static_cast<int>(threadIdx.x); e < S::K * kChannels; e += kThreads) {
    const int filter = e / kChannels, c = e % kChannels;
    if (c < count)
      weights[c * S::K + filter] = first + filter < p.k ? in.F(first + filter, channel + c) : T(0);
  }
}

/// sum += the products of channels warp, warp + kWarps, ... of `count`; `x` is the lane's first element of the first of them.
template <class S, class T>
PLUMB_DEVICE void add_products(const T* x, Index ld, int count, const T* weights, T (&sum)[S::K][S::V]) {
  const int warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll 4
  for (int c = warp; c < count; c += kWarps) {
    T v[S::V];
    if constexpr (S::V == 1) {
      v[0] = x[c * ld];
    } else {
      const auto loaded = *reinterpret_cast<const gemm::Vector<T>*>(x + c * ld);
#pragma unroll
      for (int l = 0; l < S::V; ++l) v[l] = loaded.lane[l];
    }
#pragma unroll
    for (int k = 0; k < S::K; ++k) {
#pragma unroll
      for (int l = 0; l < S::V; ++l) sum[k][l] += weights[c * S::K + k] * v[l];
    }
  }
}

/// A block makes K filters of kOutputs outputs of an image: each warp a share of the channels, which are added in the order of the warps.
template <class T, class S>
__global__ void __launch_bounds__(kThreads)
    conv2d_few_filters(Problem<T> p, In<T> in, Out<T> out, int across, int groups) {
  PLUMB_DYNAMIC_SHARED(T, shared);
  const int group = static_cast<int>(blockIdx.x) % groups, tile = static_cast<int>(blockIdx.x) / groups;
  const Index image = tile / across, first = static_cast<Index>(group) * S::K,
              output0 = static_cast<Index>(tile % across) * S::kOutputs;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const Index output = output0 + lane * S::V;
  const bool inside = output < out.Y.cols;
  T sum[S::K][S::V] = {};
  for (Index channel = 0; channel < p.c; channel += kChannels) {
    const int count = p.c - channel < kChannels ? static_cast<int>(p.c - channel) : kChannels;
    __syncthreads();  // all have left the weights before
    load_weights<S>(p, in, first, channel, count, shared);
    __syncthreads();
    if (inside)
      add_products<S>(in.X.data + (image * p.c + channel) * in.X.ld + output, in.X.ld, count, shared, sum);
  }
  __syncthreads();  // all have left the weights
#pragma unroll
  for (int k = 0; k < S::K; ++k) {
#pragma unroll
    for (int l = 0; l < S::V; ++l) shared[(warp * S::K + k) * S::kOutputs + lane * S::V + l] = sum[k][l];
  }
  __syncthreads();
  for (int e = static_cast<int>(threadIdx.x); e < S::K * S::kOutputs; e += kThreads) {
    const Index filter = first + e / S::kOutputs, at = output0 + e % S::kOutputs;
    if (filter >= p.k || at >= out.Y.cols) continue;
    T total = shared[e];
#pragma unroll
    for (int w = 1; w < kWarps; ++w) total += shared[w * S::K * S::kOutputs + e];
    out.Y(image * p.k + filter, at) = total;
  }
}

/// use(shape) with the least K that holds all filters, else the largest.
template <class T, int V, class Use>
auto with_filters(Index filters, Use&& use) {
  if (filters <= 4) return use(Shape<T, 4, V>{});
  if (filters <= 8) return use(Shape<T, 8, V>{});
  return use(Shape<T, 16, V>{});
}
/// The same, by vectors where planes lie on them.
template <class T, class Use>
auto with_shape(const Problem<T>& p, const In<T>& in, const Out<T>& out, Use&& use) {
  constexpr int kV = gemm::Vector<T>::kLanes;
  return images_are_matrices(p, in, out) ? with_filters<T, kV>(p.k, use) : with_filters<T, 1>(p.k, use);
}

template <class T>
void run_few_filters(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  with_shape(p, in, out, [&](auto shape) {
    using S = decltype(shape);
    const Index across = ceil_div(out.Y.cols, S::kOutputs), groups = ceil_div(p.k, S::K);
    launch(conv2d_few_filters<T, S>, p.n * across * groups, kThreads, S::kShared, context.stream, p, in, out,
           static_cast<int>(across), static_cast<int>(groups));
  });
}

}  // namespace few_filters
}  // namespace conv2d
}  // namespace plumb
