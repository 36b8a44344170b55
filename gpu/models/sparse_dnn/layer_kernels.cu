// The kernels between layers of any width: rows put side by side, and the active rows counted.
#include "gpu/models/sparse_dnn/layer_kernels.hpp"

#include <algorithm>

namespace plumb {
namespace sdnn {
namespace {

constexpr int kInputLines = 256;  // of a panel, put together in shared memory: 32 KiB
constexpr int kPanelThreads = 256;

// A block fills a panel from its first line to its last, 256 lines at a time. Columns ascend, so each of the
// 8 threads of a row continues where it stopped, with its next kBatch entries in registers. Zeros and entries
// are written together: filling memory with zeros and then adding the entries one by one takes four times as
// long at 65,536 neurons.
__global__ void __launch_bounds__(kPanelThreads)
    sdnn_panel_inputs(const std::int32_t* row_ptr, const std::int32_t* col, const float* val,
                      const std::int32_t* ids, const std::int32_t* count, Index neurons, float* y) {
  constexpr int kPerRow = kPanelThreads / static_cast<int>(kPanel);
  constexpr int kTileParts = kInputLines * static_cast<int>(kPanel) / 4;
  __shared__ float4 tile[kTileParts];
  float* const words = reinterpret_cast<float*>(tile);
  const int t = static_cast<int>(threadIdx.x), row = t / kPerRow;
  const Index rows = *count;
  constexpr int kBatch = 4;
  for (Index panel = blockIdx.x; panel * kPanel < rows; panel += gridDim.x) {
    const Index r = panel * kPanel + row;
    Index k = 0, end = 0;
    if (r < rows) {
      k = row_ptr[ids[r]] + t % kPerRow;
      end = row_ptr[ids[r] + 1];
    }
    std::int32_t next[kBatch];
    float value[kBatch];
    const auto fetch = [&] {
#pragma unroll
      for (int i = 0; i < kBatch; ++i, k += kPerRow) {
        next[i] = k < end ? __ldg(col + k) : -1;
        value[i] = k < end ? __ldg(val + k) : 0.0f;
      }
    };
    fetch();
    for (Index first = 0; first < neurons; first += kInputLines) {
      const int here = static_cast<int>(min(static_cast<Index>(kInputLines), neurons - first));
      for (int i = t; i < kTileParts; i += kPanelThreads) tile[i] = {0, 0, 0, 0};
      __syncthreads();
      for (;;) {
#pragma unroll
        for (int i = 0; i < kBatch; ++i) {  // entries of earlier tiles are not in this one
          const Index line = next[i] - first;
          if (line >= 0 && line < here) words[line * kPanel + row] = value[i];
        }
        // Columns ascend: the batch is used up if its last is.
        if (next[kBatch - 1] < 0 || next[kBatch - 1] - first >= here) break;
        fetch();
      }
      __syncthreads();
      float4* const to = reinterpret_cast<float4*>(y + (panel * neurons + first) * kPanel);
      for (int i = t; i < here * static_cast<int>(kPanel) / 4; i += kPanelThreads) to[i] = tile[i];
      __syncthreads();
    }
  }
}

__global__ void __launch_bounds__(kThreads)
    sdnn_settle_rows(const float* from, const std::int32_t* place, const std::int32_t* count, Index neurons,
                     float* to) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Layout layout{neurons, kPanel};
  const Index rows = *count, items = ceil_div(rows, kPanel) * neurons;  // lines
  const Index warps = static_cast<Index>(gridDim.x) * kThreads / 32;
  for (Index i = (static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x) / 32; i < items; i += warps) {
    const Index r = i / neurons * kPanel + lane, j = i % neurons;
    to[layout.at(r, j)] = r < rows ? from[layout.at(place != nullptr ? place[r] : r, j)] : 0.0f;
  }
}

// A warp per layer.
__global__ void __launch_bounds__(kThreads)
    sdnn_count_active(const unsigned* active_bits, Index words, Index layers, std::int32_t* counts) {
  const Index l = (static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (l >= layers) return;  // whole warps
  std::int32_t sum = 0;
  for (Index i = lane; i < words; i += 32) sum += __popc(active_bits[l * words + i]);
  sum = __reduce_add_sync(kAllLanes, sum);
  if (lane == 0) counts[l] = sum;
}

}  // namespace

void panel_inputs(const DeviceRows& inputs, const ActiveRows& active, Index neurons, float* y, void* stream) {
  const Index blocks = std::min<Index>(ceil_div(inputs.rows, kPanel), device_multiprocessors() * Index{8});
  launch(sdnn_panel_inputs, blocks, kPanelThreads, 0, stream, inputs.row_ptr.data(), inputs.col.data(),
         inputs.val.data(), active.ids.data(), active.count(0), neurons, y);
}

void compact_rows(const float* from, const std::int32_t* place, const std::int32_t* count, Index neurons,
                  float* to, void* stream) {
  launch(sdnn_settle_rows, device_multiprocessors() * 8, kThreads, 0, stream, from, place, count, neurons,
         to);
}

void count_active(const unsigned* active_bits, Index words, Index layers, std::int32_t* counts,
                  void* stream) {
  launch(sdnn_count_active, ceil_div(layers, kThreads / 32), kThreads, 0, stream, active_bits, words, layers,
         counts);
}

}  // namespace sdnn
}  // namespace plumb
