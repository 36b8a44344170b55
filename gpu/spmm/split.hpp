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
  Index many = 0;                   // cut rows of more than kJoinWarps parts; they come first
  const Part* part = nullptr;       // (parts)
  const CutRow* cut_row = nullptr;  // (cut_rows)
};

constexpr int kJoinWarps = 32;

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
    if (parts > kJoinWarps) ++split.many;
  }
  if (split.parts == 0) return split;
  HostArray<Part> part(split.parts);
  HostArray<CutRow> cut_row(split.cut_rows);
  Index at = 0, of_many = 0, of_few = split.many;
  std::int32_t place = 0;
  for (Index i = 0; i + 1 < row_ptr.size(); ++i) {
    const Index begin = row_ptr[i], entries = row_ptr[i + 1] - begin;
    if (entries <= cut) continue;
    const Index parts = parts_of(entries, length);
    if (parts > 1)
      cut_row[parts > kJoinWarps ? of_many++ : of_few++] = {static_cast<std::int32_t>(i), place,
                                                            static_cast<std::int32_t>(parts)};
    for (Index p = 0; p < parts; ++p) {
      part[at++] = {static_cast<std::int32_t>(i), static_cast<std::int32_t>(begin + entries * p / parts),
                    static_cast<std::int32_t>(begin + entries * (p + 1) / parts), parts > 1 ? place++ : -1};
    }
  }
  split.part = upload(part, context);
  if (split.cut_rows > 0) split.cut_row = upload(cut_row, context);
  return split;
}

constexpr int kJoinColumns = 32;

// Unit u is tile u % tiles, of 32 columns, of cut row u / tiles. The first many * tiles blocks take a unit each, of a row with many parts:
// warp w adds parts w, w + 32, ..., and the warps' sums are added as a tree. The warps of the other blocks take a unit each: a block for a
// row of two parts would mostly wait.
template <class T>
__global__ void __launch_bounds__(kJoinWarps* kJoinColumns)
    spmm_join_parts(const CutRow* cut_row /* (cut_rows) */, Index cut_rows, Index many, Index tiles,
                    const scalar_t<T>* partial /* (places, ld) */, Index ld, Out<T> out) {
  using S = scalar_t<T>;
  __shared__ S sums[kJoinWarps][kJoinColumns];
  const int lane = static_cast<int>(threadIdx.x) % kJoinColumns,
            warp = static_cast<int>(threadIdx.x) / kJoinColumns;
  const Index block = blockIdx.x, shared = many * tiles;
  const bool by_block = block < shared;
  const Index unit = by_block ? block : shared + (block - shared) * kJoinWarps + warp;
  if (unit >= cut_rows * tiles) return;  // whole warps, of a block that shares no unit
  const CutRow cut = cut_row[unit / tiles];
  const Index column = unit % tiles * kJoinColumns + lane;
  const bool inside = column < out.C.cols;
  S sum = 0;
  wait_for_primary();
  if (inside) {
#pragma unroll 8
    for (int p = by_block ? warp : 0; p < cut.count; p += by_block ? kJoinWarps : 1)
      sum += partial[(cut.first + static_cast<Index>(p)) * ld + column];
  }
  if (by_block) {
    sums[warp][lane] = sum;
    for (int d = kJoinWarps / 2; d > 0; d /= 2) {
      __syncthreads();
      if (warp < d) sums[warp][lane] += sums[warp + d][lane];
    }
    if (warp > 0) return;
    sum = sums[0][lane];
  }
  if (inside) out.C.data[cut.row * out.C.ld + column] = stored<out_t<T>>(sum);
}

/// Takes the split into `work`, with partial sums from workspace.
template <class T>
void take_split(const Split& split, Index n, Rows<T>& work, Context& context) {
  if (split.parts == 0) return;
  work.part_blocks = static_cast<unsigned>(ceil_div(split.parts, kRowThreads / 32));
  work.parts = split.parts;
  work.part = split.part;
  work.partial_ld = ceil_div(n, 4) * 4;  // packs of 16 bytes stay aligned
  work.partial = workspace_of<scalar_t<T>>(split.places * work.partial_ld, context);
}

template <class T>
void join_parts(const Split& split, const Rows<T>& work, const Out<T>& out, Context& context) {
  if (split.cut_rows == 0) return;
  const Index tiles = ceil_div(out.C.cols, kJoinColumns);
  launch_dependent(spmm_join_parts<T>,
                   split.many * tiles + ceil_div((split.cut_rows - split.many) * tiles, kJoinWarps),
                   kJoinWarps * kJoinColumns, 0, context.stream, split.cut_row, split.cut_rows, split.many,
                   tiles, work.partial, work.partial_ld, out);
}

}  // namespace spmm
}  // namespace plumb
