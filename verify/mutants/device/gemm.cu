// Planted faults of the tiled matrix product on a device: one right kernel of 16 x 16 tiles, and each fault a thing changed in it.
// Fault::none is the right one; nothing registers it.
#include "gpu/device/clusters.hpp"
#include "gpu/device/kernel.hpp"
#include "reference/ops/gemm.hpp"
#include "verify/mutants/device/device_mutant.hpp"

namespace plumb {
namespace {

PLUMB_DEVICE_FAULTS_OF(Gemm);

constexpr int kTile = 16;

enum class Fault {
  none,
  no_barrier_before_epilogue,
  no_barrier_after_tile,
  no_barrier_after_broadcast,
  early_return,
  barrier_in_branch,
  accumulator_zeroed,
  k_tail,
  grid_floor,
  bounds_of_c,
  no_zero_fill,
  wrong_ld,
  reads_c,
  no_wait,
  commit_after_wait,
  tail_buffer_one,
  padding_not_cleared,
  parts_rounded_down,
  no_barrier_before_count,
  count_not_cleared,
  one_barrier_for_both,
  own_barrier_before_sums,
  no_cluster_barrier_before_sums,
  no_cluster_barrier_at_end,
};

template <class T, Fault F>
__global__ void gemm_mutant(P<T> p, In<T> in, Out<T> out) {
  __shared__ T a[kTile][kTile], b[kTile][kTile];
  __shared__ int tiles_of_k;
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  const Index m = out.C.rows, n = out.C.cols, k = in.A.cols;
  const Index i = static_cast<Index>(blockIdx.y) * kTile + ty,
              j = static_cast<Index>(blockIdx.x) * kTile + tx;
  if (F == Fault::early_return && (i >= m || j >= n)) return;
  if (tx == 0 && ty == 0)
    tiles_of_k = static_cast<int>(F == Fault::k_tail ? k / kTile : (k + kTile - 1) / kTile);
  if (F != Fault::no_barrier_after_broadcast) __syncthreads();
  const int tiles = p.alpha == T(0) ? 0 : tiles_of_k;
  T sum = T(0);
  for (int t = 0; t < tiles; ++t) {
    if (F == Fault::accumulator_zeroed) sum = T(0);
    if (F != Fault::no_barrier_after_tile && t > 0) __syncthreads();
    const Index ka = static_cast<Index>(t) * kTile + tx, kb = static_cast<Index>(t) * kTile + ty;
    const bool a_inside = i < m && ka < (F == Fault::bounds_of_c ? n : k), b_inside = kb < k && j < n;
    const Index lda = F == Fault::wrong_ld ? in.B.ld : in.A.ld;
    if (F == Fault::barrier_in_branch) {
      if (a_inside && b_inside) {
        a[ty][tx] = in.A.data[i * lda + ka], b[ty][tx] = in.B.data[kb * in.B.ld + j];
        __syncthreads();
      } else {
        a[ty][tx] = a_inside ? in.A.data[i * lda + ka] : T(0);
        b[ty][tx] = b_inside ? in.B.data[kb * in.B.ld + j] : T(0);
      }
    } else {
      if (a_inside)
        a[ty][tx] = in.A.data[i * lda + ka];
      else if (F != Fault::no_zero_fill)
        a[ty][tx] = T(0);
      if (b_inside)
        b[ty][tx] = in.B.data[kb * in.B.ld + j];
      else if (F != Fault::no_zero_fill)
        b[ty][tx] = T(0);
      __syncthreads();
    }
    for (int l = 0; l < kTile; ++l) sum += a[ty][l] * b[l][tx];
  }
  // the epilogue stages its tile in shared memory, as one with vector stores does
  if (F != Fault::no_barrier_before_epilogue) __syncthreads();
  a[ty][tx] = sum;
  __syncthreads();
  if (i >= m || j >= n) return;
  T* c = &out.C.data[i * out.C.ld + j];
  const T product = p.alpha == T(0) ? T(0) : p.alpha * a[ty][tx];
  *c = F == Fault::reads_c ? product + p.beta * *c : p.beta == T(0) ? product : product + p.beta * *c;
}

// The same product with two buffers filled by asynchronous copies; the last tile is peeled off the loop.
template <class T, Fault F>
__global__ void gemm_mutant_async(P<T> p, In<T> in, Out<T> out) {
  __shared__ T a[2][kTile][kTile], b[2][kTile][kTile];
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  const Index m = out.C.rows, n = out.C.cols, k = in.A.cols;
  const Index i = static_cast<Index>(blockIdx.y) * kTile + ty,
              j = static_cast<Index>(blockIdx.x) * kTile + tx;
  const int tiles = p.alpha == T(0) ? 0 : static_cast<int>((k + kTile - 1) / kTile);
  const auto stage = [&](int t) {
    const Index ka = static_cast<Index>(t) * kTile + tx, kb = static_cast<Index>(t) * kTile + ty;
    if (i < m && ka < k)
      cp_async<sizeof(T)>(&a[t % 2][ty][tx], &in.A.data[i * in.A.ld + ka]);
    else
      a[t % 2][ty][tx] = T(0);
    if (kb < k && j < n)
      cp_async<sizeof(T)>(&b[t % 2][ty][tx], &in.B.data[kb * in.B.ld + j]);
    else
      b[t % 2][ty][tx] = T(0);
    if (F != Fault::commit_after_wait) cp_async_commit();
  };
  T sum = T(0);
  const auto multiply = [&](int buffer) {
    for (int l = 0; l < kTile; ++l) sum += a[buffer][ty][l] * b[buffer][l][tx];
  };
  if (tiles > 0) stage(0);
  for (int t = 0; t + 1 < tiles; ++t) {
    stage(t + 1);
    if (F == Fault::commit_after_wait) cp_async_wait<0>(), cp_async_commit();
    if (F != Fault::no_wait && F != Fault::commit_after_wait) cp_async_wait<1>();
    __syncthreads();
    multiply(t % 2);
    __syncthreads();
  }
  if (F == Fault::commit_after_wait) cp_async_wait<0>(), cp_async_commit();
  if (F != Fault::no_wait && F != Fault::commit_after_wait) cp_async_wait<0>();
  __syncthreads();
  if (tiles > 0) multiply(F == Fault::tail_buffer_one ? 1 : (tiles - 1) % 2);
  if (i >= m || j >= n) return;
  T* c = &out.C.data[i * out.C.ld + j];
  const T product = p.alpha == T(0) ? T(0) : p.alpha * sum;
  *c = p.beta == T(0) ? product : product + p.beta * *c;
}

// The same product by two halves of a block, which take the tiles of K by turns and meet at a named barrier each; their sums are added at
// the end.
template <class T, Fault F>
__global__ void gemm_mutant_halves(P<T> p, In<T> in, Out<T> out) {
  __shared__ T a[2][kTile][kTile], b[2][kTile][kTile];
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y),
            half = static_cast<int>(threadIdx.z);
  const Index m = out.C.rows, n = out.C.cols, k = in.A.cols;
  const Index i = static_cast<Index>(blockIdx.y) * kTile + ty,
              j = static_cast<Index>(blockIdx.x) * kTile + tx;
  const int tiles = p.alpha == T(0) ? 0 : static_cast<int>((k + kTile - 1) / kTile);
  const auto meet = [&] {
    named_barrier_sync(F == Fault::one_barrier_for_both ? 1 : half + 1, kTile * kTile);
  };
  T sum = T(0);
  for (int t = half; t < tiles; t += 2) {
    const Index ka = static_cast<Index>(t) * kTile + tx, kb = static_cast<Index>(t) * kTile + ty;
    a[half][ty][tx] = i < m && ka < k ? in.A.data[i * in.A.ld + ka] : T(0);
    b[half][ty][tx] = kb < k && j < n ? in.B.data[kb * in.B.ld + j] : T(0);
    meet();
    for (int l = 0; l < kTile; ++l) sum += a[half][ty][l] * b[half][l][tx];
    meet();
  }
  if (half == 1) a[1][ty][tx] = sum;
  if (F == Fault::own_barrier_before_sums)
    meet();
  else
    __syncthreads();
  if (half == 1 || i >= m || j >= n) return;
  sum += a[1][ty][tx];
  T* c = &out.C.data[i * out.C.ld + j];
  const T product = p.alpha == T(0) ? T(0) : p.alpha * sum;
  *c = p.beta == T(0) ? product : product + p.beta * *c;
}

// The same product by two blocks of a cluster, each from every second tile of K; each adds the sums of half of the rows, its own and the
// other block's, which it reads in the other's shared memory.
template <class T, Fault F>
__global__ void gemm_mutant_cluster(P<T> p, In<T> in, Out<T> out) {
  __shared__ T a[kTile][kTile], b[kTile][kTile], sums[kTile][kTile];
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y),
            rank = static_cast<int>(blockIdx.x % 2);
  const Index m = out.C.rows, n = out.C.cols, k = in.A.cols;
  const Index i = static_cast<Index>(blockIdx.y) * kTile + ty,
              j = static_cast<Index>(blockIdx.x / 2) * kTile + tx;
  const int tiles = p.alpha == T(0) ? 0 : static_cast<int>((k + kTile - 1) / kTile);
  T sum = T(0);
  for (int t = rank; t < tiles; t += 2) {
    const Index ka = static_cast<Index>(t) * kTile + tx, kb = static_cast<Index>(t) * kTile + ty;
    a[ty][tx] = i < m && ka < k ? in.A.data[i * in.A.ld + ka] : T(0);
    b[ty][tx] = kb < k && j < n ? in.B.data[kb * in.B.ld + j] : T(0);
    __syncthreads();
    for (int l = 0; l < kTile; ++l) sum += a[ty][l] * b[l][tx];
    __syncthreads();
  }
  sums[ty][tx] = sum;
  if (F == Fault::no_cluster_barrier_before_sums)
    __syncthreads();
  else
    cluster_barrier();
  if (ty / (kTile / 2) == rank && i < m && j < n) {
    sum = *shared_of_block(&sums[ty][tx], 0) + *shared_of_block(&sums[ty][tx], 1);
    T* c = &out.C.data[i * out.C.ld + j];
    const T product = p.alpha == T(0) ? T(0) : p.alpha * sum;
    *c = p.beta == T(0) ? product : product + p.beta * *c;
  }
  if (F != Fault::no_cluster_barrier_at_end) cluster_barrier();
}

