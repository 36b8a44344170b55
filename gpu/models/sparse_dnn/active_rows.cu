// The shared kernels of the sparse DNN's pipelines, and their host side.
#include "gpu/models/sparse_dnn/active_rows.hpp"

#include "gpu/models/sparse_dnn/add_entries.hpp"

namespace plumb {
namespace sdnn {
namespace {

constexpr int kListThreads = 1024;

// A warp per input row. Rows of zeros and rows without an entry are inactive.
__global__ void __launch_bounds__(kThreads)
    sdnn_active_inputs(const std::int32_t* row_ptr, const float* val, Index rows, unsigned* active_bits) {
  const Index row = (static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (row >= rows) return;  // uniform per warp
  bool any = false;
  for (Index k = row_ptr[row] + lane; k < row_ptr[row + 1]; k += 32) any |= val[k] != 0;
  if (__ballot_sync(kAllLanes, any) != 0 && lane == 0) {
    atomicOr(active_bits + row / kRowsPerWord, 1u << (row % kRowsPerWord));
  }
}

// Ids and places of the rows whose bit is set, ascending. A warp per word, a lane per row. Every block counts
// the active rows before its own words itself. The kernel clears `next` (words_held) for the next layer; it
// cannot clear `active_bits`, which other blocks still read. `ids_in` may be null: a row is then its own id.
// A version with one block, whose threads read one word after another, delayed every layer: 166 us for 60,000
// rows (H200, the profiler's clock).
__global__ void __launch_bounds__(kListThreads)
    sdnn_list_active(const unsigned* active_bits, unsigned* next, Index words_held, const std::int32_t* count,
                     const std::int32_t* ids_in, std::int32_t* ids_out, std::int32_t* place,
                     std::int32_t* count_out) {
  constexpr int kWords = kListThreads / 32;
  __shared__ std::int32_t before[kWords], own[kWords];
  const int t = static_cast<int>(threadIdx.x), lane = t % 32, warp = t / 32;
  const Index words = ceil_div(*count, kRowsPerWord), first = static_cast<Index>(blockIdx.x) * kWords;
  std::int32_t sum = 0;
  for (Index w = t; w < min(first, words); w += kListThreads) sum += __popc(active_bits[w]);
  sum = __reduce_add_sync(kAllLanes, sum);
  const Index word = first + warp;
  const unsigned bits = word < words ? active_bits[word] : 0;
  if (lane == 0) {
    before[warp] = sum, own[warp] = __popc(bits);
    if (word < words_held) next[word] = 0;
  }
  __syncthreads();
  const std::int32_t base = __reduce_add_sync(kAllLanes, before[lane] + (lane < warp ? own[lane] : 0));
  if ((bits >> lane & 1u) != 0) {
    const std::int32_t at = base + __popc(bits & ((1u << lane) - 1));
    const auto row = static_cast<std::int32_t>(word * kRowsPerWord + lane);
    place[at] = row;
    ids_out[at] = ids_in != nullptr ? ids_in[row] : row;
  }
  if (blockIdx.x == gridDim.x - 1 && t == kListThreads - 1) *count_out = base + own[warp];
}

// A warp per listed row. `distinct`: no row repeats a column.
__global__ void __launch_bounds__(kThreads)
    sdnn_scatter_inputs(const std::int32_t* row_ptr, const std::int32_t* col, const float* val, bool distinct,
                        const std::int32_t* ids, const std::int32_t* count, Layout layout, float* y) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Index warps = static_cast<Index>(gridDim.x) * kThreads / 32, rows = *count;
  for (Index r = (static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x) / 32; r < rows; r += warps) {
    float* const row = y + layout.row(r);
    const std::int32_t id = ids[r];
    if (!distinct) {
      add_entries(col, val, row_ptr[id], row_ptr[id + 1], layout.panel, row);
      continue;
    }
    for (Index k = row_ptr[id] + lane; k < row_ptr[id + 1]; k += 32) row[col[k] * layout.panel] = val[k];
  }
}

__global__ void __launch_bounds__(kThreads)
    sdnn_move_rows(const float* from, Layout from_layout, const std::int32_t* place, Index count, float* to,
                   Layout to_layout) {
  // Neighbouring threads take neighbouring rows where a panel has several, otherwise neighbouring features.
  const bool along_rows = to_layout.panel > 1;
  const Index inner = along_rows ? count : to_layout.neurons, all = count * to_layout.neurons;
  const Index stride = static_cast<Index>(gridDim.x) * kThreads;
  for (Index i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x; i < all; i += stride) {
    const Index r = along_rows ? i % inner : i / inner, j = along_rows ? i / inner : i % inner;
    to[to_layout.at(r, j)] = from[from_layout.at(place != nullptr ? place[r] : r, j)];
  }
}

// A warp per 32 rows and some features: its bits are one word.
__global__ void __launch_bounds__(kThreads)
    sdnn_activate(float* z, Layout layout, Index count, float bias, float cap, unsigned* active_bits) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Index warp = (static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x) / 32;
  const Index warps = static_cast<Index>(gridDim.x) * kThreads / 32;
  if (layout.panel == 1) {  // row-major: a warp walks along a row
    for (Index r = warp; r < count; r += warps) {
      bool any = false;
      for (Index j = lane; j < layout.neurons; j += 32) {
        const float y = activate(z[layout.at(r, j)], bias, cap);
        z[layout.at(r, j)] = y;
        any |= y != 0;
      }
      if (__ballot_sync(kAllLanes, any) != 0 && lane == 0)
        atomicOr(active_bits + r / kRowsPerWord, 1u << (r % kRowsPerWord));
    }
    return;
  }
  constexpr Index kFeatures = 64;  // per warp, which issues one atomic for all of them
  const Index words = ceil_div(count, kRowsPerWord), items = words * ceil_div(layout.neurons, kFeatures);
  for (Index item = warp; item < items; item += warps) {
    const Index r = item % words * kRowsPerWord + lane, first = item / words * kFeatures;
    bool any = false;
    if (r < count) {
      for (Index j = first; j < min(layout.neurons, first + kFeatures); ++j) {
        const float y = activate(z[layout.at(r, j)], bias, cap);
        z[layout.at(r, j)] = y;
        any |= y != 0;
      }
    }
    const unsigned bits = __ballot_sync(kAllLanes, any);
    if (bits != 0 && lane == 0) atomicOr(active_bits + item % words, bits);
  }
}

}  // namespace

DeviceRows::DeviceRows(const Csr<float>& y, void* stream)
    : rows(y.rows),
      row_ptr(y.row_ptr, "inputs, row pointers", stream),
      col(y.col, "inputs, columns", stream),
      val(y.val, "inputs, values", stream) {
  distinct = true;
  for (Index i = 0; i < rows && distinct; ++i) {
    for (Index k = y.row_ptr[static_cast<std::size_t>(i)] + 1; k < y.row_ptr[static_cast<std::size_t>(i) + 1];
         ++k)
      distinct &= y.col[static_cast<std::size_t>(k - 1)] < y.col[static_cast<std::size_t>(k)];
  }
}

DeviceWeights::DeviceWeights(const SparseDnn& net, void* stream)
    : neurons_(net.neurons), first_(1, 0), row_ptr_(net.layers() * (net.neurons + 1), "weights") {
  for (const Csr<float>& w : net.gather) first_.push_back(first_.back() + w.nnz());
  require_device_memory(first_.back() * 8,
                        "sparse DNN: weights of " + std::to_string(net.layers()) + " layers");
  col_ = DeviceArray<std::int32_t>(first_.back(), "weights, columns");
  val_ = DeviceArray<float>(first_.back(), "weights, values");
  for (std::size_t l = 0; l < net.gather.size(); ++l) {
    const Csr<float>& w = net.gather[l];
    device_write(row_ptr_.data() + static_cast<Index>(l) * (neurons_ + 1), w.row_ptr.data(),
                 w.row_ptr.size() * sizeof(std::int32_t), stream);
    device_write(col_.data() + first_[l], w.col.data(), w.col.size() * sizeof(std::int32_t), stream);
    device_write(val_.data() + first_[l], w.val.data(), w.val.size() * sizeof(float), stream);
  }
}

Index ActiveRows::device_bytes(Index rows, Index layers) {
  return 4 * (2 * (ceil_div(rows, kRowsPerWord) + 1) + 3 * (rows + 1) + layers + 2);
}

ActiveRows::ActiveRows(Index rows, Index layers, void* stream)
    : active_bits(ceil_div(rows, kRowsPerWord) + 1, "bits of active rows"),
      active_bits_next(active_bits.size(), "bits of active rows, next"),
      ids(rows + 1, "ids of active rows"),
      ids_before(rows + 1, "ids of active rows before"),
      place(rows + 1, "places of active rows"),
      counts(layers + 2, "numbers of active rows") {
  device_fill(active_bits.data(), 0, static_cast<std::size_t>(active_bits.bytes()), stream);
  device_fill(active_bits_next.data(), 0, static_cast<std::size_t>(active_bits_next.bytes()), stream);
  device_fill(counts.data(), 0, static_cast<std::size_t>(counts.bytes()), stream);
  const auto given = static_cast<std::int32_t>(rows);
  device_write(counts.data(), &given, sizeof given, stream);
}

void ActiveRows::list_inputs(const DeviceRows& inputs, void* stream) {
  launch(sdnn_active_inputs, ceil_div(inputs.rows, kThreads / 32), kThreads, 0, stream, inputs.row_ptr.data(),
         inputs.val.data(), inputs.rows, active_bits.data());
  list_from(nullptr, counts.data(), counts.data() + 1, stream);
}

void ActiveRows::list(Index l, void* stream) { relist(count(l), count(l + 1), stream); }

void ActiveRows::relist(const std::int32_t* before, std::int32_t* after, void* stream) {
  std::swap(ids, ids_before);
  list_from(ids_before.data(), before, after, stream);
}

void ActiveRows::list_from(const std::int32_t* ids_in, const std::int32_t* before, std::int32_t* after,
                           void* stream) {
  launch(sdnn_list_active, ceil_div(active_bits.size(), kListThreads / 32), kListThreads, 0, stream,
         active_bits.data(), active_bits_next.data(), active_bits.size(), before, ids_in, ids.data(),
         place.data(), after);
  std::swap(active_bits, active_bits_next);
}

Index ActiveRows::read_count(Index l, void* stream) const {
  std::int32_t n = 0;
  device_read(&n, count(l), sizeof n, stream);
  return n;
}

void scatter_inputs(const DeviceRows& inputs, const ActiveRows& active, const Layout& layout, float* y,
                    void* stream) {
  launch(sdnn_scatter_inputs, ceil_div(inputs.rows, kThreads / 32), kThreads, 0, stream,
         inputs.row_ptr.data(), inputs.col.data(), inputs.val.data(), inputs.distinct, active.ids.data(),
         active.count(0), layout, y);
}

void move_rows(const float* from, const Layout& from_layout, const std::int32_t* place, Index count,
               float* to, const Layout& to_layout, void* stream) {
  launch(sdnn_move_rows, ceil_div(count * to_layout.neurons, kThreads * 8), kThreads, 0, stream, from,
         from_layout, place, count, to, to_layout);
}

void activate_rows(float* z, const Layout& layout, Index count, float bias, float cap, unsigned* active_bits,
                   void* stream) {
  launch(sdnn_activate, ceil_div(count * layout.neurons, kThreads * 8), kThreads, 0, stream, z, layout, count,
         bias, cap, active_bits);
}

namespace {

/// Rows of the answer that are fetched together: up to 256 MiB of them.
Index rows_of_piece(Index neurons, Index rows) {
  constexpr Index kPieceBytes = Index{256} << 20;
  return std::max<Index>(1, std::min(rows, kPieceBytes / (4 * std::max<Index>(neurons, 1)) / 32 * 32));
}

}  // namespace

Index answer_bytes(Index neurons, Index rows) { return 4 * neurons * rows_of_piece(neurons, rows); }

Csr<float> fetch_answer(const float* y, const Layout& layout, const std::int32_t* ids, Index count,
                        Index rows, void* stream, FinishedRows more) {
  const Index n = layout.neurons, piece = rows_of_piece(n, count);
  std::vector<std::int32_t> id(static_cast<std::size_t>(count));
  device_read(id.data(), ids, id.size() * sizeof(std::int32_t), stream);
  std::vector<FinishedRows> parts(1);
  parts.push_back(std::move(more));
  if (count > 0 && n > 0) {
    const DeviceArray<float> row_major(piece * n, "rows of the answer");
    std::vector<float> host(static_cast<std::size_t>(piece * n));
    for (Index first = 0; first < count; first += piece) {
      const Index some = std::min(piece, count - first);
      // `piece` is whole panels, or all rows there are.
      move_rows(y + layout.row(first), layout, nullptr, some, row_major.data(), Layout{n, 1}, stream);
      device_read(host.data(), row_major.data(), static_cast<std::size_t>(some * n) * 4, stream);
      for (Index r = 0; r < some; ++r) {
        const float* const row = host.data() + r * n;
        parts[0].append(id[static_cast<std::size_t>(first + r)], n, [&](Index j) { return row[j]; });
      }
    }
  }
  return build(parts, rows, n);
}

}  // namespace sdnn
}  // namespace plumb
