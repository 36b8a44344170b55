// Sparse DNN, the host's fast pipeline: rows are independent, so a tile of rows goes through many layers while
// it is in cache; 16 rows are the lanes of a vector, so an edge is one multiply-add of 16 rows.
//
// Class     general (A): indices and values honoured, any CSR; rows without a non-zero leave.
// Layout    tiles of `lanes` rows, feature-major, with lines in the order in which the next layer reads them; W transposed in
//           the order in which it is read (sparse_dnn/packed_layers.hpp).
// Traffic   per edge and tile 8 bytes of weights and lanes / 16 vectors from L1 or L2; per neuron and tile a line in and one out.
// Rows      become inactive at different layers. Where an eighth of a tile is inactive, the active rows wait before the next layer,
//           until they are a tile with those of other tiles; the deepest full tile is computed next. What waits at the end runs in
//           tiles that are not full. Rows at an absorbing state leave after any layer (plan_absorbing); the first value that
//           differs ends the look at a row.
// Fails at  networks in which neurons share no inputs and lanes * neurons are beyond L2: the gather then runs at the speed of L3.
#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include <omp.h>

#include "reference/models/sparse_dnn/absorbing.hpp"
#include "reference/models/sparse_dnn/packed_layers.hpp"
#include "reference/models/sparse_dnn/parts.hpp"
#include "reference/models/sparse_dnn/sparse_dnn.hpp"
#include "reference/models/sparse_dnn/streamed.hpp"
#include "reference/models/sparse_dnn/tile.hpp"

namespace plumb {

namespace {

using sdnn::groups_for;
using sdnn::kGroup;
using sdnn::now;
using sdnn::Tile;

constexpr std::int64_t kTileBytes = std::int64_t{512}
                                    << 10;  // a tile should stay in L2, beside the one it is turned into
constexpr std::int64_t kThreadBytes = std::int64_t{40}
                                      << 20;  // of the tiles of a thread, but for the least number of them
constexpr std::int64_t kLeastTiles = 4, kMostTiles = 18;
constexpr std::int64_t kLeastIdle = 8;  // rows wait where an eighth of the lanes or more is idle
constexpr std::int64_t kTilesOfACarrier =
    3;  // beside those that wait: what is computed, what it becomes, and a packed one

/// What one thread counts and finishes over the whole run.
struct Progress {
  explicit Progress(std::int64_t layers)
      : active(static_cast<std::size_t>(layers) + 1, 0),
        left(active),
        seconds(static_cast<std::size_t>(layers), 0) {}
  std::vector<std::int64_t> active;  // by layer, and at the end: rows that are computed
  std::vector<std::int64_t> left;    // at an absorbing state before each layer, and at the end
  std::vector<double> seconds;       // by layer
  sdnn::FinishedRows done;
};

/// What all threads read.
struct Shape {
  const SparseDnn& net;
  const PackedLayers& weights;
  const std::optional<AbsorbingStates>& states;
  std::int64_t lanes;
};

/// One thread's rows on their way through layers [first, last).
class Carrier {
 public:
  Carrier(const Shape& shape, std::int64_t first, std::int64_t last, std::int64_t most_tiles, Progress& mine)
      : shape_(shape), first_(first), last_(last), most_tiles_(most_tiles), mine_(mine), clock_(now()) {
    for (std::int64_t l = first; l <= last; ++l) waiting_.emplace_back();
  }
  /// Rows [begin, end) of the inputs, no more than there are lanes, and what fills tiles with them.
  void take(const Csr<float>& y, std::int64_t begin, std::int64_t end);
  /// What waits.
  void finish();

 private:
  using Place = std::optional<Tile>;

  [[nodiscard]] Place& waiting(std::int64_t l) { return waiting_[static_cast<std::size_t>(l - first_)]; }
  [[nodiscard]] Tile take_free();
  void give_back(Tile tile) { free_.push_back(std::move(tile)); }
  void carry(Tile tile, std::int64_t l);
  [[nodiscard]] Tile compute(const Tile& tile, std::int64_t l);
  void take_absorbed(Tile& tile, std::int64_t l);
  void append_finished(const Tile& tile);
  [[nodiscard]] bool should_wait(const Tile& tile, std::int64_t l);
  [[nodiscard]] bool wait(Tile& tile, Tile spare, std::int64_t l);

