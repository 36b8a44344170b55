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

/// Starts copying the tiles of A and B of one step; zeros past their ends.
template <class T>
PLUMB_DEVICE void start_step(const In<T>& in, Index i0, Index j0, Index k0, Index depth, T* stage) {
  const int row = static_cast<int>(threadIdx.x) / kDepth, col = static_cast<int>(threadIdx.x) % kDepth;
  const T* const from_a = in.A.data + i0 * in.A.ld + k0;
  const T* const from_b = in.B.data + k0 * in.B.ld + j0;
  const bool a_inside = k0 + col < depth, b_inside = j0 + col < in.B.cols;
#pragma unroll
  for (int u = 0; u < kTile; u += kThreads / kDepth) {
    const int r = row + u;
    const bool a = a_inside && i0 + r < in.A.rows, b = b_inside && k0 + r < depth;
    copy_async<sizeof(T)>(stage + r * kPitch<T> + col, a ? from_a + r * in.A.ld + col : in.A.data,
                          a ? static_cast<int>(sizeof(T)) : 0);
    copy_async<sizeof(T)>(stage + (kTile + r) * kPitch<T> + col, b ? from_b + r * in.B.ld + col : in.B.data,
                          b ? static_cast<int>(sizeof(T)) : 0);
  }
}

template <class T>
PLUMB_DEVICE void multiply_step(T (&sum)[kRows][kCols], const T* stage, int row, int col) {
  constexpr int kV = Vector<T>::kLanes;
#pragma unroll
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
  __shared__ bool last;
  T* const mine = of_tile + static_cast<Index>(part) * kElements;
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#pragma unroll
    for (int c = 0; c < kCols; ++c) mine[(row + r * kRowStep) * kTile + col + c] = sum[r][c];
  }
  __syncthreads();  // the whole part, before the count that announces it
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(finished, 1u) == static_cast<unsigned>(parts) - 1;
    __threadfence();  // and the count before the others' parts
  }
  __syncthreads();
  if (!last) return false;
  if (threadIdx.x == 0) *finished = 0;  // for the next run
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#pragma unroll
    for (int c = 0; c < kCols; ++c) sum[r][c] = T(0);
  }
#pragma unroll 4
  for (int other = 0; other < parts; ++other) {
    const T* const from = of_tile + static_cast<Index>(other) * kElements;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int c = 0; c < kCols; ++c) sum[r][c] += __ldcg(from + (row + r * kRowStep) * kTile + col + c);
    }
  }
  return true;
}

template <class T>
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
  Index next = steps * part / parts;
  const auto start = [&](int stage) {
    if (next < end) start_step(in, i0, j0, next * kDepth, depth, shared + stage * kStage<T>);
    cp_async_commit();  // also nothing, so that waits count steps
    ++next;
  };
  T sum[kRows][kCols] = {};
  for (int s = 0; s < kStages - 1; ++s) start(s);
  int reading = 0, writing = kStages - 1;
  for (Index step = steps * part / parts; step < end; ++step) {
    cp_async_wait<kStages - 2>();
    __syncthreads();
    start(writing);  // into the stage that all have left
    multiply_step(sum, shared + reading * kStage<T>, row, col);
    writing = reading;
    reading = reading + 1 == kStages ? 0 : reading + 1;
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

/// Parts that take the least time by a model: rounds of blocks, the steps of each, and what a part costs to
/// hand over and to add, in steps.
constexpr Index kMostParts = 64, kHandOver = 4, kAddsPerStep = 4;
template <class T>
Index parts_of(const Out<T>& out, Index depth) {
  const Index tiles = tiles_of(out), steps = ceil_div(depth, kDepth), many = device_multiprocessors();
  Index best = 1, least = ceil_div(tiles, many) * steps;
  for (Index parts = 2; parts <= kMostParts && parts <= steps; ++parts) {
    const Index time =
        ceil_div(tiles * parts, many) * ceil_div(steps, parts) + kHandOver + parts / kAddsPerStep;
    if (time < least) least = time, best = parts;
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
  launch(gemm_split_depth<T>, blocks, kThreads, kShared<T>, context.stream, p, in, out,
         static_cast<int>(plan.parts), partial, plan.finished);
}

const Register<Gemm, float, Space::device> f32{
    "20_split_depth", run<float>, Traits{}.needs_sm(80), nullptr, prepare<float>, release<float>};
const Register<Gemm, double, Space::device> f64{
    "20_split_depth", run<double>, Traits{}.needs_sm(80), nullptr, prepare<double>, release<double>};

}  // namespace
}  // namespace plumb
