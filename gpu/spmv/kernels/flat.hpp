// Equal numbers of entries per block, rows cut where a block ends: break points, kernel and carries. Apart from rung 8
// because the adaptive rung picks it too.
#pragma once
#include "gpu/spmv/kernels/stream.hpp"

namespace plumb {
namespace spmv {

constexpr int kFlatThreads = 256;
constexpr int kFlatTile = 2048;  // entries

template <class T>
struct FlatPlan {
  Index tiles;
  Index* starts;  // (tiles + 1): first row that starts at or after the tile's first entry
  Carries<T> carries;
};

// Break points. Trailing empty rows start at nnz, and belong to the last tile.
static __global__ void __launch_bounds__(kFlatThreads)
    spmv_flat_starts(const std::int32_t* row_ptr /* (rows + 1) */, Index rows,
                     Index* starts /* (tiles + 1) */, Index tiles) {
  const Index b = static_cast<Index>(blockIdx.x) * kFlatThreads + threadIdx.x;
  if (b > tiles) return;
  starts[b] = b == tiles ? rows : first_at_least(rows, b * kFlatTile, [row_ptr](Index i) {
    return static_cast<Index>(row_ptr[i]);
  });
}

template <class T>
__global__ void __launch_bounds__(kFlatThreads)
    spmv_flat(Problem<T> p, In<T> in, Out<T> out, const Index* starts /* (blocks + 1) */,
              Carries<T> carries) {
  using S = scalar_t<T>;
  __shared__ S staged[kFlatTile];
  const Index begin = static_cast<Index>(blockIdx.x) * kFlatTile;
  const Index end = begin + kFlatTile < in.A.nnz ? begin + kFlatTile : in.A.nnz;
  stage_products<kFlatThreads>(in, begin, static_cast<int>(end - begin), staged);
  const Index first = starts[blockIdx.x], last = starts[blockIdx.x + 1];
  const Index first_begin = in.A.row_ptr[first];                // first may be rows: then nnz
  const Index carried = first_begin < end ? first_begin : end;  // entries before it continue row first - 1
  __syncthreads();
  // segment 0 is the carry, segment j the row first + j - 1
  const auto edge = [&](Index j) -> Index {
    if (j == 0) return 0;
    const Index at = in.A.row_ptr[first + j - 1];
    return (at < end ? at : end) - begin;
  };
  sum_segments<kFlatThreads>(
      last - first + 1, staged, edge, [&](Index j) { return edge(j + 1); },
      [&](Index j, S sum) {
        if (j > 0 && !kHoldsSums<T> && in.A.row_ptr[first + j] > end)
          carries.own[blockIdx.x] = sum;
        else if (j > 0)
          finish_row(p, out.y.data, first + j - 1, sum);
        else
          carries.carry[blockIdx.x] = {carried > begin ? first - 1 : -1, sum};
      });
}

/// Break points; the arrays are workspace of `context`.
template <class T>
FlatPlan<T> prepare_flat(const In<T>& in, Context& context) {
  FlatPlan<T> plan;
  plan.tiles = in.A.nnz == 0 ? 1 : ceil_div(in.A.nnz, kFlatTile);
  plan.starts = static_cast<Index*>(context.workspace((plan.tiles + 1) * static_cast<Index>(sizeof(Index))));
  plan.carries = make_carries<T>(plan.tiles, context);
  launch(spmv_flat_starts, ceil_div(plan.tiles + 1, kFlatThreads), kFlatThreads, 0, context.stream,
         in.A.row_ptr, in.A.rows, plan.starts, plan.tiles);
  return plan;
}

template <class T>
void run_flat(const FlatPlan<T>& plan, const Problem<T>& p, const In<T>& in, const Out<T>& out,
              Context& context) {
  launch(spmv_flat<T>, plan.tiles, kFlatThreads, 0, context.stream, p, in, out, plan.starts, plan.carries);
  add_carries<Owner::before>(p, plan.carries, out, context);
}

}  // namespace spmv
}  // namespace plumb
