// What the rungs of the skinny_gemm ladder share: names, and the staging of W in shared memory. Header only.
#pragma once
#include "gpu/common/rung.hpp"
#include "reference/ops/skinny_gemm.hpp"

namespace plumb {
namespace skinny {

template <class T>
using Problem = SkinnyGemm::Problem<T>;
template <class T>
using In = SkinnyGemm::In<T, Space::device>;
template <class T>
using Out = SkinnyGemm::Out<T, Space::device>;

constexpr int kThreads = 256;  // rows per block of the rungs that give a thread a row

PLUMB_DEVICE Index row_of_thread() { return static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x; }

/// Launches `kernel` for all rows and, in the grid's y, all tiles of `columns` columns. A launch without rows
/// or columns is none.
template <class T>
void launch_rows(void (*kernel)(In<T>, Out<T>), const In<T>& in, const Out<T>& out, int columns,
                 Context& context, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  launch(kernel,
         Grid(static_cast<unsigned>(ceil_div(out.Y.rows, kThreads)),
              static_cast<unsigned>(ceil_div(out.Y.cols, columns)), 1u, file, line),
         kThreads, 0, context.stream, in, out);
}

/// Calls put(row, column, element) for `rows` rows of W from k0 on, Cols columns from j0 on, zeros past W's ends. All threads of the block
/// take part.
template <int Cols, class T, class Put>
PLUMB_DEVICE void each_of_w(int rows, const In<T>& in, Index k0, Index j0, Put put) {
  for (int e = static_cast<int>(threadIdx.x); e < rows * Cols; e += static_cast<int>(blockDim.x)) {
    const Index k = k0 + e / Cols, j = j0 + e % Cols;
    put(e / Cols, e % Cols, k < in.W.rows && j < in.W.cols ? in.W(k, j) : T(0));
  }
}

/// The same, row by row in shared memory. No barrier.
template <int Cols, class T>
PLUMB_DEVICE void stage_w(T* w /* (rows, Cols) */, int rows, const In<T>& in, Index k0, Index j0) {
  each_of_w<Cols>(rows, in, k0, j0, [w](int k, int j, T element) { w[k * Cols + j] = element; });
}
template <int Rows, int Cols, class T>
PLUMB_DEVICE void stage_w(T (&w)[Rows][Cols], const In<T>& in, Index k0, Index j0) {
  stage_w<Cols>(&w[0][0], Rows, in, k0, j0);
}

/// 16 bytes of elements.
template <class T>
struct alignas(16) Vector {
  static constexpr int kLanes = 16 / sizeof(T);
  T lane[kLanes];
};

/// N elements, up to 16 bytes of them, on their own boundary.
template <class T, int N>
struct alignas(N * sizeof(T)) Piece {
  T lane[N];
};

/// The lanes of a warp as 8 rows by 4 quarters of columns. Bits of the lane interleaved: i and i ^ 2 share a row, i and i ^ 1 columns, so that
/// shared loads take two turns instead of four.
PLUMB_DEVICE int row_of_lane(int lane) { return (lane & 1) | (lane >> 2 & 3) << 1; }
PLUMB_DEVICE int quarter_of_lane(int lane) { return (lane >> 1 & 1) | (lane >> 4) << 1; }

/// Columns that a thread holds sums for, and rows of W staged at a time.
constexpr int kCols = 16, kPanel = 128;

/// Rungs 5 to 8: sums of one row and kCols columns in registers, K in tiles of Tile elements of X in
/// registers. `load(x, row, k)` fills x[Tile], zeros past the last column of X.
template <class T, int Tile, class Load>
PLUMB_DEVICE void row_by_tiles(const In<T>& in, const Out<T>& out, Load load) {
  __shared__ __align__(16) T w[kPanel][kCols];
  const Index row = row_of_thread(), j0 = static_cast<Index>(blockIdx.y) * kCols, depth = in.W.rows;
  const bool mine = row < out.Y.rows;  // threads without a row stage W and take part in the barriers
  T sum[kCols] = {};
  for (Index k0 = 0; k0 < depth; k0 += kPanel) {
    __syncthreads();
    stage_w(w, in, k0, j0);
    __syncthreads();
    const int end = depth - k0 < kPanel ? static_cast<int>(depth - k0) : kPanel;
    for (int k = 0; mine && k < end; k += Tile) {
      T x[Tile];
      load(x, row, k0 + k);
#pragma unroll
      for (int kk = 0; kk < Tile; ++kk) {
#pragma unroll
        for (int j = 0; j < kCols; ++j) sum[j] += x[kk] * w[k + kk][j];
      }
    }
  }
  if (!mine) return;
#pragma unroll
  for (int j = 0; j < kCols; ++j) {
    if (j0 + j < out.Y.cols) out.Y(row, j0 + j) = sum[j];
  }
}

/// Fills x[Vectors * V] with X(row, k..) by 16-byte loads, whose addresses must be multiples of 16; by
/// elements at the end of a row.
template <int Vectors, class T>
PLUMB_DEVICE void load_vectors(T* x, const In<T>& in, Index row, Index k) {
  constexpr int kLanes = Vector<T>::kLanes;
#pragma unroll
  for (int v = 0; v < Vectors; ++v) {
    const Index at = k + v * kLanes;
    Vector<T> loaded;
    if (at + kLanes <= in.X.cols) {
      loaded = *reinterpret_cast<const Vector<T>*>(in.X.data + row * in.X.ld + at);
    } else {
#pragma unroll
      for (int l = 0; l < kLanes; ++l) loaded.lane[l] = at + l < in.X.cols ? in.X(row, at + l) : T(0);
    }
#pragma unroll
    for (int l = 0; l < kLanes; ++l) x[v * kLanes + l] = loaded.lane[l];
  }
}

}  // namespace skinny
}  // namespace plumb
