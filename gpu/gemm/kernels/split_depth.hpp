// The body of rung 20: tiles of 32 x 32, the depth of each divided among blocks. Header only.
#pragma once
#include "gpu/gemm/kernels/add_parts.hpp"
#include "gpu/gemm/kernels/fp64_tensor.hpp"

namespace plumb {
namespace gemm {
namespace split_depth {

constexpr int kTile = 32, kDepth = 32, kThreads = 128, kElements = kTile * kTile;
constexpr int kTogether = 4;                // blocks on a multiprocessor
constexpr int kOwn = kElements / kThreads;  // elements of C that a thread writes

/// Rows of a stage in shared memory, in elements: the lanes of a load of multiply() are in different banks.
template <class T>
constexpr int kPitchA = sizeof(T) == 8 ? kDepth + 8 : kDepth + 4;
template <class T>
constexpr int kPitchB = sizeof(T) == 8 ? kTile + 2 : kTile + 4;
template <class T>
constexpr int kStage = kTile* kPitchA<T> + kDepth* kPitchB<T>;
template <class T>
constexpr int kStages = sizeof(T) == 8 ? 3 : 4;
template <class T>
constexpr std::size_t kShared = sizeof(T) * kStages<T>* kStage<T>;

/// The sums of a tile in the registers of its block. multiply() adds a step's products; take() leaves the
/// thread's own elements, `row` and `col` say which.
template <class T>
struct Sums;

/// fp32: each warp has all of the tile and a quarter of the step, 8 rows by 4 columns a lane.
template <>
struct Sums<float> {
  static constexpr int kRows = 8, kCols = 4, kQuarter = kDepth / 4, kV = 4, kPitch = kTile + 4;
  static_assert(4 * kTile * kPitch * sizeof(float) <= kShared<float>, "the warps' sums fit in the stages");
  float sum[kRows][kCols] = {};

  PLUMB_DEVICE void multiply(const float* a, const float* b) {
    const int lane = static_cast<int>(threadIdx.x) % 32,
              first = static_cast<int>(threadIdx.x) / 32 * kQuarter;
    a += lane / 8 * kPitchA<float> + first;
    b += first * kPitchB<float> + lane % 8 * kCols;
#pragma unroll
    for (int k = 0; k < kQuarter; k += kV) {
      Vector<float> x[kRows], y[kV];
#pragma unroll
      for (int r = 0; r < kRows; ++r)
        x[r] = *reinterpret_cast<const Vector<float>*>(a + 4 * r * kPitchA<float> + k);
#pragma unroll
      for (int l = 0; l < kV; ++l)
        y[l] = *reinterpret_cast<const Vector<float>*>(b + (k + l) * kPitchB<float>);
#pragma unroll
      for (int l = 0; l < kV; ++l) {
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
#pragma unroll
          for (int c = 0; c < kCols; ++c) sum[r][c] += x[r].lane[l] * y[l].lane[c];
        }
      }
    }
  }

  PLUMB_DEVICE static int row(int e) { return static_cast<int>(threadIdx.x) / 8 + e / kCols * 16; }
  PLUMB_DEVICE static int col(int e) { return static_cast<int>(threadIdx.x) % 8 * kCols + e % kCols; }

  PLUMB_DEVICE void end_loop(Index depth) { into_other_registers(sum, depth); }
  /// Adds the warps' sums in their order, through the shared memory of the stages, which all have left.
  PLUMB_DEVICE void take(float (&own)[kOwn], float* shared) const {
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    float* const mine = shared + (warp * kTile + lane / 8) * kPitch + lane % 8 * kCols;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      *reinterpret_cast<Vector<float>*>(mine +
                                        4 * r * kPitch) = {{sum[r][0], sum[r][1], sum[r][2], sum[r][3]}};
    }
    __syncthreads();
#pragma unroll
    for (int e = 0; e < kOwn; ++e) {
      own[e] = of(shared, 0, e);
#pragma unroll
      for (int w = 1; w < 4; ++w) own[e] += of(shared, w, e);
    }
  }

 private:
  PLUMB_DEVICE static float of(const float* shared, int warp, int e) {
    return shared[(warp * kTile + row(e)) * kPitch + col(e)];
  }
};

/// fp64, on tensor cores: a quarter of the tile each warp, 16 x 16.
template <>
struct Sums<double> {
  double sum[1][2][4] = {};

