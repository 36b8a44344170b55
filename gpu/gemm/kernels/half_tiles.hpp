// requires: sm_90a, tensor_map
// The tiles of rungs 31 to 33: products of 16-bit operands by wgmma, of tiles that the copy engine brings. Header only.
//
// A block has one group of four warps that copies, and one or two that multiply, each 64 rows of the tile. Chunks of 64 along K go through a
// ring of stages: `full` of a stage completes when its bytes have come, `empty` when all groups that multiply have read it. A's rows run along
// K, B's along N, both 128 bytes, swizzled. Blocks of a cluster have tiles below each other, hence the same part of B: each copies a share of it
// to all of them. Sums leave through shared memory, 64 rows by 128 bytes at a time, where the copy engine takes them.
#pragma once
#include "gpu/common/packs.hpp"
#include "gpu/common/store_vector.hpp"
#include "gpu/device/clusters.hpp"
#include "gpu/device/memory.hpp"
#include "gpu/device/tensor_map.hpp"
#include "gpu/device/wgmma.hpp"
#include "gpu/gemm/kernels/naive.hpp"

namespace plumb {
namespace gemm {
namespace half {

constexpr int kRowBytes = 128, kChunkRows = 64, kCopiers = 128;

/// T's tiles of 64 Groups x BN, in clusters of Cluster; Stages of the ring.
template <class T_, int Groups, int BN_, int Cluster, int Stages>
struct Shape {
  using T = T_;
  using E = in_t<T>;
  using O = out_t<T>;
  static constexpr int kGroups = Groups, BM = 64 * Groups, BN = BN_, kCluster = Cluster, kStages = Stages,
                       BK = kRowBytes / static_cast<int>(sizeof(E)), kThreads = kCopiers + 128 * Groups;
  static constexpr int kBytesA = BM * kRowBytes, kPanel = BK * kRowBytes,  // 64 columns of B
      kPanels = BN / 64, kBytesB = kPanels * kPanel, kStage = kBytesA + kBytesB;
  static constexpr int kOutCols = kRowBytes / static_cast<int>(sizeof(O)), kOutBuffer = 64 * kRowBytes;
  static constexpr std::size_t kShared =
      1024 + kStages * kStage + Groups * 2 * kOutBuffer + 2 * kStages * sizeof(Mbarrier);
  static_assert(kPanels % Cluster == 0, "blocks of a cluster copy equal shares of B");
  static_assert(kShared <= 227 * 1024, "a block's shared memory");
};

/// Where a block is in the ring.
template <int Stages>
struct Ring {
  int stage = 0, parity = 0;
  PLUMB_DEVICE void next() {
    if (++stage == Stages) stage = 0, parity ^= 1;
  }
};

/// Four 8 x 8 matrices of 16 bits to shared memory, a row of 16 bytes at each lane's address.
PLUMB_DEVICE void store_matrices(void* row, const unsigned (&m)[4]) {
#if PLUMB_SM_AT_LEAST(90)
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(row)),
               "r"(m[0]), "r"(m[1]), "r"(m[2]), "r"(m[3])
               : "memory");
#endif
}

/// Arrives at the barrier at `bar`'s place in the cluster's block `rank`. Not .release.cluster: that is a fence of all of the device's memory
/// each time, and what is given back has been read, not written.
PLUMB_DEVICE void arrive_at_block(Mbarrier* bar, unsigned rank) {
#if PLUMB_SM_AT_LEAST(90)
  asm volatile(
      "{\n"
      ".reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [there];\n"
      "}\n" ::"r"(shared_address(bar)),
      "r"(rank)
      : "memory");
#endif
}

/// What a launch is given beside its maps.
struct Tiles {
  int chunks, parts, each;       // of BK along K; parts of a tile's chunks, and the chunks of one
  int of_m, of_n;                // tiles; of_m counts those of a cluster together
  bool stores_by_map, in_pairs;  // C takes copies of tiles; two neighbours of C lie on their size
};

/// The n-th tile in bands of 2048 rows: what multiprocessors work on at a time is about a square.
template <class S>
PLUMB_DEVICE TileIndex nth_tile(int n, const Tiles& tiles) {
  constexpr int kBand = 2048 / (S::BM * S::kCluster);
  const int of_band = kBand * tiles.of_n, band = n / of_band, first = band * kBand,
            rows = tiles.of_m - first < kBand ? tiles.of_m - first : kBand, within = n - band * of_band;
  return {first + within % rows, within / rows};
}

/// What a block makes at a time: chunks [first, end) of a tile.
struct Work {
  TileIndex tile;
  int part, first, end;
};
template <class S>
PLUMB_DEVICE Work nth_work(int n, const Tiles& tiles) {
  const int part = n % tiles.parts, first = part * tiles.each, end = first + tiles.each;
  return {nth_tile<S>(n / tiles.parts, tiles), part, first, end < tiles.chunks ? end : tiles.chunks};
}
/// Calls f for all that the block's cluster makes.
template <class S, class F>
PLUMB_DEVICE void each_work(const Tiles& tiles, F f) {
  const int clusters = static_cast<int>(gridDim.x) / S::kCluster, all = tiles.of_m * tiles.of_n * tiles.parts;
  for (int n = static_cast<int>(blockIdx.x) / S::kCluster; n < all; n += clusters) f(nth_work<S>(n, tiles));
}

template <class S>
struct Memory {
  unsigned char* stages;
  unsigned char* outs;
  Mbarrier *full, *empty;
  PLUMB_DEVICE explicit Memory(unsigned char* raw) {
    stages = raw + (1024 - shared_address(raw) % 1024) % 1024;
    outs = stages + S::kStages * S::kStage;
    full = reinterpret_cast<Mbarrier*>(outs + S::kGroups * 2 * S::kOutBuffer);
    empty = full + S::kStages;
  }
  PLUMB_DEVICE unsigned char* a(int stage) const { return stages + stage * S::kStage; }
  PLUMB_DEVICE unsigned char* b(int stage) const { return a(stage) + S::kBytesA; }
};

/// One thread: the copies of all chunks of all of the block's tiles.
template <class S>
PLUMB_DEVICE void copy_tiles(const TensorMap* a, const TensorMap* b, const Tiles& tiles, Memory<S> shared,
                             int rank) {
  Ring<S::kStages> ring;
  each_work<S>(tiles, [&](const Work& work) {
    const int row = (static_cast<int>(work.tile.m) * S::kCluster + rank) * S::BM,
              col = static_cast<int>(work.tile.n) * S::BN;
    for (int chunk = work.first; chunk < work.end; ++chunk, ring.next()) {
      const int stage = ring.stage, k = chunk * S::BK;
      Mbarrier* const full = shared.full + stage;
      mbarrier_wait(shared.empty + stage, ring.parity ^ 1);
      mbarrier_arrive_expect(full, S::kStage);
      copy_tile(shared.a(stage), a, row, k, full);
#pragma unroll
      for (int s = 0; s < S::kPanels / S::kCluster; ++s) {
        const int panel = rank * (S::kPanels / S::kCluster) + s;
        unsigned char* const to = shared.b(stage) + panel * S::kPanel;
        if (S::kCluster > 1) {
          copy_tile_to_blocks(to, b, k, col + panel * 64, full, (1 << S::kCluster) - 1);
        } else {
          copy_tile(to, b, k, col + panel * 64, full);
        }
      }
    }
  });
}

/// A group's 64 rows of 128 bytes in shared memory, swizzled, to C: a warp a row.
template <class S>
PLUMB_DEVICE void store_rows(const Gemm::Out<typename S::T, Space::device>& out, bool in_pairs, Index row,
                             Index col, const unsigned char* from) {
  using O = typename S::O;
  constexpr int kOfWord = 4 / sizeof(O);
  const int warp = static_cast<int>(threadIdx.x) / 32 % 4, lane = static_cast<int>(threadIdx.x) % 32;
  const Index j = col + lane * kOfWord;
  for (int r = warp; r < 64 && row + r < out.C.rows; r += 4) {
    const unsigned word = *reinterpret_cast<const unsigned*>(from + r * kRowBytes +
                                                             (((lane / 4) ^ (r % 8)) << 4) + lane % 4 * 4);
    O* const at = out.C.data + (row + r) * out.C.ld + j;
    if (kOfWord == 1 || in_pairs) {
      if (j + kOfWord <= out.C.cols) {
        *reinterpret_cast<unsigned*>(at) = word;
        continue;
      }
    }
    if constexpr (kOfWord == 2) {
      if (j < out.C.cols) at[0].bits = static_cast<std::uint16_t>(word);
      if (j + 1 < out.C.cols) at[1].bits = static_cast<std::uint16_t>(word >> 16);
    }
  }
}

/// A group's sums of 64 x BN to C, kOutCols columns at a time, through shared memory: from there by the copy engine, or by rows where C does not
/// take that.
template <class S>
PLUMB_DEVICE void store_through_shared(const Gemm::Problem<typename S::T>& p,
                                       const Gemm::Out<typename S::T, Space::device>& out, const TensorMap* c,
                                       const Tiles& tiles, int row, int col, unsigned char* outs, int group,
                                       const float (&sum)[S::BN / 2]) {
  const int thread = static_cast<int>(threadIdx.x) % 128, warp = thread / 32, lane = thread % 32;
#pragma unroll
  for (int part = 0; part < S::BN / S::kOutCols; ++part) {
    unsigned char* const to = outs + (part % 2) * S::kOutBuffer;
    if (thread == 0) store_tile_wait_read<1>();
    named_barrier_sync(1 + group, 128);
    if constexpr (sizeof(typename S::O) == 2) {
      const int r = warp * 16 + lane % 16;
#pragma unroll
      for (int pair = 0; pair < 4; ++pair) {  // of 8 columns each
        unsigned m[4];
#pragma unroll
        for (int q = 0; q < 4; ++q) {
          const int e = 4 * (part * 8 + 2 * pair + q / 2) + 2 * (q % 2);
          m[q] = pair_of(p.alpha * sum[e], p.alpha * sum[e + 1], typename S::O{});
        }
        store_matrices(to + r * kRowBytes + (((2 * pair + lane / 16) ^ (r % 8)) << 4), m);
      }
    } else {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int r = warp * 16 + lane / 4 + 8 * h;
#pragma unroll
        for (int n = 0; n < 4; ++n) {
          const int e = 4 * (part * 4 + n) + 2 * h, unit = 2 * n + lane % 4 / 2;
          float2 v;
          v.x = p.alpha * sum[e], v.y = p.alpha * sum[e + 1];
          *reinterpret_cast<float2*>(to + r * kRowBytes + ((unit ^ (r % 8)) << 4) + lane % 2 * 8) = v;
        }
      }
    }
    bulk_copy_fence();
    named_barrier_sync(1 + group, 128);
    if (!tiles.stores_by_map) {
      store_rows<S>(out, tiles.in_pairs, row, col + part * S::kOutCols, to);
    } else if (thread == 0) {
      store_tile(c, row, col + part * S::kOutCols, to);
      store_tile_commit();
    }
  }
}

