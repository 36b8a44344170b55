// spmv, rung 11: flat in one kernel: break points found by the blocks, cut rows finished by looking back.
//
// Change    rung 8 needs a kernel before it and one after. Here each block searches its own first row,
//           publishes what it has of a row that started earlier, and the block in which a row ends collects
//           the published parts of it. A block publishes before it looks back, so none waits for one that
//           waits; tile numbers are drawn from a counter, so no block waits for one that has not started. The
//           order of the additions is fixed, so the result is reproducible.
// Traffic   as rung 8, without break points; a flag and a partial sum per 2048 entries.
// Fails at  a giant row's end: the block that has it adds one number per 2048 entries of the row.
// Source    D. Merrill and M. Garland, "Single-pass parallel prefix scan with decoupled look-back",
//           NVR-2016-002, for the hand-over.
#include "gpu/spmv/kernels/stream.hpp"

namespace plumb {
namespace {

using namespace spmv;

constexpr int kThreads = 256;
constexpr int kTile = 2048;  // entries

// Waits until *flag is set; what was written before it was set is then visible past the L1.
PLUMB_DEVICE void await(unsigned* flag) {
  while (atomicAdd(flag, 0u) == 0u) __nanosleep(20);
  __threadfence();
}

// flags[0] is the counter of tiles, flags[1 + tile] says that partial[tile] is there: this tile's part of the
// row that ends after the tile and started in or before it.
template <class T>
__global__ void __launch_bounds__(kThreads)
    spmv_one_pass(Problem<T> p, In<T> in, Out<T> out, unsigned* flags /* (1 + tiles) */,
                  T* partial /* (tiles) */) {
  __shared__ T staged[kTile];
  __shared__ T scratch[kThreads / 32];
  __shared__ unsigned drawn;
  __shared__ Index bounds[2];
  const Index rows = in.A.rows, nnz = in.A.nnz;
  if (threadIdx.x == 0) drawn = atomicAdd(flags, 1u);
  __syncthreads();
  const Index tile = drawn;
  const Index begin = tile * kTile, end = begin + kTile < nnz ? begin + kTile : nnz;
  stage_products<kThreads>(in, begin, static_cast<int>(end - begin), staged);
  // rows that end in this tile: in (begin, end]; empty rows before the first entry and all others that end at
  // `begin` belong to the tile before, but for the first tile
  const std::int32_t* row_ptr = in.A.row_ptr;
  if (threadIdx.x < 2) {
    const Index wanted = threadIdx.x == 0 ? begin + 1 : end + 1;
    bounds[threadIdx.x] =
        threadIdx.x == 0 && tile == 0
            ? 0
            : first_at_least(rows, wanted, [row_ptr](Index i) { return static_cast<Index>(row_ptr[i + 1]); });
  }
  __syncthreads();
  const Index first = bounds[0],
              last = bounds[1];  // rows [first, last) end here; row `last` goes on, if it has begun

  // publish this tile's part of the row that goes on
  const Index open_begin =
      last < rows ? (row_ptr[last] > begin ? static_cast<Index>(row_ptr[last]) : begin) : end;
  if (open_begin < end) {
    T open = T(0);
    for (Index k = open_begin + static_cast<Index>(threadIdx.x); k < end; k += kThreads)
      open += staged[k - begin];
    open = sum_block<kThreads>(open, scratch);
    if (threadIdx.x == 0) {
      partial[tile] = open;
      __threadfence();  // the sum before its flag
      atomicExch(flags + 1 + tile, 1u);
    }
  }

  // the row that ends here and started earlier collects what earlier tiles published
  Index whole = first;
  if (first < last && row_ptr[first] < begin) {
    whole = first + 1;
    T sum = T(0);
    const Index own_end = row_ptr[first + 1];
    for (Index k = begin + static_cast<Index>(threadIdx.x); k < own_end; k += kThreads)
      sum += staged[k - begin];
    for (Index t = row_ptr[first] / kTile + static_cast<Index>(threadIdx.x); t < tile; t += kThreads) {
      await(flags + 1 + t);
      sum += __ldcg(partial + t);
    }
    sum = sum_block<kThreads>(sum, scratch);
    if (threadIdx.x == 0) finish_row(p, out.y.data, first, sum);
  }
  sum_segments<kThreads>(
      last - whole, staged, [&](Index j) { return row_ptr[whole + j] - begin; },
      [&](Index j) { return row_ptr[whole + j + 1] - begin; },
      [&](Index j, T sum) { finish_row(p, out.y.data, whole + j, sum); });
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const Index tiles = in.A.nnz == 0 ? 1 : ceil_div(in.A.nnz, kTile);
  auto* flags = static_cast<unsigned*>(context.workspace((1 + tiles) * static_cast<Index>(sizeof(unsigned))));
  auto* partial = static_cast<T*>(context.workspace(tiles * static_cast<Index>(sizeof(T))));
  device_fill(flags, 0, static_cast<std::size_t>(1 + tiles) * sizeof(unsigned), context.stream);
  launch(spmv_one_pass<T>, tiles, kThreads, 0, context.stream, p, in, out, flags, partial);
}

PLUMB_REGISTER(Spmv, "11_one_pass", run, float, double);

}  // namespace
}  // namespace plumb
