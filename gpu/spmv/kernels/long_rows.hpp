// Long rows apart from the others: tiles of the long ones and groups of lanes on the rest, in one launch.
// Apart from rung 22 because the adaptive rung picks it too.
#pragma once
#include "gpu/device/host_array.hpp"
#include "gpu/spmv/kernels/vector_per_row.hpp"

namespace plumb {
namespace spmv {

constexpr int kLongThreads = 256;
constexpr int kLongRows = 4;  // of a group of lanes, in flight together

/// Which rows are long, and how they are cut: a tile is kLongThreads * each entries, what a block takes.
struct LongShape {
  Index least;  // entries of the shortest row that is long
  int each;     // entries of a thread, 2 or 8
  [[nodiscard]] Index tile() const { return static_cast<Index>(kLongThreads) * each; }
};
constexpr LongShape kLongShape{2048, 8};

struct LongTile {
  std::int32_t begin, end;  // entries
  std::int32_t row;         // which of the long ones
};

struct LongRow {
  std::int32_t row, first_tile, tiles;
};

template <class T>
struct LongRowsPlan {
  LongShape shape = kLongShape;
  Index tiles = 0;
  int width = 2;                   // lanes of a row that is not long
  const LongTile* tile = nullptr;  // (tiles), by row
  const LongRow* row = nullptr;
  scalar_t<T>* partial = nullptr;  // (tiles)
  unsigned* done = nullptr;        // tiles of each long row that are summed; 0 between runs
};

// The first blocks take a tile of a long row each; the one that finishes a row's last tile adds them up,
// always in the same order. The others take rows that are not long, a group of Width lanes each, kLongRows at
// a time.
template <class T, int Width, int Each>
__global__ void __launch_bounds__(kLongThreads)
    spmv_long_rows(Problem<T> p, In<T> in, Out<T> out, LongRowsPlan<T> plan) {
  using S = scalar_t<T>;
  __shared__ S scratch[kLongThreads / 32];
  __shared__ bool last;
  if (static_cast<Index>(blockIdx.x) < plan.tiles) {
    const LongTile tile = plan.tile[blockIdx.x];
    const Index first = tile.begin + static_cast<Index>(threadIdx.x);
    std::int32_t c[Each];
    S v[Each], sum = 0;
#pragma unroll
    for (int u = 0; u < Each; ++u) {
      const Index k = first + u * kLongThreads;
      c[u] = k < tile.end ? __ldcs(in.A.col + k) : -1;
      v[u] = k < tile.end ? load_value_once(in.A.val + k) : S(0);
    }
#pragma unroll
    for (int u = 0; u < Each; ++u) {
      if (c[u] >= 0) sum += v[u] * load_value(in.x.data + c[u]);
    }
    sum = sum_block<kLongThreads>(sum, scratch);
    const LongRow row = plan.row[tile.row];
    if (threadIdx.x == 0) {
      plan.partial[blockIdx.x] = sum;
      __threadfence();  // the sum before its count
      last = atomicAdd(plan.done + tile.row, 1u) + 1 == static_cast<unsigned>(row.tiles);
      __threadfence();
    }
    __syncthreads();
    if (!last) return;  // the whole block
    sum = 0;
    for (int t = static_cast<int>(threadIdx.x); t < row.tiles; t += kLongThreads)
      sum += __ldcg(plan.partial + row.first_tile + t);
    sum = sum_block<kLongThreads>(sum, scratch);
    if (threadIdx.x == 0) {
      finish_row(p, out.y.data, row.row, sum);
      plan.done[tile.row] = 0;
    }
    return;
  }
  const Index block = static_cast<Index>(blockIdx.x) - plan.tiles;
  const int lane = static_cast<int>(threadIdx.x) % Width;
  Index k[kLongRows], end[kLongRows];
  bool mine[kLongRows];
  S sum[kLongRows];
  const auto row_of = [&](int u) {
    return (block * kLongRows + u) * (kLongThreads / Width) + static_cast<int>(threadIdx.x) / Width;
  };
#pragma unroll
  for (int u = 0; u < kLongRows; ++u) {
    const Index i = row_of(u);
    const Index begin = i < in.A.rows ? in.A.row_ptr[i] : 0;
    end[u] = i < in.A.rows ? in.A.row_ptr[i + 1] : 0;
    mine[u] = i < in.A.rows && end[u] - begin < plan.shape.least;
    if (!mine[u]) end[u] = begin;
    k[u] = begin + lane;
  }
  std::int32_t c[kLongRows];
  S v[kLongRows];
#pragma unroll
  for (int u = 0; u < kLongRows; ++u) {
    c[u] = k[u] < end[u] ? __ldcs(in.A.col + k[u]) : -1;
    v[u] = k[u] < end[u] ? load_value_once(in.A.val + k[u]) : S(0);
  }
#pragma unroll
  for (int u = 0; u < kLongRows; ++u) sum[u] = c[u] >= 0 ? v[u] * load_value(in.x.data + c[u]) : S(0);
#pragma unroll
  for (int u = 0; u < kLongRows; ++u) {
    for (Index e = k[u] + Width; e < end[u]; e += Width) sum[u] += product(in, e);
    sum[u] = sum_lanes(sum[u], Width);
    if (mine[u] && lane == 0) finish_row(p, out.y.data, row_of(u), sum[u]);
  }
}

/// Tiles of the long rows, found on the host; the arrays are workspace of `context`.
template <class T>
LongRowsPlan<T> prepare_long_rows(const In<T>& in, const HostArray<std::int32_t>& row_ptr, LongShape shape,
                                  Context& context) {
  LongRowsPlan<T> plan;
  plan.shape = shape;
  Index count = 0, entries = 0;  // of long rows
  for (Index i = 0; i < in.A.rows; ++i) {
    const Index length = row_ptr[i + 1] - row_ptr[i];
    if (length >= shape.least) ++count, entries += length, plan.tiles += ceil_div(length, shape.tile());
  }
  HostArray<LongRow> row(count);
  HostArray<LongTile> tile(plan.tiles);
  std::int32_t r = 0, t = 0;
  for (Index i = 0; r < count; ++i) {
    const std::int32_t end = row_ptr[i + 1];
    if (end - row_ptr[i] < shape.least) continue;
    row[r] = {static_cast<std::int32_t>(i), t,
              static_cast<std::int32_t>(ceil_div(end - row_ptr[i], shape.tile()))};
    for (std::int32_t begin = row_ptr[i]; begin < end;) {
      const std::int32_t stop =
          end - begin > shape.tile() ? begin + static_cast<std::int32_t>(shape.tile()) : end;
      tile[t++] = {begin, stop, r};
      begin = stop;
    }
    ++r;
  }
  plan.width = vector_width(in.A.rows - count, in.A.nnz - entries);
  plan.tile = upload(tile, context), plan.row = upload(row, context);
  plan.partial = workspace_of<scalar_t<T>>(plan.tiles, context);
  plan.done = workspace_of<unsigned>(count, context);
  device_fill(plan.done, 0, static_cast<std::size_t>(count) * sizeof(unsigned), context.stream);
  return plan;
}

template <class T, int Each>
void launch_long_rows(const LongRowsPlan<T>& plan, const Problem<T>& p, const In<T>& in, const Out<T>& out,
                      Context& context) {
  with_lanes(plan.width, [&](auto lanes) {
    constexpr int kWidth = decltype(lanes)::value;
    launch(spmv_long_rows<T, kWidth, Each>,
           plan.tiles + ceil_div(in.A.rows, kLongRows * kLongThreads / kWidth), kLongThreads, 0,
           context.stream, p, in, out, plan);
  });
}

template <class T>
void run_long_rows(const LongRowsPlan<T>& plan, const Problem<T>& p, const In<T>& in, const Out<T>& out,
                   Context& context) {
  if (plan.shape.each == 2)
    launch_long_rows<T, 2>(plan, p, in, out, context);
  else
    launch_long_rows<T, 8>(plan, p, in, out, context);
}

}  // namespace spmv
}  // namespace plumb