/// The same from registers, where C is read.
template <class S>
PLUMB_DEVICE void store_from_registers(const Gemm::Problem<typename S::T>& p,
                                       const Gemm::Out<typename S::T, Space::device>& out, Index row,
                                       Index col, const float (&sum)[S::BN / 2]) {
  const int thread = static_cast<int>(threadIdx.x) % 128, lane = thread % 32;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const Index i = row + thread / 32 * 16 + lane / 4 + 8 * h;
    if (i >= out.C.rows) continue;
#pragma unroll
    for (int n = 0; n < S::BN / 8; ++n) {
      const Index j = col + 8 * n + lane % 4 * 2;
      if (j < out.C.cols) finish(p, &out.C(i, j), sum[4 * n + 2 * h]);
      if (j + 1 < out.C.cols) finish(p, &out.C(i, j + 1), sum[4 * n + 2 * h + 1]);
    }
  }
}

/// Sums of parts, a matrix for each.
struct Partial {
  float* data;  // (parts, rows, ld)
  Index ld;     // whole tiles
};

template <class S>
PLUMB_DEVICE void leave_part(const Partial& partial, Index rows, int part, Index row, Index col,
                             const float (&sum)[S::BN / 2]) {
  const int thread = static_cast<int>(threadIdx.x) % 128, lane = thread % 32;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const Index i = row + thread / 32 * 16 + lane / 4 + 8 * h;
    if (i >= rows) continue;
    float* const to = partial.data + (part * rows + i) * partial.ld + col + lane % 4 * 2;
#pragma unroll
    for (int n = 0; n < S::BN / 8; ++n) store_vector<2>(to + 8 * n, sum + 4 * n + 2 * h);
  }
}

