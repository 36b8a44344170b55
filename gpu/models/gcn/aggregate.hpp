// GCN, the fused kernel: a row of A S is summed in registers and finished there.
//
// Change    against a product and four element-wise passes: while a row is in registers, bias, ReLU and the
//           next layer's H W2, or bias and LogSoftmax, are computed. Only what the next product gathers is
//           written to memory. Parts of a long row meet 16 at a time, each time in the warp that comes last.
//           A product with few columns has its depth shared by the lanes of a row.
// Traffic   per entry 8 (fp64: 12) bytes of A, or 4 where its values follow from the degrees, one row of S in
//           16-byte pieces; per row what is kept.
// Fails at  rows of S beyond 512 (fp64: 256) columns, which it does not hold.
// Source    Gale, Zaharia, Young and Elsen, SC'20 (rows by length); Pang et al., PPoPP'24 (long rows apart).
#pragma once
#include "gpu/device/kernel.hpp"
#include "gpu/log_softmax/common.hpp"
#include "gpu/models/gcn/rows.hpp"

namespace plumb {
namespace gcn {

constexpr int kWarps = 8;  // of a block

/// 16 bytes of neighbours.
template <class T>
struct alignas(16) Pack {
  static constexpr int kV = 16 / sizeof(T);
  T at[kV];
};

/// Columns that a matrix of `columns` takes in memory: whole packs.
template <class T>
PLUMB_HOST_DEVICE constexpr Index padded(Index columns) {
  constexpr Index kV = Pack<T>::kV;
  return columns < 1 ? kV : (columns + kV - 1) / kV * kV;
}

/// W (rows, columns of whole packs) row-major without gaps; null: there is none.
template <class T>
struct Weights {
  const T* w = nullptr;
  int rows = 0, columns = 0;
  PLUMB_HOST_DEVICE int size() const { return w != nullptr ? rows * columns : 0; }
};

/// What is done with a row y of A S: z = [scale] y [before] [+ bias], [ReLU]. z, [next_scale] z [after] and
/// LogSoftmax(z) are written where a pointer is given. Matrices have whole packs of columns and no gaps.
/// Columns beyond the real ones are never read as values.
template <class T>
struct Epilogue {
  const T* scale = nullptr;  // (n)
  Weights<T> before;         // of (A X) W
  const T* bias = nullptr;
  bool relu = false;
  int columns = 0, width = 0;     // of z: real, and of whole packs
  T* z = nullptr;                 // (n, width)
  Weights<T> after;               // the next layer's
  const T* next_scale = nullptr;  // (n)
  T* next = nullptr;              // (n, after.columns); without `after` (n, width)
  T* log_softmax = nullptr;       // (n, width)
  PLUMB_HOST_DEVICE int next_width() const { return after.w != nullptr ? after.columns : width; }
};

/// The same for a matrix whose row 0 is row `first` of what the pointers are of.
template <class T>
Epilogue<T> from_row(Epilogue<T> e, Index first) {
  const auto move = [first](auto*& rows, int width) {
    if (rows != nullptr) rows += first * width;
  };
  move(e.scale, 1), move(e.next_scale, 1);
  move(e.z, e.width), move(e.next, e.next_width()), move(e.log_softmax, e.width);
  return e;
}

/// What a test may replace, to see that a mistake there is found.
struct Unmodified {
  template <class T>
  PLUMB_DEVICE static T edge(T value) {
    return value;
  }
  template <class T>
  PLUMB_DEVICE static T scale(const T* scales, Index row) {
    return __ldg(scales + row);
  }
  template <class T>
  PLUMB_DEVICE static T relu(T x) {  // NaN passes
    return x <= T(0) ? T(0) : x;
  }
  PLUMB_DEVICE static void sync() { __syncwarp(); }
  /// Whether a layer has the form that takes the least time, and which time counts of a form: what was measured.
  static bool chooses() { return device_has_clock(); }
  static double seconds_of(int /*form*/, double measured) { return measured; }
  PLUMB_HOST_DEVICE static int columns(int all) { return all; }  // that are kept
};

PLUMB_DEVICE Pack<float> gathered(const float* p) {
  const float4 v = __ldg(reinterpret_cast<const float4*>(p));
  return {{v.x, v.y, v.z, v.w}};
}
PLUMB_DEVICE Pack<double> gathered(const double* p) {
  const double2 v = __ldg(reinterpret_cast<const double2*>(p));
  return {{v.x, v.y}};
}

// What other blocks have written in this launch: not from the first-level cache.
PLUMB_DEVICE Pack<float> from_others(const float* p) {
  const float4 v = __ldcg(reinterpret_cast<const float4*>(p));
  return {{v.x, v.y, v.z, v.w}};
}
PLUMB_DEVICE Pack<double> from_others(const double* p) {
  const double2 v = __ldcg(reinterpret_cast<const double2*>(p));
  return {{v.x, v.y}};
}

/// Four entries.
template <class T>
struct Quad {
  std::int32_t col[4];
  T val[4];  // of ones not set
};

// Read once through the cache: no other row reads these.
PLUMB_DEVICE void read_values(const RowsView<float>& a, unsigned q, float (&val)[4]) {
  const float4 v = __ldcs(reinterpret_cast<const float4*>(a.val) + q);
  val[0] = v.x, val[1] = v.y, val[2] = v.z, val[3] = v.w;
}
PLUMB_DEVICE void read_values(const RowsView<double>& a, unsigned q, double (&val)[4]) {
  const double2* const at = reinterpret_cast<const double2*>(a.val) + 2 * static_cast<Index>(q);
  const double2 v = __ldcs(at), w = __ldcs(at + 1);
  val[0] = v.x, val[1] = v.y, val[2] = w.x, val[3] = w.y;
}
template <EntryValues kFrom, class T>
PLUMB_DEVICE Quad<T> read_quad(const RowsView<T>& a, unsigned q) {
  const int4 c = __ldcs(reinterpret_cast<const int4*>(a.col) + q);
  Quad<T> quad{{c.x, c.y, c.z, c.w}, {}};
  if constexpr (kFrom == EntryValues::stored) read_values(a, q, quad.val);
  return quad;
}
/// Takes columns and scales apart, when the rows are gathered: before that a quad without values is four registers.
template <EntryValues kFrom, class T>
PLUMB_DEVICE void take_apart(const RowsView<T>& a, Quad<T>& quad) {
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    const auto word = static_cast<std::uint32_t>(quad.col[e]);
    if constexpr (kFrom == EntryValues::by_column) quad.val[e] = __ldg(a.scale + (word >> a.shift));
    quad.col[e] = static_cast<std::int32_t>(word & ((1u << a.shift) - 1));
  }
}

template <class T>
PLUMB_DEVICE void store(T* p, const Pack<T>& v) {
  *reinterpret_cast<Pack<T>*>(p) = v;
}
// Written past the second-level cache, which holds what later rows gather.
PLUMB_DEVICE void store_last(float* p, const Pack<float>& v) {
  __stcs(reinterpret_cast<float4*>(p), float4{v.at[0], v.at[1], v.at[2], v.at[3]});
}
PLUMB_DEVICE void store_last(double* p, const Pack<double>& v) {
  __stcs(reinterpret_cast<double2*>(p), double2{v.at[0], v.at[1]});
}

/// A row, or several, in the registers of a warp. Each group of Lanes lanes holds one row, a lane holds Packs
/// packs of it; pack p of lane l covers the columns from (p Lanes + l) kV.
template <class T, int Lanes, int Packs, class Policy, bool kTwo>
struct Warp {
  static constexpr int kV = Pack<T>::kV, kGroups = 32 / Lanes, kColumns = Lanes * Packs * kV;
  static constexpr int kStaged = kColumns + kV;  // a pack more: groups then differ in their banks
  int lane, group;
  Pack<T> sum[Packs];

