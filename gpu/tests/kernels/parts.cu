// Test kernels of sums in parts: each block makes the part of a tile, the last ones join them (gpu/common/join_parts.hpp); and which parts
// a block makes (gpu/gemm/kernels/division.hpp), and a product of tiles by streams (gpu/gemm/kernels/parts.hpp).
#include "gpu/gemm/kernels/small_warps.hpp"
#include "gpu/tests/kernels/simt_kernels.hpp"

namespace {

constexpr int kThreads = 32, kOwn = 4;

struct alignas(16) Vector {
  static constexpr int kLanes = 4;
  float lane[kLanes];
};

// Of in (tiles, parts, kThreads * kOwn) the sums over the parts.
__global__ void joined_parts_kernel(int parts, const float* in, float* partial, unsigned* finished,
                                    float* out) {
  const int block = static_cast<int>(blockIdx.x), tile = block / parts, t = static_cast<int>(threadIdx.x);
  float own[kOwn];
  for (int e = 0; e < kOwn; ++e) own[e] = in[(block * kThreads + t) * kOwn + e];
  if (parts > 1 && !plumb::join_parts<kThreads, Vector>(
                       own, parts, block % parts, partial + tile * parts * kThreads * kOwn, finished + tile))
    return;
  for (int e = 0; e < kOwn; ++e) out[(tile * kThreads + t) * kOwn + e] = own[e];
}

struct OneElement {
  static constexpr int BM = 1, BN = 1;
};

// The parts of C (tiles, 1), in the order in which they are made; `count` is 0 before.
__global__ void listed_parts_kernel(plumb::gemm::Division division, int tiles, int stages,
                                    plumb::simt_test::ListedPart* out, int* count) {
  plumb::gemm::PartsOfBlock<OneElement> of_block;
  of_block.begin(division, tiles, 1, stages);
  do {
    of_block.take(division, tiles, 1, stages);
    const plumb::gemm::PartOfTile& of = of_block.now;
    out[atomicAdd(count, 1)] = {static_cast<int>(of.tile.m), static_cast<int>(of.first),
                                static_cast<int>(of.stages), of.part, of.parts};
  } while (of_block.at != of_block.end);
}

}  // namespace

namespace plumb::simt_test {

int most_parts_by_streams(int rest, int stages, int streams) {
  return static_cast<int>(gemm::parts_by_streams(rest, stages, streams));
}

void listed_parts(int tiles, int whole, int stages, int streams, ListedPart* out, int* count) {
  launch(listed_parts_kernel, whole + streams, 1, 0, nullptr, gemm::Division{whole, 2, streams}, tiles,
         stages, out, count);
}

void joined_parts(int tiles, int parts, const float* in, float* partial, unsigned* finished, float* out) {
  for (int run = 0; run < 2; ++run)  // the counts are ready for the second
    launch(joined_parts_kernel, tiles * parts, kThreads, 0, nullptr, parts, in, partial, finished, out);
}

SizesOfStreams sizes_of_streams(int m, int n, int k, int whole, int streams) {
  using S = gemm::QuarteredShallow;
  const Index rest = ceil_div(m, S::BM) * ceil_div(n, S::BN) - whole,
              most = gemm::parts_by_streams(rest, ceil_div(k, S::BK), streams);
  return {static_cast<int>(most), static_cast<int>(rest * most * S::BM * S::BN), static_cast<int>(rest)};
}

void product_by_streams(int m, int n, int k, int whole, int streams, const float* a, const float* b, float* c,
                        float* partial, unsigned* finished) {
  using S = gemm::QuarteredShallow;
  const gemm::Division division{whole, sizes_of_streams(m, n, k, whole, streams).most_parts, streams};
  const gemm::Problem<float> plain{1, 0};
  const gemm::In<float> in{{a, m, k, k}, {b, k, n, n}};
  const gemm::Out<float> out{{c, m, n, n}};
  const Index rest = ceil_div(m, S::BM) * ceil_div(n, S::BN) - whole;
  for (int run = 0; run < 2; ++run) {  // the counts are ready for the second
    launch(gemm::gemm_streams<float, S, false>, whole + streams, S::kThreads, S::kShared, nullptr, plain, in,
           out, gemm::Parts<float>{division, partial, finished}, false);
    if (finished != nullptr) continue;
    launch_dependent(gemm::gemm_add_parts<float, S, 1, 1>, rest * (S::BM * S::BN / kAddThreads), kAddThreads,
                     0, nullptr, plain, partial, out, division, static_cast<int>(ceil_div(k, S::BK)));
  }
}

}  // namespace plumb::simt_test
