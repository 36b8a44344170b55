// Test kernels of sums in parts: each block makes the part of a tile, the last ones join them (gpu/common/join_parts.hpp); and which parts
// a block makes (gpu/gemm/division.hpp).
#include "gpu/common/join_parts.hpp"
#include "gpu/gemm/division.hpp"
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
  if (parts > 1 && !plumb::join_parts<kThreads, Vector>(own, parts, block % parts,
                                                        partial + tile * parts * kThreads * kOwn,
                                                        finished + tile * plumb::counts_of_parts(parts)))
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

int counts_of_joined_parts(int parts) { return counts_of_parts(parts); }

void joined_parts(int tiles, int parts, const float* in, float* partial, unsigned* finished, float* out) {
  for (int run = 0; run < 2; ++run)  // the counts are ready for the second
    launch(joined_parts_kernel, tiles * parts, kThreads, 0, nullptr, parts, in, partial, finished, out);
}

}  // namespace plumb::simt_test