  PLUMB_DEVICE int column(int p) const { return (p * Lanes + lane % Lanes) * kV; }
  /// The column; for lanes whose result is not used, a column that exists.
  PLUMB_DEVICE int column_within(int p, int width) const { return column(p) < width ? column(p) : 0; }

  PLUMB_DEVICE void clear() {
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
#pragma unroll
      for (int v = 0; v < kV; ++v) sum[p].at[v] = T(0);
    }
  }

  template <EntryValues kFrom>
  PLUMB_DEVICE void add(const Quad<T>& quad, const Pack<T> (&x)[4][Packs]) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
#pragma unroll
      for (int p = 0; p < Packs; ++p) {
#pragma unroll
        for (int v = 0; v < kV; ++v) {
          if constexpr (kFrom != EntryValues::ones) {
            sum[p].at[v] += Policy::edge(quad.val[e]) * x[e][p].at[v];
          } else {
            sum[p].at[v] += x[e][p].at[v];
          }
        }
      }
    }
  }
  PLUMB_DEVICE static void gather(const Quad<T>& quad, const T* const (&from)[Packs], Index ld,
                                  Pack<T> (&x)[4][Packs]) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const Index at = quad.col[e] * ld;
#pragma unroll
      for (int p = 0; p < Packs; ++p) x[e][p] = gathered(from[p] + at);
    }
  }

  /// Adds quads begin, begin + step, ... below end.
  template <EntryValues kFrom>
  PLUMB_DEVICE void add_quads(const RowsView<T>& a, unsigned begin, unsigned end, unsigned step, const T* s,
                              Index ld, int width) {
    const T* from[Packs];
#pragma unroll
    for (int p = 0; p < Packs; ++p) from[p] = s + column_within(p, width);
    if (kTwo) {  // two quads of rows in flight
      for (; begin < end; begin += 2 * step) {
        const bool both = begin + step < end;
        Quad<T> one = read_quad<kFrom>(a, begin), two = read_quad<kFrom>(a, both ? begin + step : begin);
        take_apart<kFrom>(a, one), take_apart<kFrom>(a, two);
        Pack<T> x[4][Packs], y[4][Packs];
        gather(one, from, ld, x);
        gather(two, from, ld, y);
        add<kFrom>(one, x);
        if (both) add<kFrom>(two, y);
      }
      return;
    }
    if (begin >= end) return;
    Quad<T> now = read_quad<kFrom>(a, begin);
    for (;;) {
      const bool more = begin + step < end;
      Quad<T> later = now;
      if (more) later = read_quad<kFrom>(a, begin + step);  // in flight while this one is gathered
      take_apart<kFrom>(a, now);
      Pack<T> x[4][Packs];
      gather(now, from, ld, x);
      add<kFrom>(now, x);
      if (!more) return;
      begin += step;
      now = later;
    }
  }

  PLUMB_DEVICE void add_entries(const RowsView<T>& a, unsigned begin, unsigned end, unsigned step, const T* s,
                                Index ld, int width) {
    if (a.val != nullptr) {
      add_quads<EntryValues::stored>(a, begin, end, step, s, ld, width);
    } else if (a.scale != nullptr) {
      add_quads<EntryValues::by_column>(a, begin, end, step, s, ld, width);
    } else {
      add_quads<EntryValues::ones>(a, begin, end, step, s, ld, width);
    }
  }

  /// Multiplies the row by `factor`.
  PLUMB_DEVICE void scale(T factor) {
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
#pragma unroll
      for (int v = 0; v < kV; ++v) sum[p].at[v] *= factor;
    }
  }

  /// The sum over the groups, in every group, always in the same order.
  PLUMB_DEVICE void join_groups() {
#pragma unroll
    for (int d = Lanes; d < 32; d *= 2) {
#pragma unroll
      for (int p = 0; p < Packs; ++p) {
#pragma unroll
        for (int v = 0; v < kV; ++v) sum[p].at[v] += __shfl_xor_sync(kAllLanes, sum[p].at[v], d);
      }
    }
  }

  /// Gives this warp's sum, the same in every group, to the others of its row. True for the warp that comes last: it has the row's sum.
  PLUMB_DEVICE bool meet(const RowsView<T>& a, std::int32_t join, std::int32_t place, int width) {
    for (;;) {
      if (group == 0) {
#pragma unroll
        for (int p = 0; p < Packs; ++p) {
          if (column(p) < width) store(a.partial + place * a.partial_ld + column(p), sum[p]);
        }
      }
      __threadfence();  // orders the sums before the count that announces them
      __syncwarp();
      const Join at = a.join[join];
      unsigned others = 0;
      if (lane == 0) others = atomicAdd(a.arrived + join, 1u);
      others = __shfl_sync(kAllLanes, others, 0);
      __threadfence();  // orders the count before the reads of the other sums
      __syncwarp();     // in all lanes: the shuffle orders nothing
      if (others + 1 < static_cast<unsigned>(at.count)) return false;
      clear();
#pragma unroll 4
      for (int i = group; i < at.count; i += kGroups) {
        const T* const from = a.partial + (at.first + static_cast<Index>(i)) * a.partial_ld;
#pragma unroll
        for (int p = 0; p < Packs; ++p) {
          const Pack<T> other = from_others(from + column_within(p, width));
#pragma unroll
          for (int v = 0; v < kV; ++v) sum[p].at[v] += other.at[v];
        }
      }
      join_groups();
      if (lane == 0) a.arrived[join] = 0;  // for the next launch
      if (at.above < 0) return true;
      join = at.above, place = at.place;
    }
  }

  /// Multiplies the row by W; `staged` (kGroups, kStaged) belongs to this warp, w is in shared memory.
  PLUMB_DEVICE void times(const Weights<T>& w, int width, T* staged) {
    T* const mine = staged + group * kStaged;
    Policy::sync();  // earlier reads of `staged` are done
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
      if (column(p) < width) store(mine + column(p), sum[p]);
    }
    Policy::sync();
    clear();
    if (2 * w.columns <= Lanes * kV) return add_narrow(w, mine);
    for (int k = 0; k < w.rows; k += kV) {
      const Pack<T> h = *reinterpret_cast<const Pack<T>*>(mine + k);
#pragma unroll
      for (int e = 0; e < kV; ++e) {
        if (k + e >= w.rows) break;  // columns beyond the real ones may hold NaN
#pragma unroll
        for (int p = 0; p < Packs; ++p) {
          const Pack<T> of_w =
              *reinterpret_cast<const Pack<T>*>(w.w + (k + e) * w.columns + column_within(p, w.columns));
#pragma unroll
          for (int v = 0; v < kV; ++v) sum[p].at[v] += h.at[e] * of_w.at[v];
        }
      }
    }
  }

  /// The same where W has so few columns that lanes share the depth: each power of two of lanes has one part of it.
  PLUMB_DEVICE void add_narrow(const Weights<T>& w, const T* mine) {
    int across = 1;  // lanes for the columns
    while (across * kV < w.columns) across *= 2;
    const int within = lane % Lanes, col = within % across * kV < w.columns ? within % across * kV : 0;
    for (int k = within / across; k < w.rows; k += Lanes / across) {
      const T h = mine[k];
      const Pack<T> of_w = *reinterpret_cast<const Pack<T>*>(w.w + k * w.columns + col);
#pragma unroll
      for (int v = 0; v < kV; ++v) sum[0].at[v] += h * of_w.at[v];
    }
    for (int d = across; d < Lanes; d *= 2) {
#pragma unroll
      for (int v = 0; v < kV; ++v) sum[0].at[v] += __shfl_xor_sync(kAllLanes, sum[0].at[v], d);
    }
  }

  /// Stores to row `row` of (n, width). `gathered_next`: a later product reads it.
  PLUMB_DEVICE void write(T* to, Index row, int width, bool gathered_next) const {
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
      if (column(p) >= width) continue;
      if (gathered_next) {
        store(to + row * width + column(p), sum[p]);
      } else {
        store_last(to + row * width + column(p), sum[p]);
      }
    }
  }

  /// Replaces the row by its LogSoftmax over the first `columns`.
  PLUMB_DEVICE void take_log_softmax(int columns) {
    T m = log_softmax::lowest<T>(), total = T(0);
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
#pragma unroll
      for (int v = 0; v < kV; ++v)
        if (column(p) + v < columns) m = log_softmax::larger(m, sum[p].at[v]);
    }
