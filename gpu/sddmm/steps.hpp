// The kernel of rungs 7, 8 and 12: a warp goes over its share of the entries in steps of 32, whatever rows
// they are in. Apart from them because the adaptive rung picks among its instances.
//
// A group of kWidth lanes takes kWidth consecutive entries of the step. All rows of Y of a batch are asked
// for before the first is used. The sums of a group's entries are added across its lanes by a transposing
// butterfly: width - 1 shuffles leave in lane u the sum of the u-th entry, where one entry alone would take
// log2(width) for a single result; so lane l ends up with the step's entry l.
//
// What counts beside the gather is the number of integer instructions and of shuffles: both run at half
// rate or less. Hence columns are loaded by every lane of a group instead of handed around, addresses are
// one multiply of 32 by 32 bits, and rows are searched only in steps that hold an end of one.
#pragma once
#include "gpu/device/memory.hpp"
#include "gpu/sddmm/common.hpp"

namespace plumb {
namespace sddmm {

constexpr int kStep = 32;  // entries
constexpr int kStepThreads = 128;

/// Row of every 32nd entry; one more at the end, which is that of the last entry.
static __global__ void __launch_bounds__(kThreads)
    sddmm_step_rows(const std::int32_t* row_ptr /* (rows + 1) */, Index rows, Index nnz,
                    std::int32_t* step_row /* (steps + 1) */, Index steps) {
  const Index s = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (s > steps) return;
  step_row[s] = static_cast<std::int32_t>(row_of(row_ptr, 0, rows, s < steps ? s * kStep : nnz - 1));
}

/// The rows of a step's entries: e is the lane's own, ascending over the lanes; `from` is lane 0's row. The
/// ends of 32 rows are held by the warp and searched by shuffles; where 128 rows do not reach, as among
/// empty ones, each lane searches for itself.
PLUMB_DEVICE int rows_of_step(const std::int32_t* row_ptr /* (rows + 1) */, Index rows, int from, int e,
                              int lane) {
  constexpr int kWindows = 4;
  int row = -1;
  for (int w = 0; w < kWindows; ++w, from += 32) {
    const Index next = static_cast<Index>(from) + lane + 1;
    const int end = __ldg(row_ptr + (next < rows ? next : rows));
    int ended = 0;  // rows of the window that end at or before e, if not all do
#pragma unroll
    for (int d = 16; d > 0; d /= 2) {
      if (__shfl_sync(kAllLanes, end, ended + d - 1) <= e) ended += d;
    }
    const int last = __shfl_sync(kAllLanes, end, 31);
    if (row < 0 && last > e) row = from + ended;
    if (__all_sync(kAllLanes, row >= 0)) return row;
  }
  return row < 0 ? static_cast<int>(row_of(row_ptr, from < rows ? from : rows - 1, rows, e)) : row;
}

/// Sums over the lanes of each group of kWidth: lane u of a group gets the group's sum of sum[u]. By
/// recursion: a loop that halves is not unrolled at 32, and the sums would lie in memory.
template <int kHalf, int kWidth, class S>
PLUMB_DEVICE S transpose_sums(S (&sum)[kWidth], int part) {
  if constexpr (kHalf > 0) {
    const bool upper = (part & kHalf) != 0;
#pragma unroll
    for (int u = 0; u < kHalf; ++u) {
      const S keep = upper ? sum[u + kHalf] : sum[u], give = upper ? sum[u] : sum[u + kHalf];
      sum[u] = keep + __shfl_xor_sync(kAllLanes, give, kHalf);
    }
    return transpose_sums<kHalf / 2>(sum, part);
  } else {
    return sum[0];
  }
}

/// Lanes of an entry; terms if known (else 0); entries of a group whose rows of Y are in flight together. X
/// stays in registers until a row ends.
template <class T, int Width, int Terms, int Batch, bool IsAligned>
struct StepShape {
  static constexpr int kWidth = Width, kTerms = Terms, kBatch = Batch;
  static constexpr bool kAligned = IsAligned;
  static constexpr int kStride = kWidth * kPieceSize<T>;             // elements of a row taken at once
  static constexpr int kPieces = kTerms > 0 ? kTerms / kStride : 1;  // of a lane, in flight together
  static_assert(kTerms % kStride == 0 && kWidth % kBatch == 0, "whole pieces, whole batches");
};

/// Row i of a matrix whose rows are `bytes` apart: one multiply-add of 32 by 32 bits to 64.
template <class E>
PLUMB_DEVICE const E* row_at(const E* matrix, int i, unsigned bytes) {
  return reinterpret_cast<const E*>(reinterpret_cast<const char*>(matrix) +
                                    static_cast<unsigned long long>(static_cast<unsigned>(i)) * bytes);
}

/// How far apart rows lie, for row_at(): less than 4 GiB, as steps_support() asks.
template <class E>
unsigned row_bytes(const DenseView<const E, Space::device>& m) {
  return static_cast<unsigned>(m.ld * static_cast<Index>(sizeof(E)));
}

/// Columns of the kWidth entries from `col` on: as vectors where the whole array lies on 16 bytes and ends
/// after them.
template <int kWidth>
PLUMB_DEVICE void load_columns(const std::int32_t* col, Index count, bool whole, int (&column)[kWidth]) {
  if (kWidth % 4 == 0 && whole) {
#pragma unroll
    for (int u = 0; u < kWidth; u += 4) {
      const int4 c = __ldcs(reinterpret_cast<const int4*>(col + u));  // read once: Y stays in the cache
      column[u] = c.x, column[(u + 1) % kWidth] = c.y, column[(u + 2) % kWidth] = c.z,
      column[(u + 3) % kWidth] = c.w;
    }
  } else {  // past the last entry: it again, and the product is not stored
#pragma unroll
    for (int u = 0; u < kWidth; ++u) column[u] = __ldg(col + (u < count ? u : count - 1));
  }
}

/// The products of a step, lane by lane. `begins` has a bit for every entry that is not in the row of the one
/// before it.
template <class Shape, class E>
PLUMB_DEVICE void multiply_step(const E* x, unsigned x_bytes, const E* y, unsigned y_bytes, Index terms,
                                int row, unsigned begins, const int (&column)[Shape::kWidth], int lane,
                                value_t<E> (&sum)[Shape::kWidth]) {
  constexpr int kWidth = Shape::kWidth, kBatch = Shape::kBatch, kPieces = Shape::kPieces;
  constexpr unsigned kFirsts = kWidth == 2 ? 0x55555555u : kWidth == 4 ? 0x11111111u : 0x01010101u;
  const int part = lane % kWidth, group = lane / kWidth;
  Piece<E> of_x[kPieces];
#pragma unroll
  for (int first = 0; first < kWidth; first += kBatch) {
    for (Index at = 0; at < terms; at += kPieces * Shape::kStride) {
      Piece<E> of_y[kBatch][kPieces];
#pragma unroll
      for (int b = 0; b < kBatch; ++b) {
        const E* y_row = row_at(y, column[first + b], y_bytes);
#pragma unroll
        for (int p = 0; p < kPieces; ++p)
          of_y[b][p] = load_piece<Shape::kAligned>(y_row, at + p * Shape::kStride, part, kWidth, terms);
      }
#pragma unroll
      for (int b = 0; b < kBatch; ++b) {
        const int u = first + b;
        const bool again = Shape::kTerms > 0 ? u == 0 : b == 0;  // what is held is of another piece
        if (again || (begins & kFirsts << u) != 0) {             // the same in all lanes
          const E* x_row = row_at(x, __shfl_sync(kAllLanes, row, group * kWidth + u), x_bytes);
#pragma unroll
          for (int p = 0; p < kPieces; ++p)
            of_x[p] = load_piece<Shape::kAligned>(x_row, at + p * Shape::kStride, part, kWidth, terms);
        }
#pragma unroll
        for (int p = 0; p < kPieces; ++p) sum[u] = add_product(sum[u], of_x[p], of_y[b][p]);
      }
    }
  }
}

template <class Shape, class T>
__global__ void __launch_bounds__(kStepThreads)
    sddmm_steps(In<T> in, Out<T> out, const std::int32_t* step_row /* (all steps + 1) */,
                int steps /* of a warp */, unsigned x_bytes, unsigned y_bytes, bool add /* to s */) {
  constexpr int kWidth = Shape::kWidth;
  const int lane = static_cast<int>(threadIdx.x) % 32, group = lane / kWidth;
  const Index warp = (static_cast<Index>(blockIdx.x) * kStepThreads + threadIdx.x) / 32;
  const Index nnz = in.A.nnz, all = (nnz + kStep - 1) / kStep;
  Index s = warp * steps;
  if (s >= all) return;  // whole warps
  const Index end = s + steps < all ? s + steps : all;
  const Index terms = Shape::kTerms > 0 ? Shape::kTerms : in.X.cols;
  const bool vectors = reinterpret_cast<std::uintptr_t>(in.A.col) % 16 == 0;
  int from = __ldg(step_row + s);
  for (; s < end; ++s) {
    const Index first = s * kStep, left = nnz - first;
    int column[kWidth];
    const int skip = group * kWidth < left ? group * kWidth : 0;  // a group past the end repeats the first's
    load_columns(in.A.col + first + skip, left - skip, vectors && left >= kStep, column);
    const int next = __ldg(step_row + s + 1);
    int row = from;
    unsigned begins = 1;
    if (from != next) {  // the same in all lanes
      row = rows_of_step(in.A.row_ptr, in.A.rows, from,
                         static_cast<int>(lane < left ? first + lane : nnz - 1), lane);
      const int before = __shfl_up_sync(kAllLanes, row, 1);
      begins = __ballot_sync(kAllLanes, lane == 0 || row != before);
    }
    from = next;
    using S = scalar_t<T>;
    const S before = add && lane < left ? load_value_once(out.s.data + first + lane) : S(0);
    S sum[kWidth] = {};
    multiply_step<Shape>(in.X.data, x_bytes, in.Y.data, y_bytes, terms, row, begins, column, lane, sum);
    const S total = transpose_sums<kWidth / 2>(sum, lane % kWidth);
    if (lane < left) store_value(out.s.data + first + lane, before + total);
  }
}

/// What prepare() finds once for a pattern.
struct StepPlan {
  const std::int32_t* step_row;
  bool sliced = false, add = false;  // k is one of several slices; not the first, which add to s
};

template <class T>
StepPlan prepare_steps(const In<T>& in, Context& context) {
  const Index steps = ceil_div(in.A.nnz, kStep);
  auto* step_row =
      static_cast<std::int32_t*>(context.workspace((steps + 1) * static_cast<Index>(sizeof(std::int32_t))));
  if (steps > 0) {
    launch(sddmm_step_rows, ceil_div(steps + 1, kThreads), kThreads, 0, context.stream, in.A.row_ptr,
           in.A.rows, in.A.nnz, step_row, steps);
  }
  return {step_row};
}

/// Why a matrix is not for these kernels, or null.
template <class T>
const char* steps_support(const Problem<T>&, const In<T>& in, const Out<T>&) {
  constexpr Index kMost = Index{1} << 32;
  return in.X.ld * static_cast<Index>(sizeof(in_t<T>)) < kMost &&
                 in.Y.ld * static_cast<Index>(sizeof(in_t<T>)) < kMost
             ? nullptr
             : "rows of 4 GiB or more";
}

template <class T>
void* prepare_step_plan(const Problem<T>&, const In<T>& in, const Out<T>&, Context& context) {
  return new StepPlan(prepare_steps(in, context));
}

inline void release_step_plan(void* plan) { delete static_cast<StepPlan*>(plan); }

/// Steps of a warp: two where there are enough. With more, warps that run together are at rows further apart,
/// and share less of Y.
inline int steps_per_warp(Index nnz) {
  constexpr Index kWarps = 128;  // of a multiprocessor
  return nnz / kStep >= 2 * kWarps * device_multiprocessors() ? 2 : 1;
}

template <class Shape, class T>
void run_steps(const StepPlan& plan, const In<T>& in, const Out<T>& out, Context& context) {
  const int steps = steps_per_warp(in.A.nnz);
  launch(sddmm_steps<Shape, T>, ceil_div(in.A.nnz, static_cast<Index>(steps) * kStep * (kStepThreads / 32)),
         kStepThreads, 0, context.stream, in, out, plan.step_row, steps, row_bytes(in.X), row_bytes(in.Y),
         plan.add);
}

/// Rows end so often that the fewer entries are one group's, the less it waits at their ends.
template <class T>
bool rows_are_short(const In<T>& in) {
  return in.A.nnz < 10 * in.A.rows;
}

/// Any k: two, four or eight lanes by its size.
template <bool Aligned, class T>
void run_any_terms(const StepPlan& plan, const In<T>& in, const Out<T>& out, Context& context) {
  constexpr int kSize = kPieceSize<T>;
  if (in.X.cols <= 2 * kSize) return run_steps<StepShape<T, 2, 0, 2, Aligned>>(plan, in, out, context);
  if (in.X.cols <= 4 * kSize) return run_steps<StepShape<T, 4, 0, 4, Aligned>>(plan, in, out, context);
  run_steps<StepShape<T, 8, 0, 4, Aligned>>(plan, in, out, context);
}

template <class T>
constexpr int kSliceTerms = 128 / sizeof(in_t<T>);  // of k: whole lines of Y

/// Of fp32 and fp64, with k known.
template <class T>
void run_known_terms(const StepPlan& plan, const In<T>& in, const Out<T>& out, Context& context) {
  constexpr bool kWide = sizeof(in_t<T>) == 8;  // twice the registers
  if (kWide && in.X.cols == 32) return run_steps<StepShape<T, 8, 32, 2, true>>(plan, in, out, context);
  if (in.X.cols == 64) return run_steps<StepShape<T, 8, 64, kWide ? 1 : 2, true>>(plan, in, out, context);
  if (in.X.cols == 128) return run_steps<StepShape<T, 8, 128, kWide ? 1 : 2, true>>(plan, in, out, context);
  run_any_terms<true>(plan, in, out, context);
}

/// Of 16-bit elements: rows of half as many bytes.
template <class T>
void run_known_half_terms(const StepPlan& plan, const In<T>& in, const Out<T>& out, Context& context) {
  if (in.X.cols == 16) return run_steps<StepShape<T, 2, 16, 2, true>>(plan, in, out, context);
  if (in.X.cols == 32) return run_steps<StepShape<T, 4, 32, 4, true>>(plan, in, out, context);
  if (in.X.cols == 128) return run_steps<StepShape<T, 8, 128, 4, true>>(plan, in, out, context);
  run_any_terms<true>(plan, in, out, context);
}

/// The kernel for this k and these rows.
template <class T>
void run_specialised(const StepPlan& plan, const In<T>& in, const Out<T>& out, Context& context) {
  if (!on_16_bytes(in)) return run_any_terms<false>(plan, in, out, context);
  if (in.X.cols == kSliceTerms<T> && (rows_are_short(in) || plan.sliced))
    return run_steps<StepShape<T, 4, kSliceTerms<T>, 4, true>>(plan, in, out, context);
  if (in.X.cols == kSliceTerms<T>)
    return run_steps<StepShape<T, 8, kSliceTerms<T>, 8, true>>(plan, in, out, context);
  if constexpr (sizeof(in_t<T>) == 2)
    run_known_half_terms(plan, in, out, context);
  else
    run_known_terms(plan, in, out, context);
}

/// Slices of k one after the other, each a launch that adds to s.
template <class T>
void run_slices(const StepPlan& plan, const In<T>& in, const Out<T>& out, Context& context) {
  const Index terms = in.X.cols;
  Index at = 0;
  do {
    In<T> slice = in;
    slice.X.data += at, slice.Y.data += at;
    slice.X.cols = slice.Y.cols = terms - at < kSliceTerms<T> ? terms - at : kSliceTerms<T>;
    run_specialised({plan.step_row, true, at > 0}, slice, out, context);
    at += kSliceTerms<T>;
  } while (at < terms);
}

}  // namespace sddmm
}  // namespace plumb
