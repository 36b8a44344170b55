// spmv, rung 8: equal numbers of entries per block; rows may span blocks ("flat").
//
// Change    blocks own 2048 entries each instead of whole rows. The block in which a row starts finishes it
//           with what it has; every later block that holds more of the row leaves that as a carry, which a
//           second kernel adds.
// Traffic   compulsory bytes, coalesced; a break point (8 bytes) and a carry (16) per 2048 entries.
// Limits    32 registers, 8 KB in fp32, 16 KB of shared memory in fp64: 8 blocks of 256 per SM (sm_90, nvcc
//           13.0, ptxas -v).
// Fails at  millions of empty rows between two entries: one block finishes them all. Rung 12 counts rows as
//           work too.
// Source    the segmented kernels of Bell and Garland, SC'09, and Blelloch, Heroux and Zagha, CMU-CS-93-173,
//           with carries for atomics.
#include "gpu/spmv/stream.hpp"

namespace plumb {
namespace {

using namespace spmv;

constexpr int kThreads = kStreamThreads;
constexpr int kTile = kStreamTile;

template <class T>
struct Plan {
  Index tiles;
  Index* starts;    // (tiles + 1): first row that starts at or after the tile's first entry
  Carry<T>* carry;  // (tiles)
};

// Break points. Trailing empty rows start at nnz, and belong to the last tile.
__global__ void __launch_bounds__(kThreads)
    spmv_flat_starts(const std::int32_t* row_ptr /* (rows + 1) */, Index rows,
                     Index* starts /* (tiles + 1) */, Index tiles) {
  const Index b = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (b > tiles) return;
  starts[b] = b == tiles ? rows : first_at_least(rows, b * kTile, [row_ptr](Index i) {
    return static_cast<Index>(row_ptr[i]);
  });
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    spmv_flat(Problem<T> p, In<T> in, Out<T> out, const Index* starts /* (blocks + 1) */,
              Carry<T>* carry /* (blocks) */) {
  __shared__ T staged[kTile];
  const Index begin = static_cast<Index>(blockIdx.x) * kTile;
  const Index end = begin + kTile < in.A.nnz ? begin + kTile : in.A.nnz;
  stage_products<kThreads>(in, begin, static_cast<int>(end - begin), staged);
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
  sum_segments<kThreads>(
      last - first + 1, staged, edge, [&](Index j) { return edge(j + 1); },
      [&](Index j, T sum) {
        if (j > 0)
          finish_row(p, out.y.data, first + j - 1, sum);
        else
          carry[blockIdx.x] = {carried > begin ? first - 1 : -1, sum};
      });
}

template <class T>
void* prepare(const Problem<T>&, const In<T>& in, const Out<T>&, Context& context) {
  auto* plan = new Plan<T>;
  plan->tiles = in.A.nnz == 0 ? 1 : ceil_div(in.A.nnz, kTile);
  plan->starts =
      static_cast<Index*>(context.workspace((plan->tiles + 1) * static_cast<Index>(sizeof(Index))));
  plan->carry = static_cast<Carry<T>*>(context.workspace(plan->tiles * static_cast<Index>(sizeof(Carry<T>))));
  launch(spmv_flat_starts, ceil_div(plan->tiles + 1, kThreads), kThreads, 0, context.stream, in.A.row_ptr,
         in.A.rows, plan->starts, plan->tiles);
  return plan;
}

template <class T>
void release(void* plan) {
  delete static_cast<Plan<T>*>(plan);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const auto& plan = *static_cast<const Plan<T>*>(context.plan);
  launch(spmv_flat<T>, plan.tiles, kThreads, 0, context.stream, p, in, out, plan.starts, plan.carry);
  add_carries(p, plan.carry, plan.tiles, out.y.data, context.stream);
}

const Register<Spmv, float, Space::device> f32{"08_flat", run<float>,     {},
                                               nullptr,   prepare<float>, release<float>};
const Register<Spmv, double, Space::device> f64{"08_flat", run<double>,     {},
                                                nullptr,   prepare<double>, release<double>};

}  // namespace
}  // namespace plumb