  PLUMB_DEVICE void multiply(const double* a, const double* b) {
    const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
    a += (tile_row() + g) * kPitchA<double> + 2 * t;
    b += 2 * t * kPitchB<double> + tile_col() + g;
#pragma unroll
    for (int k = 0; k < kDepth; k += 8) {
      double x[1][4], y[2][2];
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const auto pair = *reinterpret_cast<const Pair<double>*>(a + 8 * h * kPitchA<double> + k);
        x[0][h] = pair.x, x[0][h + 2] = pair.y;
      }
#pragma unroll
      for (int n = 0; n < 2; ++n) {
#pragma unroll
        for (int h = 0; h < 2; ++h) y[n][h] = b[(k + h) * kPitchB<double> + 8 * n];
      }
      Fp64Products<1>().multiply_add(sum, x, y);
    }
  }

  PLUMB_DEVICE static int row(int e) {
    return tile_row() + static_cast<int>(threadIdx.x) % 32 / 4 + 8 * (e / 2 % 2);
  }
  PLUMB_DEVICE static int col(int e) {
    return tile_col() + 8 * (e / 4) + static_cast<int>(threadIdx.x) % 4 * 2 + e % 2;
  }

  PLUMB_DEVICE void end_loop(Index) {}
  PLUMB_DEVICE void take(double (&own)[kOwn], double*) const {
#pragma unroll
    for (int e = 0; e < kOwn; ++e) own[e] = sum[0][e / 4][e % 4];
  }

 private:
  PLUMB_DEVICE static int tile_row() { return static_cast<int>(threadIdx.x) / 64 * 16; }
  PLUMB_DEVICE static int tile_col() { return static_cast<int>(threadIdx.x) / 32 % 2 * 16; }
};

template <class T>
struct Plan {
  Index parts;  // of each tile's depth
  unsigned*
      finished;  // (tiles) blocks that have left their part; 0 between runs. Null: parts are left for gemm_add_parts
};
/// For gemm_add_parts.
struct Tile {
  static constexpr int BM = kTile, BN = kTile, BK = kDepth;
};

/// Starts copying a tile of an operand, rows [row0, row0 + kTile) and columns [col0, col0 + kTile), V elements
/// at a time; zeros past `rows` and `cols`.
template <int V, int Pitch, class T>
PLUMB_DEVICE void start_tile(const DenseView<const T, Space::device>& a, Index row0, Index col0, Index rows,
                             Index cols, T* to /* (kTile, Pitch) */) {
  constexpr int kPerRow = kTile / V, kDown = kThreads / kPerRow, kBytes = V * static_cast<int>(sizeof(T));
  const int row = static_cast<int>(threadIdx.x) / kPerRow, col = static_cast<int>(threadIdx.x) % kPerRow * V;
  const Index across = cols - col0 - col;  // elements of the row from here on
  const Index left = rows - row0 - row;    // rows from here on
  const T* from = a.data + (row0 + row) * a.ld + col0 + col;
  to += row * Pitch + col;
#pragma unroll 2
  for (int r = 0; r < kTile; r += kDown) {
    const bool inside = r < left && across > 0;
    copy_async<kBytes>(to, inside ? from : a.data, inside ? kBytes : 0);
    from += kDown * a.ld, to += kDown * Pitch;
  }
}

