// The kernel of the rungs that give a row of A to groups of lanes, in one piece or in parts (split.hpp). What
// the rungs change is how many lanes, slots and entries in flight it has, and which rows it takes in what
// order.
#pragma once
#include "gpu/device/dependent_launch.hpp"
#include "gpu/spmm/row_kernels.hpp"

namespace plumb {
namespace spmm {

constexpr int kRowThreads = 128;

/// Part of a long row. place >= 0: its sums are row `place` of the partial sums; -1: it is the whole row.
struct alignas(16) Part {
  std::int32_t row, begin, end, place;
};

/// What is done and by how many lanes; the panels of columns of C are the grid's second extent.
template <class T>
struct Rows {
  int lanes = 0, slots = 1;             // of a row
  Index count = 0;                      // rows taken
  const std::int32_t* order = nullptr;  // (count), or null: row i is the i-th
  unsigned cut = ~0u;                   // longer rows are left to the parts
  unsigned part_blocks = 0;             // blocks before those of rows: a warp per part, all of it slots
  Index parts = 0;
  const Part* part = nullptr;      // (parts)
  scalar_t<T>* partial = nullptr;  // (places, partial_ld)
  Index partial_ld = 0;
  Index first_panel = 0;
};

/// Where the sums of a row go: a row of C, or one of the partial sums, which are kept as they were summed.
template <class T, bool = kHoldsSums<T>>
struct Place {
  scalar_t<T>* row = nullptr;
  PLUMB_DEVICE void in_c(out_t<T>* c) { row = c; }
  PLUMB_DEVICE void in_partial(scalar_t<T>* partial) { row = partial; }
  [[nodiscard]] PLUMB_DEVICE bool any() const { return row != nullptr; }
  template <class F>
  PLUMB_DEVICE void store(F f) const {
    f(row);
  }
};
template <class T>
struct Place<T, false> {
  out_t<T>* c = nullptr;
  scalar_t<T>* partial = nullptr;
  PLUMB_DEVICE void in_c(out_t<T>* row) { c = row; }
  PLUMB_DEVICE void in_partial(scalar_t<T>* row) { partial = row; }
  [[nodiscard]] PLUMB_DEVICE bool any() const { return c != nullptr || partial != nullptr; }
  template <class F>
  PLUMB_DEVICE void store(F f) const {
    if (c != nullptr)
      f(c);
    else
      f(partial);
  }
};

/// Entries [begin, end) by one slot of a group; the sums of all slots go to `place`, from `column` on, if it is any.
/// Lanes and Slots are 0 where `lanes` and `slots` are known at run time only. All 32 lanes call it.
template <int V, int Lanes, int Slots, int Batch, bool Apart, class T>
PLUMB_DEVICE void sum_and_store(const In<T>& in, unsigned begin, unsigned end, Index column, Place<T> place,
                                int lane, int lanes, int slots) {
  const int slot = (lane >> (__ffs(lanes) - 1)) & (slots - 1);
  scalar_t<T> sum[V] = {};
  if (place.any()) add_entries<V, Batch, Apart>(in, begin + slot, end, slots, column, lanes, sum);
  if constexpr (Slots > 0 && !Apart) {
    const int first = scatter_slots<Lanes, Slots>(sum, lane);
    constexpr int kColumns = kScattered<Slots, V>, kSame = Slots > V ? Slots / V : 1;
    if (place.any() && slot % kSame == 0)
      place.store([&](auto* row) { store_pack<kColumns>(row + column + first, sum, Slots == 1); });
  } else {
    join_slots(sum, lanes, slots);
    if (place.any() && slot == 0)
      place.store([&](auto* row) { store_columns<V, Apart>(row + column, sum, lanes, in.B.cols - column); });
  }
}

/// Which of the teams of `size` threads, a power of two, the calling thread is in; those of parts not
/// counted.
template <class T>
PLUMB_DEVICE Index team_of(const Rows<T>& work, int size) {
  return (static_cast<Index>(blockIdx.x - work.part_blocks) * kRowThreads + threadIdx.x) >> (__ffs(size) - 1);
}

/// The part of a long row that is the calling warp's, by all its lanes.
template <int V, int Lanes, int Batch, bool Apart, class T>
PLUMB_DEVICE void sum_part(const In<T>& in, const Out<T>& out, const Rows<T>& work, Index column, bool inside,
                           int lane) {
  const int lanes = Lanes > 0 ? Lanes : work.lanes;
  const Index p = static_cast<Index>(blockIdx.x) * (kRowThreads / 32) + threadIdx.x / 32;
  Part part{0, 0, 0, 0};
  Place<T> place;
  if (p < work.parts && inside) {
    part = work.part[p];
    if (part.place < 0)
      place.in_c(out.C.data + part.row * out.C.ld);
    else
      place.in_partial(work.partial + part.place * work.partial_ld);
  }
  sum_and_store<V, Lanes, (Lanes > 0 ? 32 / Lanes : 0), Batch, Apart>(in, part.begin, part.end, column, place,
                                                                      lane, lanes, 32 / lanes);
}

/// A lane's first column: of panel blockIdx.y, of those launched at once.
template <int V, bool Apart, class T>
PLUMB_DEVICE Index first_column(const Rows<T>& work, int lane, int lanes) {
  return (work.first_panel + blockIdx.y) * lanes * V +
         place_of_column<V, Apart>(lane & (lanes - 1), lanes, 0);
}

template <class T, int V, int Lanes, int Slots, int Batch, bool Apart = false>
__global__ void __launch_bounds__(kRowThreads) spmm_rows(In<T> in, Out<T> out, Rows<T> work) {
  const int lanes = Lanes > 0 ? Lanes : work.lanes, slots = Slots > 0 ? Slots : work.slots;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Index column = first_column<V, Apart>(work, lane, lanes);
  const bool inside = column < out.C.cols;
  let_dependent_begin();
  if (blockIdx.x < work.part_blocks)
    return sum_part<V, Lanes, Batch, Apart>(in, out, work, column, inside, lane);
  const Index at = team_of<T>(work, lanes * slots);
  unsigned begin = 0, end = 0;
  Place<T> place;
  if (at < work.count && inside) {
    const Index i = work.order != nullptr ? work.order[at] : at;
    begin = in.A.row_ptr[i], end = in.A.row_ptr[i + 1];
    if (end - begin <= work.cut) place.in_c(out.C.data + i * out.C.ld);
  }
  sum_and_store<V, Lanes, Slots, Batch, Apart>(in, begin, end, column, place, lane, lanes, slots);
}

/// Lanes that cover `columns` columns with V each: a power of two up to 32.
inline int lanes_for(Index columns, int v) {
  int lanes = 1;
  while (lanes < 32 && static_cast<Index>(lanes) * v < columns) lanes *= 2;
  return lanes;
}

/// As lanes_for, or fewer, where that makes panels of B of at most three fifths of a cache, at least 128 bytes of
/// a row and equally wide: 40 columns as 32 and 8 took 228 us where 40 at once take 172 (power law, H200).
template <class T>
int panel_lanes(Index b_rows, Index columns, int v, long long cache) {
  const auto pack = static_cast<int>(sizeof(in_t<T>)) * v;
  const int whole = lanes_for(columns, v);
  for (int lanes = whole; lanes == whole || lanes * pack >= 128; lanes /= 2) {
    const bool even = lanes == whole || columns % (lanes * v) == 0;
    if (even && b_rows * lanes * pack <= cache / 5 * 3) return lanes;
    if (lanes == 1) break;
  }
  return whole;
}

/// Groups of `lanes` lanes that share a row: four, or what fits a warp, where the mean row has six entries or
/// more for each. (Two or eight are within 4 % of four or one.)
inline int slots_for(Index rows, Index nnz, int lanes) {
  const int most = lanes >= 32 ? 1 : lanes >= 16 ? 2 : 4;
  return nnz >= 6 * most * rows ? most : 1;
}

/// Launches a kernel of these rungs: `blocks` blocks after those of parts, times the panels of C.
template <int V, class T, class Kernel, class... More>
void launch_panels(Kernel kernel, Index blocks, Rows<T> work, const In<T>& in, const Out<T>& out,
                   Context& context, const More&... more) {
  const Index panels = ceil_div(out.C.cols, static_cast<Index>(work.lanes) * V);
  constexpr Index kMostPanels = 65535;  // of one grid
  for (; work.first_panel < panels; work.first_panel += kMostPanels) {
    const Index left = panels - work.first_panel;
    launch(kernel,
           dim3(static_cast<unsigned>(work.part_blocks + blocks),
                static_cast<unsigned>(left < kMostPanels ? left : kMostPanels)),
           kRowThreads, 0, context.stream, in, out, work, more...);
  }
}

/// Columns of a lane: packs of v; or, where one alone fits and a warp does not hold all columns so, up to four that lie apart.
inline int columns_of_lane(int v, int lanes, Index columns) {
  if (v > 1 || lanes < 32 || columns <= 32) return v;
  return columns <= 64 ? 2 : 4;
}

template <class T, int V, int Lanes, int Slots, int Batch, bool Apart = false>
void launch_rows(const Rows<T>& work, const In<T>& in, const Out<T>& out, Context& context) {
  launch_panels<V>(spmm_rows<T, V, Lanes, Slots, Batch, Apart>,
                   ceil_div(work.count * work.lanes * work.slots, kRowThreads), work, in, out, context);
}

/// With lanes and slots of `work`, known at run time, and packs of V elements.
template <int Batch, class T>
void run_rows(int v, const Rows<T>& work, const In<T>& in, const Out<T>& out, Context& context) {
  if constexpr (kPackOf<in_t<T>> >= 8) {
    if (v == 8) return launch_rows<T, 8, 0, 0, Batch>(work, in, out, context);
  }
  if constexpr (kPackOf<in_t<T>> >= 4) {
    if (v == 4) return launch_rows<T, 4, 0, 0, Batch>(work, in, out, context);
  }
  if (v == 2) return launch_rows<T, 2, 0, 0, Batch>(work, in, out, context);
  switch (columns_of_lane(v, work.lanes, out.C.cols)) {
    case 2:
      return launch_rows<T, 2, 32, 1, Batch, true>(work, in, out, context);
    case 4:
      return launch_rows<T, 4, 32, 1, Batch, true>(work, in, out, context);
    default:
      return launch_rows<T, 1, 0, 0, Batch>(work, in, out, context);
  }
}

/// As run_rows<4>, with the lanes and slots that lanes_for() and slots_for() give compiled in, where packs
/// have 16 bytes and lanes are four or more, of 16-bit elements one or more.
template <class T>
void run_shaped_rows(int v, const Rows<T>& work, const In<T>& in, const Out<T>& out, Context& context) {
  constexpr int kV = kPackOf<in_t<T>>;
  const int shape = v == kV ? work.lanes * 10 + work.slots : 0;
  if constexpr (kV >= 8) {  // rows of 8 and 16 columns are whole in one lane and in two
    switch (shape) {
      case 11:
        return launch_rows<T, kV, 1, 1, 4>(work, in, out, context);
      case 14:
        return launch_rows<T, kV, 1, 4, 4>(work, in, out, context);
      case 21:
        return launch_rows<T, kV, 2, 1, 4>(work, in, out, context);
      case 24:
        return launch_rows<T, kV, 2, 4, 4>(work, in, out, context);
      default:
        break;
    }
  }
  switch (shape) {
    case 41:
      return launch_rows<T, kV, 4, 1, 4>(work, in, out, context);
    case 44:
      return launch_rows<T, kV, 4, 4, 4>(work, in, out, context);
    case 81:
      return launch_rows<T, kV, 8, 1, 4>(work, in, out, context);
    case 84:
      return launch_rows<T, kV, 8, 4, 4>(work, in, out, context);
    case 161:
      return launch_rows<T, kV, 16, 1, 4>(work, in, out, context);
    case 162:
      return launch_rows<T, kV, 16, 2, 4>(work, in, out, context);
    case 321:
      return launch_rows<T, kV, 32, 1, 4>(work, in, out, context);
    default:
      return run_rows<4>(v, work, in, out, context);
  }
}

}  // namespace spmm
}  // namespace plumb