constexpr int kAddThreads = 256;

/// C from the sums of parts, in their order: two neighbours of a row a thread.
template <class T>
__global__ void __launch_bounds__(kAddThreads)
    gemm_half_add(Problem<T> p, Out<T> out, Partial partial, int parts) {
  const Index pairs = ceil_div(out.C.cols, 2),
              at = static_cast<Index>(blockIdx.x) * kAddThreads + threadIdx.x, i = at / pairs,
              j = at % pairs * 2;
  if (i >= out.C.rows) return;
  const float2* from = reinterpret_cast<const float2*>(partial.data + i * partial.ld + j);
  const Index apart = out.C.rows * partial.ld / 2;
  float2 sum = *from;
  for (int part = 1; part < parts; ++part) {
    const float2 v = from[part * apart];
    sum.x += v.x, sum.y += v.y;
  }
  finish(p, &out.C(i, j), sum.x);
  if (j + 1 < out.C.cols) finish(p, &out.C(i, j + 1), sum.y);
}

/// A group's sums of one tile: four products a chunk. While one chunk is multiplied, the one before is given back.
template <class S>
PLUMB_DEVICE void multiply_tile(int chunks, Memory<S> shared, Ring<S::kStages>& ring, int group,
                                float (&sum)[S::BN / 2]) {
  const int thread = static_cast<int>(threadIdx.x) % 128;
  const auto give_back = [&](int stage) {
    if (S::kCluster > 1) {
      if (thread < S::kCluster) arrive_at_block(shared.empty + stage, static_cast<unsigned>(thread));
    } else {
      if (thread == 0) mbarrier_arrive(shared.empty + stage);
    }
  };
  int before = 0;
  for (int chunk = 0; chunk < chunks; ++chunk, ring.next()) {
    mbarrier_wait(shared.full + ring.stage, ring.parity);
    const unsigned long long a = wgmma_swizzled(shared.a(ring.stage) + group * 64 * kRowBytes),
                             b = wgmma_swizzled(shared.b(ring.stage), S::kPanel);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      WgmmaShared<typename S::E, S::BN>::multiply(sum, a + k * (32 >> 4), b + k * (16 * kRowBytes >> 4),
                                                  chunk > 0 || k > 0);
    }
    wgmma_commit();
    if (chunk > 0) {
      wgmma_wait<1>();
      give_back(before);
    }
    before = ring.stage;
  }
  wgmma_wait<0>();
  give_back(before);
}