/// V: elements that a copy moves, as the rows of A and B are aligned. Little code: in a part of a few steps
/// each instruction is fetched for one or two uses.
template <class T, int V>
__global__ void __launch_bounds__(kThreads, kTogether)
    gemm_split_depth(Problem<T> p, In<T> in, Out<T> out, int parts,
                     T* partial /* (tiles, parts, kElements) */, unsigned* finished /* (tiles), or null */) {
  PLUMB_DYNAMIC_SHARED(T, shared);
  let_dependent_begin();
  const int part = static_cast<int>(blockIdx.x) % parts, block = static_cast<int>(blockIdx.x) / parts;
  const TileIndex tile =
      banded_tile(static_cast<unsigned>(block), ceil_div(out.C.rows, kTile), ceil_div(out.C.cols, kTile));
  const Index i0 = tile.m * kTile, j0 = tile.n * kTile;
  const Index depth = depth_of(p, in), steps = ceil_div(depth, kDepth), end = steps * (part + 1) / parts;
  const Index first = steps * part / parts;
  Sums<T> sums;
  int reading = 0, writing = 0;
#pragma unroll 1
  for (Index step = first - (kStages<T> - 1); step < end; ++step) {
    if (step >= first) {
      cp_async_wait<kStages<T> - 2>();
      __syncthreads();
    }
    const Index next = step + kStages<T> - 1;
    if (next < end) {  // into the stage that all have left
      T* const stage = shared + writing * kStage<T>;
      start_tile<V, kPitchA<T>>(in.A, i0, next * kDepth, in.A.rows, depth, stage);
      start_tile<V, kPitchB<T>>(in.B, next * kDepth, j0, depth, in.B.cols, stage + kTile * kPitchA<T>);
      writing = writing + 1 == kStages<T> ? 0 : writing + 1;
    }
    cp_async_commit();  // also nothing, so that waits count steps
    if (step >= first) {
      const T* const stage = shared + reading * kStage<T>;
      sums.multiply(stage, stage + kTile * kPitchA<T>);
      reading = reading + 1 == kStages<T> ? 0 : reading + 1;
    }
  }
  cp_async_wait_all();
  __syncthreads();
  T own[kOwn];
  sums.end_loop(depth);
  sums.take(own, shared);
  if (parts > 1) {
    T* const of_tile = partial + static_cast<Index>(block) * parts * kElements;
    if (finished == nullptr) {
      constexpr int kV = Vector<T>::kLanes;
#pragma unroll
      for (int e = 0; e < kOwn; e += kV)
        store_vector<kV>(of_tile + part * kElements + sums.row(e) * kTile + sums.col(e), own + e);
      return;
    }
    if (!join_parts<kThreads, Vector<T>>(own, parts, part, of_tile, finished + block)) return;
  }
#pragma unroll
  for (int e = 0; e < kOwn; ++e) {
    const Index i = i0 + sums.row(e), j = j0 + sums.col(e);
    if (i < out.C.rows && j < out.C.cols) finish(p, &out.C(i, j), own[e]);
  }
}

template <class T>
Index tiles_of(const Out<T>& out) {
  return ceil_div(out.C.rows, kTile) * ceil_div(out.C.cols, kTile);
}

/// What the model of parts_of() knows of the chip, in steps of a block that is alone on its multiprocessor. Fitted
/// to 1 to 48 parts of 26 shapes on an H200: the parts chosen take 0.3 % (fp64: 0.8 %) longer than the best, at
/// most 4 %.
struct PartCost {
  double busy;       // a block's share of a multiprocessor's arithmetic
  double hand_over;  // a tile in parts, whatever their number
  double add;        // each part
};
template <class T>
constexpr PartCost kCost = sizeof(T) == sizeof(float) ? PartCost{0.45, 6, 0.2} : PartCost{0.5, 2.5, 0.25};

/// Parts that take the least time by a model: the blocks of a multiprocessor overlap until its arithmetic is
/// busy, and parts cost time to hand over and to add.
constexpr Index kMostParts = 128;
template <class T>
Index parts_of(const Out<T>& out, Index depth) {
  const Index steps = ceil_div(depth, kDepth), many = device_multiprocessors();
  Index best = 1;
  double least = 0;
  for (Index parts = 1; parts <= kMostParts && (parts == 1 || parts <= steps); ++parts) {
    const double busy = kCost<T>.busy * static_cast<double>(ceil_div(tiles_of(out) * parts, many));
    const double time =
        static_cast<double>(ceil_div(steps, parts)) * (busy > 1 ? busy : 1) +
        (parts > 1 ? kCost<T>.hand_over + kCost<T>.add * static_cast<double>(additions_of(parts)) : 0);
    if (parts == 1 || time < least) least = time, best = parts;
  }
  return best;
}

template <class T>
Plan<T> prepare_split_depth(const In<T>& in, const Out<T>& out, Context& context) {
  const Index parts = parts_of(out, in.A.cols);
  return {parts, prepare_counts(tiles_of(out), parts, context)};
}

template <class T>
void run_split_depth(const Plan<T>& plan, const Problem<T>& p, const In<T>& in, const Out<T>& out,
                     Context& context) {
  const Index blocks = tiles_of(out) * plan.parts;
  auto* const partial = static_cast<T*>(
      context.workspace(plan.parts > 1 ? blocks * kElements * static_cast<Index>(sizeof(T)) : 0));
  const bool wide = whole_vectors(in.A) && whole_vectors(in.B);
  launch(wide ? gemm_split_depth<T, Vector<T>::kLanes> : gemm_split_depth<T, 1>, blocks, kThreads, kShared<T>,
         context.stream, p, in, out, static_cast<int>(plan.parts), partial, plan.finished);
  if (parts_are_left(plan.parts))
    run_add_parts<Tile>(Division{0, static_cast<int>(plan.parts)}, 0, p, partial, out, context);
}

}  // namespace split_depth
}  // namespace gemm
}  // namespace plumb