  const Shape& shape_;
  std::int64_t first_, last_, most_tiles_;
  Progress& mine_;
  double clock_;                // the end of what was last added to a layer's time
  std::vector<Place> waiting_;  // before each layer: rows of several tiles, less than a full one
  std::int64_t waiting_tiles_ = 0;
  std::vector<Tile> free_;
};

Tile Carrier::take_free() {
  if (free_.empty()) return Tile(shape_.net.neurons * shape_.lanes);
  Tile tile = std::move(free_.back());
  free_.pop_back();
  tile.id.clear();
  tile.active = 0;
  return tile;
}

void Carrier::take(const Csr<float>& y, std::int64_t begin, std::int64_t end) {
  Tile tile = take_free();
  float* const values = tile.values.data();
  const auto floats = static_cast<std::size_t>(shape_.net.neurons * shape_.lanes);
  const std::vector<std::int32_t>& lines = shape_.weights.lines(first_);
  std::memset(values, 0, floats * sizeof(float));
  for (std::int64_t i = begin; i < end; ++i) {
    bool any = false;
    float* const row = values + tile.id.size();
    for (std::int32_t k = y.row_ptr[i]; k < y.row_ptr[i + 1]; ++k) {
      row[lines[static_cast<std::size_t>(y.col[k])] * shape_.lanes] += y.val[k];  // repeats add up
      any |= y.val[k] != 0;
    }
    if (!any) continue;
    tile.active |= std::uint64_t{1} << tile.id.size();
    tile.id.push_back(static_cast<std::int32_t>(i));
  }
  carry(std::move(tile), first_);
}

void Carrier::finish() {
  for (std::int64_t l = first_; l < last_; ++l) {
    if (!waiting(l)) continue;
    Tile tile = std::move(*waiting(l));
    waiting(l).reset();
    --waiting_tiles_;
    carry(std::move(tile), l);
  }
}

/// Carries a tile that enters layer l to the end, or until its rows wait or are inactive; then a full tile of those that waited.
void Carrier::carry(Tile tile, std::int64_t l) {
  for (; l < last_ && tile.active != 0; ++l) {
    Tile next = compute(tile, l);
    if (l + 1 < last_ && should_wait(next, l + 1)) {
      std::swap(tile, next);
      if (!wait(tile, std::move(next), l + 1)) return;
    } else {
      give_back(std::exchange(tile, std::move(next)));
    }
  }
  if (l == last_) append_finished(tile);
  give_back(std::move(tile));
}

Tile Carrier::compute(const Tile& tile, std::int64_t l) {
  const auto at = static_cast<std::size_t>(l - first_);
  mine_.active[at] += std::popcount(tile.active);
  Tile next = take_free();
  next.id = tile.id;
  const std::int64_t groups = groups_for(static_cast<std::int64_t>(tile.id.size()));
  const sdnn::TileKernel kernel = sdnn::tile_kernel(groups, shape_.net.bias > 0);
  next.active = tile.active & kernel(shape_.weights.layer(l), tile.values.data(), next.values.data(),
                                     shape_.net.bias, shape_.net.cap);
  take_absorbed(next, l);
  const double then = std::exchange(clock_, now());
  mine_.seconds[at] += clock_ - then;
  return next;
}

/// Takes the rows that layer l has left at an absorbing state out of the tile, and appends them to the answer.
void Carrier::take_absorbed(Tile& tile, std::int64_t l) {
  if (!shape_.states) return;
  const AbsorbingStates& states = *shape_.states;
  const bool zeros = states.zeros_stay(l + 1, last_), caps = states.caps_stay(l + 1, last_);
  if (!zeros && !caps) return;
  const std::vector<std::int32_t>& lines = shape_.weights.lines(l + 1);
  for (std::uint64_t rows = tile.active; rows != 0; rows &= rows - 1) {
    const int r = std::countr_zero(rows);
    const auto value_of = [&](std::int64_t i) {
      return tile.values.data()[lines[static_cast<std::size_t>(i)] * shape_.lanes + r];
    };
    const float value = value_of(0);
    bool absorbed = (zeros && value == 0) || (caps && value == states.cap);
    for (std::int64_t i = 1; i < states.neurons && absorbed; ++i) absorbed = value_of(i) == value;
    if (!absorbed) continue;
    mine_.done.append(tile.id[static_cast<std::size_t>(r)], states.neurons,
                      [value](std::int64_t) { return value; });
    ++mine_.left[static_cast<std::size_t>(l + 1 - first_)];
    tile.active &= ~(std::uint64_t{1} << r);
  }
}

/// The rows of a tile that enters layer l should share one with others.
bool Carrier::should_wait(const Tile& tile, std::int64_t l) {
  const auto rows = static_cast<std::int64_t>(tile.id.size());
  const std::int64_t active = std::popcount(tile.active);
  if (active == 0 || kLeastIdle * (shape_.lanes - active) < shape_.lanes) return false;
  return rows == shape_.lanes || groups_for(active) < groups_for(rows) || waiting(l);
}

/// Brings the active rows of `tile` together before layer l with those that wait there. Returns whether there is a tile to go on
/// with, which `tile` is then: a full one; or, where too many tiles wait for another one to, its own rows packed. `spare` is free.
bool Carrier::wait(Tile& tile, Tile spare, std::int64_t l) {
  spare.id.clear();
  spare.active = 0;
  Place& place = waiting(l);
  if (!place) {
    append_active(tile, shape_.net.neurons, shape_.lanes, spare, nullptr);
    give_back(std::exchange(tile, std::move(spare)));
    if (waiting_tiles_ + kTilesOfACarrier >= most_tiles_) return true;
    place = std::move(tile);
    ++waiting_tiles_;
    return false;
  }
  append_active(tile, shape_.net.neurons, shape_.lanes, *place, &spare);
  give_back(std::move(tile));
  if (static_cast<std::int64_t>(place->id.size()) < shape_.lanes) {
    give_back(std::move(spare));
    return false;
  }
  tile = std::move(*place);
  place.reset();
  --waiting_tiles_;
  if (spare.id.empty()) {
    give_back(std::move(spare));
  } else {
    place = std::move(spare);
    ++waiting_tiles_;
  }
  return true;
}

void Carrier::append_finished(const Tile& tile) {
  const std::vector<std::int32_t>& lines = shape_.weights.lines(last_);
  mine_.active.back() += std::popcount(tile.active);
  for (std::uint64_t rows = tile.active; rows != 0; rows &= rows - 1) {
    const int r = std::countr_zero(rows);
    mine_.done.append(tile.id[static_cast<std::size_t>(r)], shape_.net.neurons, [&](std::int64_t i) {
      return tile.values.data()[lines[static_cast<std::size_t>(i)] * shape_.lanes + r];
    });
  }
}

class CacheBlocked final : public SdnnPlan {
 public:
  /// Without `states` every active row is computed.
  explicit CacheBlocked(const SparseDnn& net, std::optional<AbsorbingStates> states = {})
      : net_(net), states_(std::move(states)), lanes_(lanes_for(net.neurons)), weights_(net, lanes_) {}
  SdnnRun run(const Csr<float>& y, std::int64_t first, std::int64_t last) override;