// The same product from operands padded to whole tiles, K shared by the blocks of the grid's z; the last of them to end adds their sums.
template <class T, Fault F>
__global__ void gemm_mutant_pad(DenseView<const T, Space::device> from, T* to, Index ld, Index count) {
  const Index e = static_cast<Index>(blockIdx.x) * (kTile * kTile) + threadIdx.x, i = e / ld, j = e % ld;
  if (e >= count) return;
  if (i < from.rows && j < from.cols) {
    to[e] = from.data[i * from.ld + j];
  } else if (F != Fault::padding_not_cleared) {
    to[e] = T(0);
  }
}

template <class T, Fault F>
__global__ void gemm_mutant_parts(P<T> p, const T* a, const T* b, Index padded_k, Index padded_n, T* sums,
                                  unsigned* counts, Out<T> out) {
  __shared__ T as[kTile][kTile], bs[kTile][kTile];
  __shared__ bool last;
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  const Index i = static_cast<Index>(blockIdx.y) * kTile + ty,
              j = static_cast<Index>(blockIdx.x) * kTile + tx;
  const Index tiles = p.alpha == T(0) ? 0 : padded_k / kTile, part = blockIdx.z, parts = gridDim.z;
  const Index begin = F == Fault::parts_rounded_down ? part * (tiles / parts) : tiles * part / parts,
              end =
                  F == Fault::parts_rounded_down ? (part + 1) * (tiles / parts) : tiles * (part + 1) / parts;
  T sum = T(0);
  for (Index t = begin; t < end; ++t) {
    __syncthreads();
    as[ty][tx] = a[i * padded_k + t * kTile + tx], bs[ty][tx] = b[(t * kTile + ty) * padded_n + j];
    __syncthreads();
    for (int l = 0; l < kTile; ++l) sum += as[ty][l] * bs[l][tx];
  }
  const Index tile = static_cast<Index>(blockIdx.y) * gridDim.x + blockIdx.x;
  T* const of_tile = sums + tile * parts * (kTile * kTile) + ty * kTile + tx;
  of_tile[part * (kTile * kTile)] = sum;
  if (F != Fault::no_barrier_before_count) __syncthreads();
  if (tx == 0 && ty == 0) {
    __threadfence();
    last = atomicAdd(counts + tile, 1u) == static_cast<unsigned>(parts - 1);
    __threadfence();
  }
  __syncthreads();
  if (!last || i >= out.C.rows || j >= out.C.cols) return;
  sum = T(0);
  for (Index q = 0; q < parts; ++q) sum += of_tile[q * (kTile * kTile)];
  T* c = &out.C.data[i * out.C.ld + j];
  const T product = p.alpha == T(0) ? T(0) : p.alpha * sum;
  *c = p.beta == T(0) ? product : product + p.beta * *c;
}