#pragma unroll
    for (int d = Lanes / 2; d > 0; d /= 2) m = log_softmax::larger(m, __shfl_xor_sync(kAllLanes, m, d));
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
#pragma unroll
      for (int v = 0; v < kV; ++v)
        if (column(p) + v < columns) total += exp_of(sum[p].at[v] - m);
    }
#pragma unroll
    for (int d = Lanes / 2; d > 0; d /= 2) total += __shfl_xor_sync(kAllLanes, total, d);
    const T log_sum = log_of(total);
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
#pragma unroll
      for (int v = 0; v < kV; ++v) sum[p].at[v] = log_softmax::finish(sum[p].at[v], m, log_sum);
    }
  }
};

/// A copy in shared memory at `at`, which is advanced behind it. The whole block calls it; no barrier is
/// included.
template <class T>
PLUMB_DEVICE Weights<T> to_shared(const Weights<T>& w, T*& at) {
  T* const to = at;
  for (int i = static_cast<int>(threadIdx.x); i < w.size(); i += 32 * kWarps) to[i] = w.w[i];
  at += w.size();
  return {to, w.rows, w.columns};
}

/// Blocks of which a multiprocessor shall have registers.
template <class T, int Lanes, int Packs, bool kTwo>
constexpr int blocks_of() {
  if (kTwo) return 4;
  if (Packs > 1) return 0;
  return Lanes == 1 || (sizeof(T) == 4 && Lanes < 32) ? 6 : 5;
}