  /// What a plan takes beside its network and rows: tiles of all threads, and the layers packed.
  [[nodiscard]] static PlanBytes bytes(const SparseDnn& net) {
    const std::int64_t tile = lanes_for(net.neurons) * row_bytes(net.neurons);
    const std::int64_t thread = most_tiles(tile) * tile + PackedLayers::bytes_of_thread(net.neurons);
    return {omp_get_max_threads() * thread, PackedLayers::bytes_of_layer};
  }

 private:
  [[nodiscard]] static std::int64_t row_bytes(std::int64_t neurons) {
    return 4 * std::max<std::int64_t>(neurons, 1);
  }
  [[nodiscard]] static std::int64_t lanes_for(std::int64_t neurons) {
    const std::int64_t fit = kTileBytes / row_bytes(neurons);
    return fit >= 64 ? 64 : fit >= 32 ? 32 : 16;
  }
  [[nodiscard]] static std::int64_t most_tiles(std::int64_t tile_bytes) {
    return std::clamp(kThreadBytes / tile_bytes, kLeastTiles, kMostTiles);
  }
  [[nodiscard]] SdnnRun collect(std::vector<Progress>& threads, std::int64_t rows) const;

  const SparseDnn& net_;
  std::optional<AbsorbingStates> states_;
  std::int64_t lanes_;
  PackedLayers weights_;
};

SdnnRun CacheBlocked::collect(std::vector<Progress>& threads, std::int64_t rows) const {
  SdnnRun result;
  result.active.assign(threads.front().active.size(), 0);
  result.layer_seconds.assign(threads.front().seconds.size(), 0.0);
  std::vector<std::int64_t> left(result.active.size(), 0);
  std::vector<sdnn::FinishedRows> parts;
  for (Progress& t : threads) {
    for (std::size_t l = 0; l < t.active.size(); ++l) result.active[l] += t.active[l], left[l] += t.left[l];
    for (std::size_t l = 0; l < t.seconds.size(); ++l)
      result.layer_seconds[l] += t.seconds[l] / static_cast<double>(threads.size());
    parts.push_back(std::move(t.done));
  }
  if (states_) count_absorbed(result, std::move(left));
  result.y = sdnn::build(parts, rows, net_.neurons);
  return result;
}

SdnnRun CacheBlocked::run(const Csr<float>& y, std::int64_t first, std::int64_t last) {
  const double start = now();
  const int threads = omp_get_max_threads();
  std::vector<Progress> progress(static_cast<std::size_t>(threads), Progress(last - first));
  const Shape shape{net_, weights_, states_, lanes_};
  const std::int64_t tiles = most_tiles(lanes_ * row_bytes(net_.neurons));
  // small jobs are cut so that every thread has some
  const std::int64_t share = groups_for((y.rows + threads - 1) / threads) * kGroup;
  const std::int64_t rows = std::clamp(share, kGroup, lanes_);
#pragma omp parallel
  {
    Carrier carrier(shape, first, last, tiles, progress[static_cast<std::size_t>(omp_get_thread_num())]);
#pragma omp for schedule(dynamic) nowait
    for (std::int64_t begin = 0; begin < y.rows; begin += rows)
      carrier.take(y, begin, std::min(y.rows, begin + rows));
    carrier.finish();
  }
  SdnnRun result = collect(progress, y.rows);
  result.seconds = now() - start;
  return result;
}

}  // namespace

const SdnnPipeline kSdnnCacheBlocked = {
    "cache_blocked",
    SdnnStructure::general,
    Space::host,
    "tiles of rows through many layers in cache, 16 rows per vector, the active rows packed",
    [](const SparseDnn&) -> const char* { return nullptr; },
    [](const SparseDnn& net) -> std::unique_ptr<SdnnPlan> { return std::make_unique<CacheBlocked>(net); },
    0,
    "carried_tiles",
    [](const SparseDnn& net, AbsorbingStates states) -> std::unique_ptr<SdnnPlan> {
      return std::make_unique<CacheBlocked>(net, std::move(states));
    },
    [](const SparseDnn& net, const MemoryBound& memory) {
      return streamed_on_host(net, memory, CacheBlocked::bytes(net), kSdnnCacheBlocked.one_bias_plan);
    }};

namespace sdnn {

namespace {

/// Of the network with the neuron that carries `biases`, what it takes; 0 without biases.
std::int64_t bytes_with_constant_neuron(const SparseDnn& net) {
  const std::int64_t more = net.layers() * (net.neurons + 2);  // edges: a bias of each neuron, and its own
  return net.biases.empty() ? 0 : net.held_bytes() + 8 * more;
}

}  // namespace

std::int64_t cache_blocked_bytes(const SparseDnn& net) {
  const PlanBytes plan = CacheBlocked::bytes(net);
  const std::int64_t more = net.biases.empty() ? 0 : net.neurons + 2;
  std::int64_t sum = plan.workspace + bytes_with_constant_neuron(net);
  for (std::int64_t l = 0; l < net.layers(); ++l)
    sum += plan.of_layer(net.neurons, net.edges(l, l + 1) + more);
  return sum;
}

}  // namespace sdnn

}  // namespace plumb