template <class T, Fault F>
void run_parts(const P<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const auto up = [](Index n) { return (n + kTile - 1) / kTile * kTile; };
  constexpr unsigned kParts = 3;
  const Index m = up(out.C.rows), n = up(out.C.cols), k = up(in.A.cols), tiles = m / kTile * (n / kTile);
  if (tiles == 0) return;
  const auto elements = [&](Index count) {
    return static_cast<T*>(context.workspace(count * static_cast<Index>(sizeof(T))));
  };
  T *const a = elements(m * k), *const b = elements(k * n),
           *const sums = elements(tiles * kParts * kTile * kTile);
  unsigned* const counts =
      static_cast<unsigned*>(context.workspace(tiles * static_cast<Index>(sizeof(unsigned))));
  const auto pad = [&](const DenseView<const T, Space::device>& from, T* to, Index ld, Index count) {
    launch(gemm_mutant_pad<T, F>, (count + kTile * kTile - 1) / (kTile * kTile), kTile * kTile, 0,
           context.stream, from, to, ld, count);
  };
  pad(in.A, a, k, m * k);
  pad(in.B, b, n, k * n);
  if (F != Fault::count_not_cleared)
    device_fill(counts, 0, static_cast<std::size_t>(tiles) * sizeof(unsigned), context.stream);
  launch(gemm_mutant_parts<T, F>,
         dim3(static_cast<unsigned>(n / kTile), static_cast<unsigned>(m / kTile), kParts), dim3(kTile, kTile),
         0, context.stream, p, static_cast<const T*>(a), static_cast<const T*>(b), k, n, sums, counts, out);
}