/// kTwo: two quads of rows in flight.
template <class T, int Lanes, int Packs, class Policy, bool kTwo>
__global__ void __launch_bounds__(32 * kWarps, blocks_of<T, Lanes, Packs, kTwo>())
    gcn_aggregate(RowsView<T> a, const T* s /* (columns of A + 1, ld), the last row zero */, Index ld,
                  int width /* of s */, Epilogue<T> e) {
  using W = Warp<T, Lanes, Packs, Policy, kTwo>;
  PLUMB_DYNAMIC_SHARED(T, shared);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  T* free = shared;
  const Weights<T> before = to_shared(e.before, free), after = to_shared(e.after, free);
  T* const staged = free + warp * (W::kGroups * W::kStaged);
  if (e.before.w != nullptr || e.after.w != nullptr) __syncthreads();

  W mine;
  mine.lane = static_cast<int>(threadIdx.x) % 32, mine.group = mine.lane / Lanes;
  mine.clear();
  const Index task = static_cast<Index>(blockIdx.x) * kWarps + warp;
  Index row = -1;  // of this group; -1: none, or another group has it
  if (task < a.parts) {
    const Part part = a.part[task];
    mine.add_entries(a, part.begin + mine.group, part.end, W::kGroups, s, ld, width);
    mine.join_groups();
    if (mine.group == 0) row = part.row;
    if (part.join >= 0 && !mine.meet(a, part.join, part.place, width)) row = -1;
  } else {
    const Index slot = (task - a.parts) * W::kGroups + mine.group;
    if (slot < a.slots) row = a.row[slot];
    if (slot - mine.group < a.slots) {  // uniform per warp: its slots are of one slice
      const unsigned begin = a.slice[slot / kSlice], end = a.slice[slot / kSlice + 1];
      mine.add_entries(a, begin + static_cast<unsigned>(slot % kSlice), end, kSlice, s, ld, width);
    }
  }

  if (e.scale != nullptr && row >= 0) mine.scale(Policy::scale(e.scale, row));
  if (before.w != nullptr && e.before.w != nullptr) mine.times(before, width, staged);
  if (e.bias != nullptr) {
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
      const Pack<T> b = gathered(e.bias + mine.column_within(p, e.width));
#pragma unroll
      for (int v = 0; v < W::kV; ++v) mine.sum[p].at[v] += b.at[v];
    }
  }
  if (e.relu) {
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
#pragma unroll
      for (int v = 0; v < W::kV; ++v) mine.sum[p].at[v] = Policy::relu(mine.sum[p].at[v]);
    }
  }
  if (e.z != nullptr && row >= 0) {
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
      if (mine.column(p) < Policy::columns(e.width)) store(e.z + row * e.width + mine.column(p), mine.sum[p]);
    }
  }
  if (e.after.w != nullptr) mine.times(after, e.width, staged);
  if (e.next != nullptr && row >= 0) {
    if (e.next_scale != nullptr) mine.scale(Policy::scale(e.next_scale, row));
    mine.write(e.next, row, e.next_width(), true);
  }
  if (e.log_softmax != nullptr) {
    mine.take_log_softmax(e.columns);
    if (row >= 0) mine.write(e.log_softmax, row, e.width, false);
  }
}

