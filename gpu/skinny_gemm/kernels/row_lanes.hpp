// The body of rung 17: the lanes of a warp share the depth of a few rows. Header only.
#pragma once
#include "gpu/skinny_gemm/common.hpp"

namespace plumb {
namespace skinny {
namespace row_lanes {

constexpr int kBlock = 256, kWarpsOfBlock = kBlock / 32;

/// Loads of X and shared memory of a block. V: elements of a load; N: columns that a warp makes.
template <class T, int V_, int N_>
struct Shape {
  static constexpr int V = V_, N = N_;
  /// Rows of a warp: a sum for each lane in the end, or two.
  static constexpr int kRows = sizeof(T) == 4 && N == 16 ? 4 : 32 / N;
  /// Steps along the depth whose loads a lane starts together.
  static constexpr int kTogether = V > 1 ? 1 : 16 / (static_cast<int>(sizeof(T)) / 4 * kRows);
  static constexpr int kStep = 32 * V, kSums = kRows * N;
  /// Of W that a block holds, turned; the pitch keeps vectors on 16 bytes, and the lanes of a store in different banks.
  static constexpr int kDepth = 4096 / static_cast<int>(sizeof(T)),
                       kPitch = kDepth + 16 / static_cast<int>(sizeof(T));
  static constexpr std::size_t kShared = sizeof(T) * N * kPitch;
  static_assert(kDepth % (kStep * kTogether) == 0 && kSums % 32 == 0, "lanes share the sums");
};

/// W(k0 .., j0 ..) turned, zeros past its ends up to a whole number of steps.
template <class S, class T>
PLUMB_DEVICE void stage_turned(T* w /* (N, kPitch), shared */, const In<T>& in, Index k0, Index j0) {
  constexpr int kSteps = S::kStep * S::kTogether;
  const Index left = in.W.rows - k0;
  const int depth = left < S::kDepth ? static_cast<int>(ceil_div(left, kSteps)) * kSteps : S::kDepth;
  for (int e = static_cast<int>(threadIdx.x); e < depth * S::N; e += kBlock) {
    const Index k = k0 + e / S::N, j = j0 + e % S::N;
    w[e % S::N * S::kPitch + e / S::N] = k < in.W.rows && j < in.W.cols ? in.W(k, j) : T(0);
  }
}

/// Adds to `sum` the calling lane's share of kRows rows from `row` on, over terms [k0, k0 + kDepth) or what there is of them.
template <class S, class T>
PLUMB_DEVICE void add_share(T (&sum)[S::kSums], const In<T>& in, const T* w, Index row, Index k0) {
  using Load = Piece<T, S::V>;
  const int lane_k = static_cast<int>(threadIdx.x) % 32 * S::V;
  const Index left = in.X.cols - k0;
  const int depth = left < S::kDepth ? static_cast<int>(left) : S::kDepth;
  const T* from[S::kRows];
#pragma unroll
  for (int r = 0; r < S::kRows; ++r) {
    const Index i = row + r < in.X.rows ? row + r : in.X.rows - 1;  // sums of rows past the end are not kept
    from[r] = in.X.data + i * in.X.ld + k0;
  }
  for (int k = lane_k; k - lane_k < depth; k += S::kStep * S::kTogether) {
    Load x[S::kTogether][S::kRows];
#pragma unroll
    for (int u = 0; u < S::kTogether; ++u) {
#pragma unroll
      for (int r = 0; r < S::kRows; ++r) {
        const int at = k + u * S::kStep;
        if (at < depth)
          x[u][r] = *reinterpret_cast<const Load*>(from[r] + at);
        else
          x[u][r] = Load{};
      }
    }
#pragma unroll
    for (int u = 0; u < S::kTogether; ++u) {
#pragma unroll
      for (int j = 0; j < S::N; ++j) {
        const Load of_w = *reinterpret_cast<const Load*>(w + j * S::kPitch + k + u * S::kStep);
#pragma unroll
        for (int r = 0; r < S::kRows; ++r) {
#pragma unroll
          for (int l = 0; l < S::V; ++l) sum[r * S::N + j] += x[u][r].lane[l] * of_w.lane[l];
        }
      }
    }
  }
}

/// Adds the lanes' sums: at each step a lane hands half of the Held sums it has left to another one, and takes over the other half. Leaves
/// in sum[0 ..] those of which the calling lane has the total, and returns the number of the first.
template <int Held, int Bit = 16, class T, int Sums>
PLUMB_DEVICE int share_out(T (&sum)[Sums]) {
  constexpr int kHalf = Held / 2;
  const bool upper = (threadIdx.x & Bit) != 0;
#pragma unroll
  for (int e = 0; e < kHalf; ++e) {
    const T given = upper ? sum[e] : sum[e + kHalf], kept = upper ? sum[e + kHalf] : sum[e];
    sum[e] = kept + __shfl_xor_sync(kAllLanes, given, Bit);
  }
  int first = upper ? kHalf : 0;
  if constexpr (Bit > 1) first += share_out<kHalf, Bit / 2>(sum);
  return first;
}

template <class T, class S>
__global__ void __launch_bounds__(kBlock, 2) skinny_row_lanes(In<T> in, Out<T> out) {
  PLUMB_DYNAMIC_SHARED(T, w);
  constexpr Index kSet = kWarpsOfBlock * S::kRows;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const Index j0 = static_cast<Index>(blockIdx.y) * S::N;
  const bool once = in.X.cols <= S::kDepth;  // W stays
  for (Index set = blockIdx.x * kSet; set < out.Y.rows; set += gridDim.x * kSet) {
    const Index row = set + warp * S::kRows;
    T sum[S::kSums] = {};
    for (Index k0 = 0; k0 < in.X.cols; k0 += S::kDepth) {
      if (!once || set == blockIdx.x * kSet) {
        __syncthreads();
        stage_turned<S>(w, in, k0, j0);
        __syncthreads();
      }
      if (row < out.Y.rows) add_share<S>(sum, in, w, row, k0);
    }
    const int first = share_out<S::kSums>(sum);
#pragma unroll
    for (int e = 0; e < S::kSums / 32; ++e) {
      const Index i = row + (first + e) / S::N, j = j0 + (first + e) % S::N;
      if (i < out.Y.rows && j < out.Y.cols) out.Y(i, j) = sum[e];
    }
  }
}

template <class S, class T>
void start(const In<T>& in, const Out<T>& out, Context& context) {
  const Index sets = ceil_div(out.Y.rows, kWarpsOfBlock * S::kRows),
              resident = 2 * static_cast<Index>(device_multiprocessors());
  const Grid grid(static_cast<unsigned>(sets < resident ? sets : resident),
                  static_cast<unsigned>(ceil_div(out.Y.cols, S::N)));
  launch(skinny_row_lanes<T, S>, grid, kBlock, S::kShared, context.stream, in, out);
}

/// Calls run(Shape{}) for the columns of a pass over X.
template <class T, int V, class Call>
auto with_shape(Index columns, Call run) {
  return columns <= 4 ? run(Shape<T, V, 4>{}) : columns <= 8 ? run(Shape<T, V, 8>{}) : run(Shape<T, V, 16>{});
}

template <int V, class T>
void run_by_columns(const In<T>& in, const Out<T>& out, Context& context) {
  with_shape<T, V>(out.Y.cols, [&](auto shape) { start<decltype(shape)>(in, out, context); });
}

template <class T>
void run_row_lanes(const In<T>& in, const Out<T>& out, Context& context) {
  if (whole_vectors(in.X)) return run_by_columns<Vector<T>::kLanes>(in, out, context);
  run_by_columns<1>(in, out, context);
}

}  // namespace row_lanes
}  // namespace skinny
}  // namespace plumb
