// What the tuned kernels of the sparse DNN share: the layout of lines of rows, and how a lane gathers from
// them.
//
// A lane is an output neuron and holds all rows of a tile of it in registers. An input neuron is a line: its
// rows side by side, so that one index and one value serve all rows. Lane n reads the 16-byte parts of its
// lines in the order n ^ t. With lines of 128 bytes, eight lanes then never read the same bank, whichever
// lines they read.
#pragma once
#include "gpu/models/sparse_dnn/active_rows.hpp"
#include "gpu/models/sparse_dnn/neuron_tiles.hpp"

namespace plumb {
namespace sdnn {

constexpr Index kPanel = 32;  // rows of a panel in global memory: a line of it has 128 bytes

PLUMB_DEVICE void add_scaled(float4& sum, float w, const float4& y) {
  sum.x += w * y.x;
  sum.y += w * y.y;
  sum.z += w * y.z;
  sum.w += w * y.w;
}

PLUMB_DEVICE float4 activate4(const float4& z, float bias, float cap) {
  return {activate(z.x, bias, cap), activate(z.y, bias, cap), activate(z.z, bias, cap),
          activate(z.w, bias, cap)};
}

/// Keeps sums of 0 at 0: subtracts from them beforehand what activate_held() adds. Only a bias above 0 needs
/// this, so in most networks it is one test for all sums.
template <int kSums>
PLUMB_DEVICE void hold_zeros(float4 (&sum)[kSums], float bias) {
  if (!(bias > 0)) return;
  const auto hold = [bias](float& z) { z = z == 0 ? -bias : z; };
#pragma unroll
  for (int i = 0; i < kSums; ++i) hold(sum[i].x), hold(sum[i].y), hold(sum[i].z), hold(sum[i].w);
}

/// activate4() of sums that hold_zeros() has prepared: half the instructions. Where a lane has few sums
/// (class A), the saved instructions do not matter and the extra registers do: 44 us a layer in place of 42
/// at 4096 neurons on the H200.
PLUMB_DEVICE float4 activate_held(const float4& z, float bias, float cap) {
  const auto activated = [bias, cap](float x) {
    const float y = x + bias;
    return min_or_nan(y <= 0 ? 0 : y, cap);
  };
  return {activated(z.x), activated(z.y), activated(z.z), activated(z.w)};
}

/// The bits of four elements combined: one test shows whether any of them is not 0.
PLUMB_DEVICE void collect(uint4& any, const float4& y) {
  any.x |= __float_as_uint(y.x), any.y |= __float_as_uint(y.y);
  any.z |= __float_as_uint(y.z), any.w |= __float_as_uint(y.w);
}

/// Bits of the elements that hold more than a sign. NaN counts as non-zero.
PLUMB_DEVICE unsigned nonzeros(const uint4& any) {
  return (any.x << 1 != 0 ? 1u : 0u) | (any.y << 1 != 0 ? 2u : 0u) | (any.z << 1 != 0 ? 4u : 0u) |
         (any.w << 1 != 0 ? 8u : 0u);
}
PLUMB_DEVICE unsigned nonzeros(const float4& y) {
  return (y.x != 0 ? 1u : 0u) | (y.y != 0 ? 2u : 0u) | (y.z != 0 ? 4u : 0u) | (y.w != 0 ? 8u : 0u);
}

/// i is known at compile time because the loops are unrolled.
PLUMB_DEVICE float element(const float4& v, int i) {
  return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

/// Which part of a line of kParts a lane takes in its step t.
template <int kParts>
PLUMB_DEVICE int part_of(int lane, int t) {
  return (lane ^ t) & (kParts - 1);
}

/// Edge e of a chunk: which line.
PLUMB_DEVICE unsigned line_of(const uint2& line, int e) {  // 8 bits each
  return ((e < 4 ? line.x : line.y) >> (8 * (e % 4))) & 0xffu;
}
PLUMB_DEVICE unsigned line_of(const uint4& line, int e) {  // 16 bits each
  const unsigned pair = e < 2 ? line.x : e < 4 ? line.y : e < 6 ? line.z : line.w;
  return e % 2 == 0 ? pair & 0xffffu : pair >> 16;
}

/// A lane's next 8 edges.
template <class Lines>
struct Chunk {
  Lines line;
  float4 value[2];
};

template <class Lines>
PLUMB_DEVICE Chunk<Lines> load_chunk(const Lines* line /* (chunks, 32) */,
                                     const float4* value /* (chunks, 2, 32) */, Index c, int lane) {
  return {__ldg(line + c * kLanes + lane),
          {__ldg(value + 2 * c * kLanes + lane), __ldg(value + (2 * c + 1) * kLanes + lane)}};
}

/// sum += the chunk's edges; sum[t] holds the rows of part part_of(lane, t).
template <int kParts, class Lines>
PLUMB_DEVICE void gather_chunk(const Chunk<Lines>& chunk, const float4* lines /* (any, kParts), shared */,
                               int lane, float4 (&sum)[kParts]) {
#pragma unroll
  for (int e = 0; e < kChunk; ++e) {
    const float4* const line = lines + line_of(chunk.line, e) * kParts;
    const float v = element(chunk.value[e / 4], e % 4);
#pragma unroll
    for (int t = 0; t < kParts; ++t) add_scaled(sum[t], v, line[part_of<kParts>(lane, t)]);
  }
}

/// Layers of `parts` end to end in device memory: member `get` of each.
template <class T, class Part, class Get>
DeviceArray<T> concatenate(const std::vector<Part>& parts, const char* what, void* stream, Get get) {
  Index total = 0;
  for (const Part& part : parts) total += static_cast<Index>(get(part).size());
  DeviceArray<T> all(total, what);
  Index at = 0;
  for (const Part& part : parts) {
    const std::vector<T>& one = get(part);
    device_write(all.data() + at, one.data(), one.size() * sizeof(T), stream);
    at += static_cast<Index>(one.size());
  }
  return all;
}

/// make(layer) of every layer, on all the host's threads.
template <class Part, class Make>
std::vector<Part> make_parts(const SparseDnn& net, Make make) {
  std::vector<Part> parts(static_cast<std::size_t>(net.layers()));
  make_in_parallel(net.layers(), [&](Index l) { parts[static_cast<std::size_t>(l)] = make(*net.layer(l)); });
  return parts;
}

}  // namespace sdnn
}  // namespace plumb