/// The most columns that a row may have at any step of the kernel.
template <class T>
constexpr Index kWidest = 32 * 4 * Pack<T>::kV;
/// The most elements of W that are taken into shared memory.
template <class T>
constexpr Index kMostWeights = 64 * 1024 / static_cast<Index>(sizeof(T));

/// Lanes for a row of so many packs: in fp64 five to eight packs are two for each of four lanes.
template <class T>
int lanes_of(Index packs) {
  int lanes = 1;
  while (lanes < packs && lanes < 32) lanes *= 2;
  return lanes == 8 && sizeof(T) == 8 ? 4 : lanes;
}

/// Entries of a long row for one warp, where rows of S have up to `columns`: each group of lanes has as many as of the longest short row.
template <class T>
Index part_length(Index columns) {
  return 32 / lanes_of<T>(columns / Pack<T>::kV) * kLongRow;
}

template <class T, int Lanes, int Packs, class Policy, bool kTwo = false>
void launch_as(const RowsView<T>& a, const T* s, Index ld, int width, const Epilogue<T>& e, void* stream) {
  using W = Warp<T, Lanes, Packs, Policy, kTwo>;
  const Index tasks = a.parts + (a.slots + W::kGroups - 1) / W::kGroups;
  const bool multiplies = e.before.w != nullptr || e.after.w != nullptr;
  const Index elements =
      e.before.size() + e.after.size() + (multiplies ? kWarps * W::kGroups * W::kStaged : 0);
  launch(gcn_aggregate<T, Lanes, Packs, Policy, kTwo>, (tasks + kWarps - 1) / kWarps, 32 * kWarps,
         static_cast<std::size_t>(elements) * sizeof(T), stream, a, s, ld, width, e);
}

