// gemm, rung 20: small tiles, the depth of each divided among as many blocks as the chip has room for.
//
// Change    tiles of 32 x 32 by 128 threads, so that a C of a few tiles occupies many multiprocessors, and a
//           tile's depth in parts, so that a deep one occupies the rest. The last block of a tile to end adds
//           all parts in their order: one launch, and the result is reproducible. Three steps of 32 are on
//           their way from the start: a part of two or three steps waits for memory once.
// Traffic   A is read n / 32 times and B m / 32 times; the parts of a tile are written and read once.
// Limits    fp32 / fp64: 64 registers, no spills (sm_90, nvcc 13.0, ptxas -v).
// Fails at  large products, where a tile of 32 x 32 loads as much as it multiplies: rungs 15 to 19.
// Source    split-K: CUTLASS, "Efficient GEMM in CUDA"; the last block as in CUDA samples,
//           "threadFenceReduction".
#include "gpu/gemm/multistage.hpp"

namespace plumb {
namespace {

using namespace gemm;

constexpr int kTile = 32, kDepth = 32, kThreads = 128, kStages = 4, kElements = kTile * kTile;
constexpr int kRows = 2, kCols = 4;  // of a thread: two rows 16 apart, four columns side by side
constexpr int kRowThreads = kTile / kCols, kRowStep = kThreads / kRowThreads;

/// A row of a stage, in elements: 16 bytes more than a tile's, which keep the rows of A in different banks.
template <class T>
constexpr int kPitch = kTile + Vector<T>::kLanes;
template <class T>
constexpr int kStage = 2 * kTile * kPitch<T>;
template <class T>
constexpr std::size_t kShared = sizeof(T) * kStages * kStage<T>;

template <class T>
struct Plan {
  Index parts;         // of each tile's depth
  unsigned* finished;  // (tiles) blocks that have left their part of a tile; 0 between runs
};

/// Starts copying a tile of an operand, rows [row0, row0 + kTile) and columns [col0, col0 + kTile), V elements
/// at a time; zeros past `rows` and `cols`.
template <int V, class T>
PLUMB_DEVICE void start_tile(const DenseView<const T, Space::device>& a, Index row0, Index col0, Index rows,
                             Index cols, T* to /* (kTile, kPitch) */) {
  constexpr int kPerRow = kTile / V, kDown = kThreads / kPerRow;
  const int row = static_cast<int>(threadIdx.x) / kPerRow, col = static_cast<int>(threadIdx.x) % kPerRow * V;
  const Index across = cols - col0 - col;  // elements of the row from here on
  const int bytes = static_cast<int>(sizeof(T)) * (across >= V ? V : across > 0 ? static_cast<int>(across) : 0);
  const Index left = rows - row0 - row;  // rows from here on
  const T* from = a.data + (row0 + row) * a.ld + col0 + col;
  to += row * kPitch<T> + col;
#pragma unroll 2
  for (int r = 0; r < kTile; r += kDown) {
    const bool inside = r < left && bytes > 0;
    copy_async<V * static_cast<int>(sizeof(T))>(to, inside ? from : a.data, inside ? bytes : 0);
    from += kDown * a.ld, to += kDown * kPitch<T>;
  }
}

template <class T>
PLUMB_DEVICE void multiply_step(T (&sum)[kRows][kCols], const T* stage, int row, int col) {
  constexpr int kV = Vector<T>::kLanes;
#pragma unroll 2
  for (int k = 0; k < kDepth; k += kV) {
    Vector<T> a[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r)
      a[r] = *reinterpret_cast<const Vector<T>*>(stage + (row + r * kRowStep) * kPitch<T> + k);
#pragma unroll
    for (int l = 0; l < kV; ++l) {
      T b[kCols];
#pragma unroll
      for (int c = 0; c < kCols; c += kV) {
        const auto v = *reinterpret_cast<const Vector<T>*>(stage + (kTile + k + l) * kPitch<T> + col + c);
#pragma unroll
        for (int e = 0; e < kV; ++e) b[c + e] = v.lane[e];
      }
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
#pragma unroll
        for (int c = 0; c < kCols; ++c) sum[r][c] += a[r].lane[l] * b[c];
      }
    }
  }
}

/// Leaves the block's part; true in the last block of the tile to do so, where `sum` then holds all parts'.
template <class T>
PLUMB_DEVICE bool join_parts(T (&sum)[kRows][kCols], int parts, int part, int row, int col,
                             T* of_tile /* (parts, kTile, kTile) */, unsigned* finished) {
  constexpr int kV = Vector<T>::kLanes;
  __shared__ bool last;
  const int at = row * kTile + col;
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kCols; ++c) of_tile[part * kElements + at + r * kRowStep * kTile + c] = sum[r][c];
  }
  __syncthreads();  // the whole part, before the count that announces it
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(finished, 1u) == static_cast<unsigned>(parts) - 1;
    __threadfence();  // and the count before the others' parts
    if (last) *finished = 0;  // for the next run
  }
  __syncthreads();
  if (!last) return false;
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kCols; ++c) sum[r][c] = T(0);
  }
#pragma unroll 4
  for (int other = 0; other < parts; ++other) {
    const T* const from = of_tile + other * kElements + at;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int c = 0; c < kCols; c += kV) {
        const auto v = *reinterpret_cast<const Vector<T>*>(from + r * kRowStep * kTile + c);
#pragma unroll
        for (int l = 0; l < kV; ++l) sum[r][c + l] += v.lane[l];
      }
    }
  }
  return true;
}

