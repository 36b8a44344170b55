// 4 x 4 blocks, as rungs 19 (BSR) and 20 (blocked ELL) use them: the conversion on the host, and one kernel
// for both.
//
// A block holds 16 values, row-major, and a mask of those that are entries: an empty place adds nothing,
// since 0 * NaN would.
#pragma once
#include <algorithm>
#include <vector>

#include "gpu/spmv/features.hpp"
#include "reference/core/csr.hpp"

namespace plumb {
namespace spmv {

constexpr int kBlock = 4;
constexpr int kBlockValues = kBlock * kBlock;
constexpr int kBlockThreads = 256;

/// Block row b has the blocks [start[b], start[b + 1]). A block of column -1 is padding.
template <class T>
struct Blocks {
  Index block_rows = 0;
  const Index* start = nullptr;         // (block_rows + 1)
  const std::int32_t* col = nullptr;    // (blocks), of block columns
  const std::uint16_t* mask = nullptr;  // (blocks), bit r * 4 + c
  const T* val = nullptr;               // (blocks, 4, 4)
};

/// Where the blocks are, on the host.
struct BlockPattern {
  std::vector<Index> start;       // (block_rows + 1)
  std::vector<std::int32_t> col;  // (blocks), ascending in a block row
  Index widest = 0;               // blocks in the longest block row
  [[nodiscard]] Index block_rows() const { return static_cast<Index>(start.size()) - 1; }
};

/// Stops, with start.back() beyond `most`, once there are more blocks than that.
inline BlockPattern find_blocks(const HostArray<std::int32_t>& row_ptr, const HostArray<std::int32_t>& col,
                                Index cols, Index most) {
  const Index rows = row_ptr.size() - 1;
  BlockPattern pattern;
  pattern.start.push_back(0);
  std::vector<Index> seen(static_cast<std::size_t>(ceil_div(cols, kBlock)), -1);
  for (Index b = 0; b < ceil_div(rows, kBlock) && static_cast<Index>(pattern.col.size()) <= most; ++b) {
    const Index last = (b + 1) * kBlock < rows ? (b + 1) * kBlock : rows;
    const std::size_t first_block = pattern.col.size();
    for (Index k = row_ptr[b * kBlock]; k < row_ptr[last]; ++k) {
      Index& mark = seen[static_cast<std::size_t>(col[k] / kBlock)];
      if (mark != b) mark = b, pattern.col.push_back(col[k] / kBlock);
    }
    std::sort(pattern.col.begin() + static_cast<std::ptrdiff_t>(first_block), pattern.col.end());
    pattern.start.push_back(static_cast<Index>(pattern.col.size()));
    pattern.widest = std::max(pattern.widest, static_cast<Index>(pattern.col.size() - first_block));
  }
  return pattern;
}

/// A's entries in blocks; with `width` >= 0 every block row is padded to that many.
template <class T>
Blocks<T> make_blocks(const In<T>& in, Index width, const BlockPattern& pattern,
                      const HostArray<std::int32_t>& row_ptr, const HostArray<std::int32_t>& col,
                      Context& context) {
  const HostCopy<T> val(in.A.val, in.A.nnz, context.stream);
  const Index block_rows = pattern.block_rows();
  HostArray<Index> start(block_rows + 1);
  for (Index b = 0; b <= block_rows; ++b)
    start[b] = width < 0 ? pattern.start[static_cast<std::size_t>(b)] : b * width;
  const Index blocks = start[block_rows];
  HostArray<std::int32_t> block_col(blocks);
  HostArray<std::uint16_t> mask(blocks);
  HostArray<T> values(blocks * kBlockValues);
  block_col.fill(-1), mask.fill(0), values.fill(T(0));
  for (Index b = 0; b < block_rows; ++b) {
    const auto* begin = pattern.col.data() + pattern.start[static_cast<std::size_t>(b)];
    const auto* end = pattern.col.data() + pattern.start[static_cast<std::size_t>(b) + 1];
    for (const auto* c = begin; c != end; ++c) block_col[start[b] + (c - begin)] = *c;
    for (Index i = b * kBlock; i < (b + 1) * kBlock && i < in.A.rows; ++i) {
      for (Index k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
        const Index at = start[b] + (std::lower_bound(begin, end, col[k] / kBlock) - begin);
        const int place = static_cast<int>(i % kBlock) * kBlock + col[k] % kBlock;
        values[at * kBlockValues + place] += val[k];
        mask[at] = static_cast<std::uint16_t>(mask[at] | 1u << place);
      }
    }
  }
  return {block_rows, upload(start, context), upload(block_col, context), upload(mask, context),
          upload(values, context)};
}

// A warp per block row, two blocks at a time: lane l has place l % 16 of block l / 16, so the values are read
// in order.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    spmv_blocks(Problem<T> p, In<T> in, Out<T> out, Blocks<T> blocks) {
  const Index block_row = (static_cast<Index>(blockIdx.x) * kBlockThreads + threadIdx.x) / 32;
  if (block_row >= blocks.block_rows) return;  // whole warps
  const int lane = static_cast<int>(threadIdx.x) % 32, place = lane % kBlockValues,
            half = lane / kBlockValues;
  const Index end = blocks.start[block_row + 1];
  T sum = T(0);
  for (Index b = blocks.start[block_row] + half; b < end; b += 2) {
    if ((blocks.mask[b] >> place & 1) != 0) {
      sum += blocks.val[b * kBlockValues + place] *
             __ldg(in.x.data + static_cast<Index>(blocks.col[b]) * kBlock + place % kBlock);
    }
  }
  sum += __shfl_xor_sync(kAllLanes, sum, 1);
  sum += __shfl_xor_sync(kAllLanes, sum, 2);
  sum += __shfl_xor_sync(kAllLanes, sum, 16);
  const Index i = block_row * kBlock + place / kBlock;
  if (half == 0 && place % kBlock == 0 && i < in.A.rows) finish_row(p, out.y.data, i, sum);
}

template <class T>
void run_blocks(const Blocks<T>& blocks, const Problem<T>& p, const In<T>& in, const Out<T>& out,
                Context& context) {
  launch(spmv_blocks<T>, ceil_div(blocks.block_rows, kBlockThreads / 32), kBlockThreads, 0, context.stream, p,
         in, out, blocks);
}

/// Most blocks that a format may store before it is refused.
inline Index most_blocks(Index rows, Index nnz) { return (3 * (nnz + rows) + 1024) / kBlockValues; }

}  // namespace spmv
}  // namespace plumb