template <class S>
__global__ void __launch_bounds__(S::kThreads, 1)
    gemm_half_tiles(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                    const __grid_constant__ TensorMap c, Gemm::Problem<typename S::T> p,
                    Gemm::Out<typename S::T, Space::device> out, Tiles tiles, Partial partial) {
#if PLUMB_SM_AT_LEAST(90)
  PLUMB_DYNAMIC_SHARED(unsigned char, raw);
  const Memory<S> shared(raw);
  const int rank = S::kCluster > 1 ? static_cast<int>(blockIdx.x) % S::kCluster : 0;
  if (threadIdx.x == 0) {
    for (int s = 0; s < S::kStages; ++s) {
      mbarrier_init(shared.full + s, 1);
      mbarrier_init(shared.empty + s, S::kGroups * S::kCluster);
    }
    mbarrier_fence_init();
  }
  if (S::kCluster > 1) {
    cluster_barrier();
  } else {
    __syncthreads();
  }
  if (threadIdx.x < kCopiers) {
    if (S::kGroups == 2) fewer_registers<40>();
    if (threadIdx.x == 0) copy_tiles<S>(&a, &b, tiles, shared, rank);
    __syncwarp();
  } else {
    if (S::kGroups == 2) more_registers<232>();
    const int group = static_cast<int>(threadIdx.x) / 128 - 1;
    unsigned char* const outs = shared.outs + group * 2 * S::kOutBuffer;
    Ring<S::kStages> ring;
    float sum[S::BN / 2];
    each_work<S>(tiles, [&](const Work& work) {
      multiply_tile<S>(work.end - work.first, shared, ring, group, sum);
      const int row = (static_cast<int>(work.tile.m) * S::kCluster + rank) * S::BM + group * 64,
                col = static_cast<int>(work.tile.n) * S::BN;
      if (tiles.parts > 1) {
        leave_part<S>(partial, out.C.rows, work.part, row, col, sum);
      } else if (p.beta == 0.0f) {
        store_through_shared<S>(p, out, &c, tiles, row, col, outs, group, sum);
      } else {
        store_from_registers<S>(p, out, row, col, sum);
      }
    });
    if (threadIdx.x % 128 == 0) store_tile_wait();
    __syncwarp();
  }
  if (S::kCluster > 1) cluster_barrier();  // no block leaves while others arrive at its barriers
#endif
}

constexpr int kAlignThreads = 256;

template <class E>
__global__ void __launch_bounds__(kAlignThreads)
    gemm_half_align(DenseView<const E, Space::device> from, E* to /* (rows, ld) */, Index ld) {
  const Index col = static_cast<Index>(blockIdx.x) * kAlignThreads + threadIdx.x;
  for (Index row = blockIdx.y; row < from.rows && col < from.cols; row += gridDim.y)
    to[row * ld + col] = from(row, col);
}