/// V: elements that a copy moves, as the rows of A and B are aligned. Little code: in a part of a few steps
/// each instruction is fetched for one or two uses.
template <class T, int V>
__global__ void __launch_bounds__(kThreads)
    gemm_split_depth(Problem<T> p, In<T> in, Out<T> out, int parts,
                     T* partial /* (tiles, parts, kTile, kTile) */, unsigned* finished /* (tiles) */) {
  PLUMB_DYNAMIC_SHARED(T, shared);
  const int part = static_cast<int>(blockIdx.x) % parts, block = static_cast<int>(blockIdx.x) / parts;
  const int across = static_cast<int>(ceil_div(out.C.cols, kTile));
  const Index i0 = static_cast<Index>(block / across) * kTile, j0 = static_cast<Index>(block % across) * kTile;
  const Index depth = depth_of(p, in), steps = ceil_div(depth, kDepth), end = steps * (part + 1) / parts;
  const int row = static_cast<int>(threadIdx.x) / kRowThreads,
            col = static_cast<int>(threadIdx.x) % kRowThreads * kCols;
  const Index first = steps * part / parts;
  T sum[kRows][kCols] = {};
  int reading = 0, writing = 0;
#pragma unroll 1
  for (Index step = first - (kStages - 1); step < end; ++step) {
    if (step >= first) {
      cp_async_wait<kStages - 2>();
      __syncthreads();
    }
    const Index next = step + kStages - 1;
    if (next < end) {  // into the stage that all have left
      T* const stage = shared + writing * kStage<T>;
      start_tile<V>(in.A, i0, next * kDepth, in.A.rows, depth, stage);
      start_tile<V>(in.B, next * kDepth, j0, depth, in.B.cols, stage + kTile * kPitch<T>);
      writing = writing + 1 == kStages ? 0 : writing + 1;
    }
    cp_async_commit();  // also nothing, so that waits count steps
    if (step >= first) {
      multiply_step(sum, shared + reading * kStage<T>, row, col);
      reading = reading + 1 == kStages ? 0 : reading + 1;
    }
  }
  cp_async_wait_all();
  if (parts > 1 && !join_parts(sum, parts, part, row, col,
                               partial + static_cast<Index>(block) * parts * kElements, finished + block))
    return;
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#pragma unroll
    for (int c = 0; c < kCols; ++c) {
      const Index i = i0 + row + r * kRowStep, j = j0 + col + c;
      if (i < out.C.rows && j < out.C.cols) finish(p, &out.C(i, j), sum[r][c]);
    }
  }
}

template <class T>
Index tiles_of(const Out<T>& out) {
  return ceil_div(out.C.rows, kTile) * ceil_div(out.C.cols, kTile);
}

/// Parts that take the least time by a model, in steps of a block that is alone on its multiprocessor: blocks
/// there overlap until its arithmetic is busy, and a part costs time to hand over and to add.
constexpr Index kMostParts = 64;
constexpr double kHandOver = 4, kAdd = 0.1;
template <class T>
constexpr double kBusy = sizeof(T) == sizeof(float) ? 0.375 : 0.6;  // a block's share of the arithmetic
template <class T>
Index parts_of(const Out<T>& out, Index depth) {
  const Index steps = ceil_div(depth, kDepth), many = device_multiprocessors();
  Index best = 1;
  double least = 0;
  for (Index parts = 1; parts <= kMostParts && (parts == 1 || parts <= steps); ++parts) {
    const double busy = kBusy<T> * static_cast<double>(ceil_div(tiles_of(out) * parts, many));
    const double time = static_cast<double>(ceil_div(steps, parts)) * (busy > 1 ? busy : 1) +
                        (parts > 1 ? kHandOver + kAdd * static_cast<double>(parts) : 0);
    if (parts == 1 || time < least) least = time, best = parts;
  }
  return best;
}

template <class T>
void* prepare(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  const Index bytes = tiles_of(out) * static_cast<Index>(sizeof(unsigned));
  auto* plan = new Plan<T>{parts_of(out, in.A.cols), static_cast<unsigned*>(context.workspace(bytes))};
  device_fill(plan->finished, 0, static_cast<std::size_t>(bytes), context.stream);
  return plan;
}

template <class T>
void release(void* plan) {
  delete static_cast<Plan<T>*>(plan);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const auto& plan = *static_cast<const Plan<T>*>(context.plan);
  const Index blocks = tiles_of(out) * plan.parts;
  auto* const partial = static_cast<T*>(
      context.workspace(plan.parts > 1 ? blocks * kElements * static_cast<Index>(sizeof(T)) : 0));
  const bool wide = rows_on_vectors(in.A) && rows_on_vectors(in.B);
  launch(wide ? gemm_split_depth<T, Vector<T>::kLanes> : gemm_split_depth<T, 1>, blocks, kThreads, kShared<T>,
         context.stream, p, in, out, static_cast<int>(plan.parts), partial, plan.finished);
}

const Register<Gemm, float, Space::device> f32{
    "20_split_depth", run<float>, Traits{}.needs_sm(80), nullptr, prepare<float>, release<float>};
const Register<Gemm, double, Space::device> f64{
    "20_split_depth", run<double>, Traits{}.needs_sm(80), nullptr, prepare<double>, release<double>};

}  // namespace
}  // namespace plumb
