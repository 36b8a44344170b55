// Test kernel of sums in parts (gpu/common/join_parts.hpp): each block makes the part of a tile, the last ones join them.
#include "gpu/common/join_parts.hpp"
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

}  // namespace

namespace plumb::simt_test {

int counts_of_joined_parts(int parts) { return counts_of_parts(parts); }

void joined_parts(int tiles, int parts, const float* in, float* partial, unsigned* finished, float* out) {
  for (int run = 0; run < 2; ++run)  // the counts are ready for the second
    launch(joined_parts_kernel, tiles * parts, kThreads, 0, nullptr, parts, in, partial, finished, out);
}

}  // namespace plumb::simt_test