/// `from`, or a copy of it in workspace whose rows lie on 16 bytes.
template <class E>
DenseView<const E, Space::device> on_vectors(const DenseView<const E, Space::device>& from,
                                             Context& context) {
  if (rows_on_vectors(from)) return from;
  constexpr Index kLanes = 16 / sizeof(E);
  const Index ld = ceil_div(from.cols, kLanes) * kLanes;
  E* const to = static_cast<E*>(context.workspace(from.rows * ld * static_cast<Index>(sizeof(E))));
  launch(gemm_half_align<E>,
         Grid(static_cast<unsigned>(ceil_div(from.cols, kAlignThreads)),
              static_cast<unsigned>(from.rows < 65535 ? from.rows : 65535)),
         kAlignThreads, 0, context.stream, from, to, ld);
  return {to, from.rows, from.cols, ld};
}

/// Blocks for all tiles, or as many as there are multiprocessors, which then take several.
enum class Blocks : bool { one_each, resident };

/// What tensor maps cannot say: nothing to sum, or more than 2^31 - 1 rows, columns or terms.
template <class T>
bool has_maps(const In<T>& in, const Out<T>& out, Index depth) {
  constexpr Index kMost = 0x7fffff00;
  return depth > 0 && out.C.rows <= kMost && out.C.cols <= kMost && in.A.cols <= kMost;
}

template <class S>
void run_tiles(const Gemm::Problem<typename S::T>& p, const Gemm::In<typename S::T, Space::device>& in,
               const Gemm::Out<typename S::T, Space::device>& out, Blocks blocks, int parts,
               Context& context) {
  using T = typename S::T;
  if (out.C.rows == 0 || out.C.cols == 0) return;
  if (!has_maps<T>(in, out, depth_of<T>(p, in))) return naive::run<T>(p, in, out, context);
  const auto a = on_vectors(in.A, context), b = on_vectors(in.B, context);
  Tiles tiles{};
  tiles.chunks = static_cast<int>(ceil_div(a.cols, S::BK));
  tiles.each = (tiles.chunks + parts - 1) / parts;
  tiles.parts = (tiles.chunks + tiles.each - 1) / tiles.each;
  tiles.of_m = static_cast<int>(ceil_div(out.C.rows, S::BM * S::kCluster));
  tiles.of_n = static_cast<int>(ceil_div(out.C.cols, S::BN));
  tiles.in_pairs =
      reinterpret_cast<std::uintptr_t>(out.C.data) % (2 * sizeof(typename S::O)) == 0 && out.C.ld % 2 == 0;
  TensorMap map_a, map_b, map_c{};
  make_tensor_map(map_a, a.data, sizeof(typename S::E), a.rows, a.cols, a.ld, {S::BM, S::BK, true});
  make_tensor_map(map_b, b.data, sizeof(typename S::E), b.rows, b.cols, b.ld, {S::BK, 64, true});
  // a store of a tile writes whole 16 bytes: at the end of a row of others it would leave the row
  tiles.stores_by_map = p.beta == 0.0f && out.C.cols * static_cast<Index>(sizeof(typename S::O)) % 16 == 0 &&
                        make_tensor_map(map_c, out.C.data, sizeof(typename S::O), out.C.rows, out.C.cols,
                                        out.C.ld, {64, S::kOutCols, true});
  Partial partial{};
  if (tiles.parts > 1) {
    partial.ld = static_cast<Index>(tiles.of_n) * S::BN;
    partial.data = static_cast<float*>(
        context.workspace(tiles.parts * out.C.rows * partial.ld * static_cast<Index>(sizeof(float))));
  }
  const int all = tiles.of_m * tiles.of_n * tiles.parts, most = device_multiprocessors() / S::kCluster,
            clusters = blocks == Blocks::one_each || all < most ? all
                       : most > 0                               ? most
                                                                : 1;
  if (S::kCluster > 1) {
    launch_clusters(gemm_half_tiles<S>, clusters * S::kCluster, S::kCluster, S::kThreads, S::kShared,
                    context.stream, map_a, map_b, map_c, p, out, tiles, partial);
  } else {
    launch(gemm_half_tiles<S>, clusters, S::kThreads, S::kShared, context.stream, map_a, map_b, map_c, p, out,
           tiles, partial);
  }
  if (tiles.parts > 1)
    launch(gemm_half_add<T>, ceil_div(out.C.rows * ceil_div(out.C.cols, 2), kAddThreads), kAddThreads, 0,
           context.stream, p, out, partial, tiles.parts);
}

/// Why a device cannot run them; null: it can.
template <class T>
const char* supports(const Problem<T>&, const In<T>&, const Out<T>&) {
  const int sm = device_sm();
  return sm == 90 || sm == kAnySm ? nullptr : "wgmma is an instruction of compute capability 9.0 alone";
}

}  // namespace half
}  // namespace gemm
}  // namespace plumb