template <class T, Fault F>
void run(const P<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  if (F == Fault::padding_not_cleared || F == Fault::parts_rounded_down ||
      F == Fault::no_barrier_before_count || F == Fault::count_not_cleared) {
    run_parts<T, F>(p, in, out, context);
    return;
  }
  if (F == Fault::no_cluster_barrier_before_sums || F == Fault::no_cluster_barrier_at_end) {
    const dim3 pairs(2 * static_cast<unsigned>((out.C.cols + kTile - 1) / kTile),
                     static_cast<unsigned>((out.C.rows + kTile - 1) / kTile));
    launch_clusters(gemm_mutant_cluster<T, F>, pairs, 2, dim3(kTile, kTile), 0, context.stream, p, in, out);
    return;
  }
  constexpr bool kAsync = F == Fault::no_wait || F == Fault::commit_after_wait || F == Fault::tail_buffer_one;
  constexpr bool kHalves = F == Fault::one_barrier_for_both || F == Fault::own_barrier_before_sums;
  const Index up = F == Fault::grid_floor ? 0 : kTile - 1;
  const dim3 grid(static_cast<unsigned>((out.C.cols + kTile - 1) / kTile),
                  static_cast<unsigned>((out.C.rows + up) / kTile));
  auto* const kernel = kAsync    ? gemm_mutant_async<T, F>
                       : kHalves ? gemm_mutant_halves<T, F>
                                 : gemm_mutant<T, F>;
  launch(kernel, grid, dim3(kTile, kTile, kHalves ? 2 : 1), 0, context.stream, p, in, out);
}

