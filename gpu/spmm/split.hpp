// Long rows cut into parts, for the rungs in which they must not wait for one group of lanes: the analysis on
// the host, and the second pass that adds the parts of a row, always in the same order.
#pragma once
#include "gpu/device/host_array.hpp"
#include "gpu/spmm/rows.hpp"

namespace plumb {
namespace spmm {

constexpr Index kMostParts = 1024;  // of a row: what one block adds in a few rounds

/// A row of two or more parts, whose sums stand in `count` rows of the partial ones from `first`.
struct CutRow {
  std::int32_t row, first, count;
};

struct Split {
  Index parts = 0, cut_rows = 0, places = 0;
  const Part* part = nullptr;       // (parts)
  const CutRow* cut_row = nullptr;  // (cut_rows)
};

/// Parts of `length` entries, but never more than kMostParts of a row; even ones.
inline Index parts_of(Index row_length, Index length) {
  const Index parts = ceil_div(row_length, length);
  return parts < kMostParts ? parts : kMostParts;
}

/// Cuts the rows of more than `cut` entries.
inline Split prepare_split(const HostArray<std::int32_t>& row_ptr, Index cut, Index length,
                           Context& context) {
  Split split;
  for (Index i = 0; i + 1 < row_ptr.size(); ++i) {
    const Index entries = row_ptr[i + 1] - row_ptr[i];
    if (entries <= cut) continue;
    const Index parts = parts_of(entries, length);
    split.parts += parts;
    if (parts > 1) ++split.cut_rows, split.places += parts;
  }
  if (split.parts == 0) return split;
  HostArray<Part> part(split.parts);
  HostArray<CutRow> cut_row(split.cut_rows);
  Index at = 0, rows = 0;
  std::int32_t place = 0;
  for (Index i = 0; i + 1 < row_ptr.size(); ++i) {
    const Index begin = row_ptr[i], entries = row_ptr[i + 1] - begin;
    if (entries <= cut) continue;
    const Index parts = parts_of(entries, length);
    if (parts > 1) cut_row[rows++] = {static_cast<std::int32_t>(i), place, static_cast<std::int32_t>(parts)};
    for (Index p = 0; p < parts; ++p) {
      part[at++] = {static_cast<std::int32_t>(i), static_cast<std::int32_t>(begin + entries * p / parts),
                    static_cast<std::int32_t>(begin + entries * (p + 1) / parts), parts > 1 ? place++ : -1};
    }
  }
  split.part = upload(part, context);
  if (rows > 0) split.cut_row = upload(cut_row, context);
  return split;
}

constexpr int kJoinColumns = 32, kJoinSlots = 32;

// A block per cut row and 32 columns; slot s adds parts s, s + 32, ..., and the slots are added as a tree.
template <class T>
__global__ void __launch_bounds__(kJoinColumns* kJoinSlots)
    spmm_join_parts(const CutRow* cut_row /* (gridDim.x) */, const T* partial /* (places, ld) */, Index ld,
                    Out<T> out, Index first_column) {
  __shared__ T sums[kJoinSlots][kJoinColumns];
  const CutRow cut = cut_row[blockIdx.x];
  const Index column = first_column + static_cast<Index>(blockIdx.y) * kJoinColumns + threadIdx.x;
  const bool inside = column < out.C.cols;
  T sum = T(0);
  if (inside) {
#pragma unroll 8
    for (int p = static_cast<int>(threadIdx.y); p < cut.count; p += kJoinSlots)
      sum += partial[(cut.first + static_cast<Index>(p)) * ld + column];
  }
  sums[threadIdx.y][threadIdx.x] = sum;
  for (int d = kJoinSlots / 2; d > 0; d /= 2) {
    __syncthreads();
    if (static_cast<int>(threadIdx.y) < d)
      sums[threadIdx.y][threadIdx.x] += sums[threadIdx.y + d][threadIdx.x];
  }
  if (inside && threadIdx.y == 0) out.C.data[cut.row * out.C.ld + column] = sums[0][threadIdx.x];
}

/// Takes the split into `work`, with partial sums from workspace.
template <class T>
void take_split(const Split& split, Index n, Rows<T>& work, Context& context) {
  if (split.parts == 0) return;
  work.part_blocks = static_cast<unsigned>(ceil_div(split.parts, kRowThreads / 32));
  work.parts = split.parts;
  work.part = split.part;
  work.partial_ld = ceil_div(n, 4) * 4;  // packs of 16 bytes stay aligned
  work.partial = workspace_of<T>(split.places * work.partial_ld, context);
}

template <class T>
void join_parts(const Split& split, const Rows<T>& work, const Out<T>& out, Context& context) {
  if (split.cut_rows == 0) return;
  constexpr Index kMost = 65535;  // column tiles of one grid
  const Index tiles = ceil_div(out.C.cols, kJoinColumns);
  for (Index t = 0; t < tiles; t += kMost) {
    launch(spmm_join_parts<T>,
           dim3(static_cast<unsigned>(split.cut_rows),
                static_cast<unsigned>(tiles - t < kMost ? tiles - t : kMost)),
           dim3(kJoinColumns, kJoinSlots), 0, context.stream, split.cut_row, work.partial, work.partial_ld,
           out, t * kJoinColumns);
  }
}

}  // namespace spmm
}  // namespace plumb
