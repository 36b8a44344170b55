// Sparse DNN on the device: rows at an absorbing state are found and leave.
//
// Idea      two launches after a layer that is looked at. Warps compare the lines of a panel with its first line, a lane
//           per row, and stop where no row of the panel can be at a state; then the bits of rows whose every value
//           was equal are cleared, and the compaction that follows in any case drops them.
// Traffic   a row at a state is read once, as it leaves. Other rows cost a line or two of each slice, as long as no
//           row of their panel is at a state.
#include "gpu/models/sparse_dnn/absorbing_rows.hpp"

#include <algorithm>

namespace plumb {
namespace sdnn {
namespace {

constexpr Index kSlice = 128;  // lines that a warp compares
constexpr int kLinesAtOnce = 8;

/// What makes a row one that leaves.
struct States {
  Index neurons;  // the first so many are compared
  float cap;
  bool zeros, caps;
  PLUMB_DEVICE bool is_one(float value) const { return (zeros && value == 0) || (caps && value == cap); }
};

/// y: panels of `held` lines. Sets the bits of rows that are at no state.
__global__ void __launch_bounds__(kThreads)
    sdnn_find_others(const float* y, Index held, const std::int32_t* count, States states,
                     unsigned* other_bits) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Index rows = *count, slices = ceil_div(states.neurons, kSlice),
              items = ceil_div(rows, kPanel) * slices;
  const Index warps = static_cast<Index>(gridDim.x) * kThreads / 32;
  for (Index i = (static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x) / 32; i < items; i += warps) {
    const Index panel = i / slices, begin = i % slices * kSlice, end = min(states.neurons, begin + kSlice);
    const float* const lines = y + panel * held * kPanel + lane;
    const bool valid = panel * kPanel + lane < rows;
    const float value = valid ? lines[0] : 0.0f;
    bool other = !valid || !states.is_one(value);
    for (Index j = begin; j < end && __all_sync(kAllLanes, other) == 0; j += kLinesAtOnce) {
#pragma unroll
      for (int u = 0; u < kLinesAtOnce; ++u) {
        if (valid && j + u < end) other |= lines[(j + u) * kPanel] != value;
      }
    }
    const unsigned bits = __ballot_sync(kAllLanes, other);
    if (lane == 0 && bits != 0) atomicOr(other_bits + panel, bits);
  }
}

// A warp per word of bits. `other_bits` becomes 0 again.
__global__ void __launch_bounds__(kThreads)
    sdnn_take_absorbed(const float* y, Index held, const std::int32_t* count, States states,
                       const std::int32_t* ids, bool all_active, unsigned* other_bits, unsigned* active_bits,
                       std::int32_t* left, std::int32_t* ids_at_cap, std::int32_t* count_at_cap) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Index word = (static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x) / 32, rows = *count;
  if (word * kRowsPerWord >= rows) return;  // whole warps
  const Index row = word * kRowsPerWord + lane;
  const unsigned there = __ballot_sync(kAllLanes, row < rows);
  const unsigned active = all_active ? there : active_bits[word], others = other_bits[word];
  const unsigned leaving = active & ~others;
  __syncwarp();  // all lanes have read the words
  if (lane == 0) {
    active_bits[word] = active & others;
    other_bits[word] = 0;
    if (leaving != 0) atomicAdd(left, __popc(leaving));
  }
  const bool leaves = (leaving >> lane & 1u) != 0;
  const unsigned caps = __ballot_sync(kAllLanes, leaves && y[(word * held) * kPanel + lane] == states.cap);
  std::int32_t base = 0;
  if (lane == 0 && caps != 0) base = atomicAdd(count_at_cap, __popc(caps));
  base = __shfl_sync(kAllLanes, base, 0);
  if ((caps >> lane & 1u) != 0) ids_at_cap[base + __popc(caps & ((1u << lane) - 1))] = ids[row];
}

Index first_that_may_leave(const AbsorbingStates& states, Index first, Index last) {
  Index l = std::min(last, first + 1);
  while (l < last && !states.zeros_stay(l, last) && !states.caps_stay(l, last)) ++l;
  return states.neurons > 0 ? l : last;
}

}  // namespace

AbsorbedRows::AbsorbedRows(const AbsorbingStates& states, Index rows, Index first, Index last, void* stream)
    : states_(states),
      first_(first),
      last_(last),
      from_(first_that_may_leave(states, first, last)),
      other_bits_(ceil_div(rows, kRowsPerWord) + 1, "bits of rows at no absorbing state"),
      ids_at_cap_(rows + 1, "ids of absorbed rows"),
      left_(last - first + 1, "numbers of absorbed rows"),
      count_at_cap_(1, "number of rows absorbed at the cap"),
      rest_(1, "number of rows that are left") {
  const auto clear = [stream](const auto& array) {
    device_fill(array.data(), 0, static_cast<std::size_t>(array.bytes()), stream);
  };
  clear(other_bits_), clear(left_), clear(count_at_cap_);
}

Index AbsorbedRows::device_bytes(Index rows, Index layers) {
  return 4 * (ceil_div(rows, kRowsPerWord) + 1 + rows + 1 + layers + 1 + 2);
}

void AbsorbedRows::take(Index l, const float* y, Index neurons, const std::int32_t* count, ActiveBits bits,
                        ActiveRows& active, void* stream) {
  const States states{states_.neurons, states_.cap, states_.zeros_stay(l, last_),
                      states_.caps_stay(l, last_)};
  launch(sdnn_find_others, device_multiprocessors() * 8, kThreads, 0, stream, y, neurons, count, states,
         other_bits_.data());
  launch(sdnn_take_absorbed, ceil_div(other_bits_.size(), kThreads / 32), kThreads, 0, stream, y, neurons,
         count, states, active.ids.data(), bits == ActiveBits::all_rows, other_bits_.data(),
         active.active_bits.data(), left_.data() + (l - first_), ids_at_cap_.data(), count_at_cap_.data());
}

std::vector<std::int64_t> AbsorbedRows::left(void* stream) const {
  const std::vector<std::int32_t> left = left_.read(left_.size(), stream);
  return {left.begin(), left.end()};
}

FinishedRows AbsorbedRows::at_cap(void* stream) const {
  FinishedRows rows;
  for (const std::int32_t id : ids_at_cap_.read(count_at_cap_.read(1, stream).front(), stream))
    rows.append(id, states_.neurons, [this](Index) { return states_.cap; });
  return rows;
}

}  // namespace sdnn
}  // namespace plumb