PLUMB_DEVICE_FAULT(no_barrier_before_epilogue, "no_barrier_before_epilogue", 1,
                   "the epilogue reuses the tile with no barrier before it",
                   "an epilogue added to a finished kernel", kNumeric | kRepeat | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(no_barrier_after_tile, "no_barrier_after_tile", 2,
                   "no barrier at the end of the tile loop",
                   "the second of two barriers taken for the first's double",
                   kNumeric | kRepeat | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(
    no_barrier_after_broadcast, "no_barrier_after_broadcast", 5,
    "one thread writes a number that all read, with no barrier between",
    "a shared counter or bound set by thread 0; racecheck misses it where the compiler merges the reads",
    kNumeric | kRepeat | kSimt | kRace);
PLUMB_DEVICE_FAULT(early_return, "early_return_before_barrier", 6,
                   "threads outside of the matrix return before the barriers",
                   "the bounds check of an element-wise kernel, kept when tiles came",
                   kSimt | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(barrier_in_branch, "barrier_inside_branch", 7,
                   "the barrier stands inside the branch of threads that have data",
                   "a guard moved around one line too many", kSimt | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(no_wait, "async_copy_without_wait", 11, "asynchronous copies, then a barrier with no wait",
                   "a barrier taken for the arrival of the copies",
                   kNumeric | kRepeat | kSimt | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(commit_after_wait, "async_commit_after_wait", 11,
                   "the group of copies is closed after the wait that was for it",
                   "two lines of a pipeline in the wrong order",
                   kNumeric | kRepeat | kSimt | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(tail_buffer_one, "tail_from_buffer_one", 12, "the last tile is taken from buffer 1",
                   "a double buffer tested with an even number of tiles", kNumeric);
PLUMB_DEVICE_FAULT(accumulator_zeroed, "accumulator_zeroed_in_loop", 13,
                   "accumulators are zeroed inside the K loop",
                   "a declaration moved into the loop; one tile hides it", kNumeric);
PLUMB_DEVICE_FAULT(k_tail, "k_tail_dropped_in_tiles", 14, "the last K % 16 columns are not multiplied",
                   "K / tile in place of its ceiling", kNumeric);
PLUMB_DEVICE_FAULT(grid_floor, "grid_is_rows_over_tile", 15,
                   "the grid has M / 16 rows of blocks: the last rows are never written",
                   "a sample that only knew multiples", kNumeric);
PLUMB_DEVICE_FAULT(bounds_of_c, "tile_guard_with_bounds_of_c", 16, "A's tile is guarded by N in place of K",
                   "square matrices in every test", kNumeric | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(no_zero_fill, "tile_tail_not_zero_filled", 17,
                   "columns of the tile beyond K keep what was there",
                   "a guard on the load and none on the store", kNumeric | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(wrong_ld, "leading_dimension_of_b_for_a", 18, "A is read with B's leading dimension",
                   "three matrices and one ld in every test", kNumeric | kRace);
PLUMB_DEVICE_FAULT(reads_c, "beta_zero_reads_c_on_device", 23, "beta == 0 still multiplies C",
                   "beta * C, with C fresh from an allocator that returns zeros",
                   kNumeric | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(padding_not_cleared, "padding_not_cleared", 17,
                   "operands are copied to whole tiles of K, and what lies past their ends is left as it was",
                   "zero times what was there is taken for zero", kNumeric | kRace);
PLUMB_DEVICE_FAULT(parts_rounded_down, "parts_of_k_rounded_down", 14,
                   "each of three blocks takes a third of the tiles of K, rounded down",
                   "a split tested with multiples of it", kNumeric);
PLUMB_DEVICE_FAULT(no_barrier_before_count, "sums_counted_before_written", 21,
                   "one thread counts the block as ended while others still write their sums",
                   "a fence taken for a barrier", kRace);
PLUMB_DEVICE_FAULT(count_not_cleared, "count_not_cleared", 22,
                   "the count of ended blocks begins at what the workspace holds",
                   "right in the first run on fresh memory, and never again", kNumeric | kRace);
PLUMB_DEVICE_FAULT(one_barrier_for_both, "halves_share_one_named_barrier", 0,
                   "two groups of warps that work apart meet at one named barrier, each with its own count",
                   "a barrier's number taken for a label: any warps make up its count", kRace);
PLUMB_DEVICE_FAULT(
    own_barrier_before_sums, "named_barrier_in_place_of_the_blocks", 0,
    "a group's own named barrier stands where the whole block must meet, before sums change hands",
    "warps specialised in a kernel that had one barrier for all", kNumeric | kRepeat | kRace);
#define PLUMB_GEMM_CLUSTER_MUTANT(fault, name, ...)                           \
  const DeviceMutant<Gemm> fault##_m {                                        \
    name, run<float, Fault::fault>, run<double, Fault::fault>, {__VA_ARGS__}, \
        Traits{}.not_reproducible().needs_sm(90)                              \
  }
PLUMB_GEMM_CLUSTER_MUTANT(no_cluster_barrier_before_sums, "block_barrier_in_place_of_the_clusters", 0,
                          "the other block's sums are read after a barrier of the own block",
                          "a kernel of single blocks made one of clusters", kNumeric | kRepeat | kRace);
PLUMB_GEMM_CLUSTER_MUTANT(no_cluster_barrier_at_end, "cluster_ends_without_barrier", 0,
                          "a block ends while the other still reads its shared memory",
                          "a last barrier taken for one that nothing comes after", kRace);

}  // namespace
}  // namespace plumb