/// A S with its epilogue; row s.rows of `s` holds zeros. Widths up to kWidest.
template <class T, class Policy = Unmodified>
void launch_aggregate(const RowsView<T>& a, const T* s, Index ld, int width, const Epilogue<T>& e,
                      void* stream) {
  Index widest = width > e.width ? width : e.width;
  if (e.after.columns > widest) widest = e.after.columns;
  const Index packs = widest / Pack<T>::kV;
  switch (lanes_of<T>(packs)) {
    case 1:
      return launch_as<T, 1, 1, Policy>(a, s, ld, width, e, stream);
    case 2:
      return launch_as<T, 2, 1, Policy>(a, s, ld, width, e, stream);
    case 4:
      if constexpr (sizeof(T) == 8) {
        if (packs > 4) return launch_as<T, 4, 2, Policy, true>(a, s, ld, width, e, stream);
      }
      return launch_as<T, 4, 1, Policy>(a, s, ld, width, e, stream);
    case 8:
      if constexpr (sizeof(T) == 4) return launch_as<T, 8, 1, Policy>(a, s, ld, width, e, stream);
      break;
    case 16:
      return launch_as<T, 16, 1, Policy>(a, s, ld, width, e, stream);
    default:
      if (packs <= 32) return launch_as<T, 32, 1, Policy>(a, s, ld, width, e, stream);
      if (packs <= 64) return launch_as<T, 32, 2, Policy>(a, s, ld, width, e, stream);
      return launch_as<T, 32, 4, Policy>(a, s, ld, width, e, stream);
  }
}

}  // namespace gcn
}  // namespace plumb
