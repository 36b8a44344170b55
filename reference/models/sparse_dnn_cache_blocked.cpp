// Sparse DNN, the host's fast pipeline: rows are independent, so a chunk of rows goes through many layers while
// it is in cache; 16 rows are the lanes of a vector, so an edge is one multiply-add of 16 rows.
//
// Class     general (A): indices and values honoured, any CSR; rows without a non-zero leave.
// Layout    tiles of `lanes` rows, feature-major: element (row r, neuron i) at [i * lanes + r]. W transposed is
//           read in place.
// Traffic   per edge and tile one broadcast weight, one index and lanes / 16 vectors from L1 or L2.
// Rows      become inactive at different layers. Inside a chunk the active ones are packed together whenever
//           that saves a group of 16 lanes. Where three quarters of a chunk are inactive at the end of a stage,
//           its active rows wait and share new chunks with those of other chunks. Rows at an absorbing state leave
//           after any layer (plan_absorbing); the first value that differs ends the look at a row.
// Measured  60,000 official inputs, 1024 x 120: 0.28 s with W in its own order; visiting columns sorted by
//           their inputs is slower (0.35 s), as neighbouring columns already share inputs, and W is then no
//           longer one stream (2 Zen 5 cores, gcc 12).
// Fails at  lanes * neurons beyond L2 (above 16,384 neurons): the gather then runs at the speed of L3.
#include <atomic>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include <omp.h>

#include "reference/models/sparse_dnn.hpp"
#include "reference/models/sparse_dnn_absorbing.hpp"
#include "reference/models/sparse_dnn_parts.hpp"
#include "reference/models/sparse_dnn_streamed.hpp"

namespace plumb {

namespace {

using sdnn::AlignedFloats;
using sdnn::now;

constexpr std::int64_t kGroup = 16;  // rows per vector
constexpr std::int64_t kTileBytes = std::int64_t{512}
                                    << 10;  // a tile should stay in L2, beside the one it is turned into
constexpr std::int64_t kChunkRows = 512;    // enough that packing the active rows leaves few lanes idle
constexpr std::int64_t kChunkBytes = std::int64_t{16} << 20;
constexpr std::int64_t kWaitingBytes = std::int64_t{1} << 30;  // of all waiting rows together, at most
constexpr std::int64_t kFirstStage = 16;  // stages end after layers 16, 64, 256, 1024 ...

using Vec = float __attribute__((vector_size(64), aligned(64), may_alias));

/// out = activate(in W) for the first 16 G lanes of a tile of `kLanes`. Bit r of the result: row r has a
/// non-zero.
template <int G, int kLanes, bool kPositiveBias>
std::uint64_t layer_of_tile(const Csr<float>& gather, const float* in, float* out, float bias, float cap) {
  const Vec zero{};
  const Vec bias_lanes = zero + bias, cap_lanes = zero + cap;
  Vec seen[G] = {};
  const std::int32_t* const row_ptr = gather.row_ptr.data();
  const std::int32_t* const col = gather.col.data();
  const float* const val = gather.val.data();
  for (std::int64_t j = 0; j < gather.rows; ++j) {
    Vec sum[G] = {};
    const std::int32_t end = row_ptr[j + 1];
    for (std::int32_t k = row_ptr[j]; k < end; ++k) {
      const float* const y = in + static_cast<std::int64_t>(col[k]) * kLanes;
      const Vec w = zero + val[k];
      for (int g = 0; g < G; ++g) sum[g] += w * *reinterpret_cast<const Vec*>(y + kGroup * g);
    }
    for (int g = 0; g < G; ++g) {
      Vec z = kPositiveBias ? sum[g] + (sum[g] != zero ? bias_lanes : zero) : sum[g] + bias_lanes;
      z = z <= zero ? zero : z;  // NaN falls through both
      z = z > cap_lanes ? cap_lanes : z;
      *reinterpret_cast<Vec*>(out + j * kLanes + kGroup * g) = z;
      seen[g] = z != zero ? z : seen[g];
    }
  }
  std::uint64_t active = 0;
  for (int g = 0; g < G; ++g) {
    for (int r = 0; r < kGroup; ++r) active |= std::uint64_t{seen[g][r] != 0} << (kGroup * g + r);
  }
  return active;
}

using TileKernel = std::uint64_t (*)(const Csr<float>&, const float*, float*, float, float);

template <int kLanes, bool kPositiveBias>
TileKernel kernel_for(std::int64_t groups) {
  if constexpr (kLanes >= 64) {
    if (groups == 4) return layer_of_tile<4, kLanes, kPositiveBias>;
    if (groups == 3) return layer_of_tile<3, kLanes, kPositiveBias>;
  }
  if constexpr (kLanes >= 32) {
    if (groups == 2) return layer_of_tile<2, kLanes, kPositiveBias>;
  }
  return layer_of_tile<1, kLanes, kPositiveBias>;
}

/// Some rows in tiles, and which rows of the input they are.
struct Rows {
  std::vector<std::int32_t> id;  // 0-based; lane r of tile t is row t * lanes + r
  AlignedFloats tiles;
};

class CacheBlocked final : public SdnnPlan {
 public:
  /// Without `states` every active row is computed.
  explicit CacheBlocked(const SparseDnn& net, std::optional<AbsorbingStates> states = {})
      : net_(net), states_(std::move(states)) {
    lanes_ = lanes_for(net.neurons);
    const bool positive = net.bias > 0;
    for (std::int64_t g = 1; g <= lanes_ / kGroup; ++g) {
      kernels_[g] = lanes_ == 64   ? (positive ? kernel_for<64, true>(g) : kernel_for<64, false>(g))
                    : lanes_ == 32 ? (positive ? kernel_for<32, true>(g) : kernel_for<32, false>(g))
                                   : (positive ? kernel_for<16, true>(g) : kernel_for<16, false>(g));
    }
  }

  SdnnRun run(const Csr<float>& y, std::int64_t first, std::int64_t last) override;

  /// Bytes of the chunks of all threads.
  [[nodiscard]] static std::int64_t workspace(const SparseDnn& net) {
    const std::int64_t lanes = lanes_for(net.neurons), row = row_bytes(net.neurons);
    return omp_get_max_threads() * 2 * (longest_chunk(lanes, row, true) + lanes) * row;
  }

 private:
  /// What one thread counts and finishes over the whole run.
  struct Thread {
    std::vector<std::int64_t> active;  // by layer, and at the end: rows that are computed
    std::vector<std::int64_t> left;    // at an absorbing state before each layer, and at the end
    std::vector<double> seconds;       // by layer
    sdnn::FinishedRows done;
  };

  /// Memory of one thread for one stage.
  struct Scratch {
    Rows rows;
    AlignedFloats spare;  // as large as rows.tiles
    std::vector<std::int32_t> active;
    std::vector<const float*> from;
    double clock = 0;  // the end of what was last added to a layer's time
  };

  /// Rows that wait for a stage to begin, each part in a buffer of its own.
  struct Waiting {
    std::vector<Rows> parts;
    std::vector<std::pair<std::size_t, std::int64_t>> lanes;  // (part, lane) of every row
  };

  /// Layers [begin, end), after which active rows may wait; the run is layers [first, last). The first stage reads the
  /// inputs, every other one the rows that waited.
  struct Stage {
    std::int64_t first, last, begin, end;
    std::int64_t rows, chunk;  // rows in all, and in one chunk
    const Csr<float>* input;   // null after the first stage
  };

  [[nodiscard]] static std::int64_t row_bytes(std::int64_t neurons) {
    return 4 * std::max<std::int64_t>(neurons, 1);
  }
  [[nodiscard]] static std::int64_t lanes_for(std::int64_t neurons) {
    const std::int64_t fit = kTileBytes / row_bytes(neurons);
    return fit >= 64 ? 64 : fit >= 32 ? 32 : 16;
  }
  /// Rows of a chunk: of inputs, or of a later stage, where few rows become inactive, so that single tiles do.
  [[nodiscard]] static std::int64_t longest_chunk(std::int64_t lanes, std::int64_t row_bytes,
                                                  bool from_input) {
    return std::max(lanes, std::min(from_input ? kChunkRows : lanes, kChunkBytes / row_bytes));
  }
  [[nodiscard]] std::int64_t tile_floats() const { return net_.neurons * lanes_; }
  [[nodiscard]] std::int64_t tiles_for(std::int64_t rows) const { return (rows + lanes_ - 1) / lanes_; }
  [[nodiscard]] float* lane(float* tiles, std::int64_t r) const {
    return tiles + r / lanes_ * tile_floats() + r % lanes_;
  }

  [[nodiscard]] std::int64_t chunk_rows(std::int64_t rows, bool from_input, int threads) const;
  void pack(const std::vector<const float*>& from, float* to) const;
  void load(const Csr<float>& y, std::int64_t begin, std::int64_t end, Rows& rows) const;
  void gather(const Waiting& waiting, std::int64_t begin, std::int64_t end, Scratch& s) const;
  std::int64_t step(const Stage& stage, std::int64_t l, Scratch& s, Thread& mine) const;
  bool take_absorbed(const Stage& stage, std::int64_t l, Scratch& s, Thread& mine) const;
  [[nodiscard]] std::vector<Rows> run_stage(const Stage& stage, const Waiting& waiting,
                                            std::vector<Thread>& threads) const;
  std::int64_t run_chunk(const Stage& stage, std::int64_t rows,
                         const std::atomic<std::int64_t>& waiting_bytes, Scratch& s, Thread& mine,
                         bool& waits) const;
  [[nodiscard]] Rows set_aside(std::int64_t active, Scratch& s) const;
  void finish(const Scratch& s, Thread& mine) const;
  [[nodiscard]] SdnnRun collect(std::vector<Thread>& threads, std::int64_t rows) const;

  const SparseDnn& net_;
  std::optional<AbsorbingStates> states_;
  std::int64_t lanes_ = 16;
  TileKernel kernels_[5] = {};
};

/// Packs lanes from[0..n) of anywhere into the first n lanes of `to`; what is left of the last group of 16 is set to 0.
void CacheBlocked::pack(const std::vector<const float*>& from, float* to) const {
  const auto n = static_cast<std::int64_t>(from.size());
  for (std::int64_t t = 0; t * lanes_ < n; ++t) {
    const std::int64_t m = std::min(lanes_, n - t * lanes_), width = (m + kGroup - 1) / kGroup * kGroup;
    const float* const* const source = from.data() + t * lanes_;
    float* const tile = to + t * tile_floats();
    for (std::int64_t i = 0; i < net_.neurons; ++i) {
      for (std::int64_t r = 0; r < m; ++r) tile[i * lanes_ + r] = source[r][i * lanes_];
      for (std::int64_t r = m; r < width; ++r) tile[i * lanes_ + r] = 0;
    }
  }
}

void CacheBlocked::load(const Csr<float>& y, std::int64_t begin, std::int64_t end, Rows& rows) const {
  rows.id.clear();
  std::memset(rows.tiles.data(), 0,
              static_cast<std::size_t>(tiles_for(end - begin) * tile_floats()) * sizeof(float));
  for (std::int64_t i = begin; i < end; ++i) {
    bool any = false;
    float* const to = lane(rows.tiles.data(), static_cast<std::int64_t>(rows.id.size()));
    for (std::int32_t k = y.row_ptr[i]; k < y.row_ptr[i + 1]; ++k) {
      to[y.col[k] * lanes_] += y.val[k];  // repeats add up
      any |= y.val[k] != 0;
    }
    if (any) rows.id.push_back(static_cast<std::int32_t>(i));
  }
}

/// Waiting rows [begin, end) into tiles.
void CacheBlocked::gather(const Waiting& waiting, std::int64_t begin, std::int64_t end, Scratch& s) const {
  s.rows.id.clear();
  s.from.clear();
  for (std::int64_t r = begin; r < end; ++r) {
    const auto& [part, at] = waiting.lanes[static_cast<std::size_t>(r)];
    s.rows.id.push_back(waiting.parts[part].id[static_cast<std::size_t>(at)]);
    s.from.push_back(lane(waiting.parts[part].tiles.data(), at));
  }
  pack(s.from, s.rows.tiles.data());
}

/// Takes the rows of s.active that layer l has left at an absorbing state out of it, and appends them to the answer. Says
/// whether there were any.
bool CacheBlocked::take_absorbed(const Stage& stage, std::int64_t l, Scratch& s, Thread& mine) const {
  if (!states_) return false;
  const bool zeros = states_->zeros_stay(l + 1, stage.last), caps = states_->caps_stay(l + 1, stage.last);
  if (!zeros && !caps) return false;
  const std::int64_t neurons = states_->neurons;
  std::size_t kept = 0;
  for (const std::int32_t r : s.active) {
    const float* const row = lane(s.spare.data(), r);
    const float value = row[0];
    bool absorbed = (zeros && value == 0) || (caps && value == states_->cap);
    for (std::int64_t i = 1; i < neurons && absorbed; ++i) absorbed = row[i * lanes_] == value;
    if (absorbed) {
      mine.done.append(s.rows.id[static_cast<std::size_t>(r)], neurons,
                       [value](std::int64_t) { return value; });
    } else {
      s.active[kept++] = r;
    }
  }
  const std::size_t left = s.active.size() - kept;
  mine.left[static_cast<std::size_t>(l + 1 - stage.first)] += static_cast<std::int64_t>(left);
  s.active.resize(kept);
  return left > 0;
}

/// One layer over all tiles of s.rows; the rows that go on are packed where that saves a group, or where others have left.
/// Returns how many there are.
std::int64_t CacheBlocked::step(const Stage& stage, std::int64_t l, Scratch& s, Thread& mine) const {
  const Csr<float>& w = net_.gather[static_cast<std::size_t>(l)];
  Rows& rows = s.rows;
  const auto n = static_cast<std::int64_t>(rows.id.size());
  s.active.clear();
  for (std::int64_t t = 0; t * lanes_ < n; ++t) {
    const std::int64_t m = std::min(lanes_, n - t * lanes_);
    std::uint64_t mask = kernels_[(m + kGroup - 1) / kGroup](
        w, rows.tiles.data() + t * tile_floats(), s.spare.data() + t * tile_floats(), net_.bias, net_.cap);
    if (m < 64) mask &= (std::uint64_t{1} << m) - 1;
    for (; mask != 0; mask &= mask - 1)
      s.active.push_back(static_cast<std::int32_t>(t * lanes_ + std::countr_zero(mask)));
  }
  const bool some_left = take_absorbed(stage, l, s, mine);
  const auto active = static_cast<std::int64_t>(s.active.size());
  if (!some_left && (active + kGroup - 1) / kGroup >= (n + kGroup - 1) / kGroup) {
    std::swap(rows.tiles, s.spare);
    return active;
  }
  s.from.resize(s.active.size());
  for (std::size_t r = 0; r < s.active.size(); ++r) s.from[r] = lane(s.spare.data(), s.active[r]);
  pack(s.from, rows.tiles.data());
  for (std::size_t r = 0; r < s.active.size(); ++r)
    rows.id[r] = rows.id[static_cast<std::size_t>(s.active[r])];
  rows.id.resize(s.active.size());
  return active;
}

/// Small jobs are cut so that every thread has some; a later stage, where few rows become inactive, into single tiles,
/// which stay in L2.
std::int64_t CacheBlocked::chunk_rows(std::int64_t rows, bool from_input, int threads) const {
  const std::int64_t share = (rows + 4 * threads - 1) / (4 * threads);
  const std::int64_t limit = longest_chunk(lanes_, row_bytes(net_.neurons), from_input);
  return std::clamp((share + kGroup - 1) / kGroup * kGroup, kGroup, limit);
}

/// Carries the rows in `s` from the stage's first layer to the last of the run, or until few are left and they may wait.
/// Returns how many are active.
std::int64_t CacheBlocked::run_chunk(const Stage& stage, std::int64_t rows,
                                     const std::atomic<std::int64_t>& waiting_bytes, Scratch& s, Thread& mine,
                                     bool& waits) const {
  auto active = static_cast<std::int64_t>(s.rows.id.size());
  for (std::int64_t l = stage.begin; l < stage.last && active > 0; ++l) {
    waits = l == stage.end && active * 4 <= rows && waiting_bytes < kWaitingBytes;
    if (waits) break;
    mine.active[static_cast<std::size_t>(l - stage.first)] += active;
    active = step(stage, l, s, mine);
    const double then = std::exchange(s.clock, now());
    mine.seconds[static_cast<std::size_t>(l - stage.first)] += s.clock - then;
  }
  return active;
}

/// The active rows of `s` in a buffer of their own.
Rows CacheBlocked::set_aside(std::int64_t active, Scratch& s) const {
  s.from.clear();
  Rows kept{{}, AlignedFloats(tiles_for(active) * tile_floats())};
  for (std::size_t r = 0; r < s.rows.id.size(); ++r) {
    const float* const source = lane(s.rows.tiles.data(), static_cast<std::int64_t>(r));
    bool any = false;
    for (std::int64_t i = 0; i < net_.neurons && !any; ++i) any = source[i * lanes_] != 0;
    if (!any) continue;
    s.from.push_back(source);
    kept.id.push_back(s.rows.id[r]);
  }
  pack(s.from, kept.tiles.data());
  return kept;
}

void CacheBlocked::finish(const Scratch& s, Thread& mine) const {
  for (std::size_t r = 0; r < s.rows.id.size(); ++r) {
    const float* const source = lane(s.rows.tiles.data(), static_cast<std::int64_t>(r));
    mine.done.append(s.rows.id[r], net_.neurons, [&](std::int64_t i) { return source[i * lanes_]; });
  }
}

/// All chunks of one stage; returns the rows that wait for the next one.
std::vector<Rows> CacheBlocked::run_stage(const Stage& stage, const Waiting& waiting,
                                          std::vector<Thread>& threads) const {
  const std::int64_t chunks = (stage.rows + stage.chunk - 1) / stage.chunk;
  std::vector<Rows> survivors;
  std::atomic<std::int64_t> waiting_bytes{0};
#pragma omp parallel
  {
    Thread& mine = threads[static_cast<std::size_t>(omp_get_thread_num())];
    const std::int64_t floats = tiles_for(stage.chunk) * tile_floats();
    Scratch s{{{}, AlignedFloats(floats)}, AlignedFloats(floats), {}, {}, 0};
#pragma omp for schedule(dynamic)
    for (std::int64_t c = 0; c < chunks; ++c) {
      const std::int64_t begin = c * stage.chunk, end = std::min(stage.rows, begin + stage.chunk);
      s.clock = now();
      if (stage.input != nullptr) {
        load(*stage.input, begin, end, s.rows);
      } else {
        gather(waiting, begin, end, s);
      }
      bool waits = false;
      const std::int64_t active = run_chunk(stage, end - begin, waiting_bytes, s, mine, waits);
      if (active == 0) continue;
      if (!waits) {
        mine.active.back() += active;
        finish(s, mine);
        continue;
      }
      Rows kept = set_aside(active, s);
      waiting_bytes += tiles_for(active) * tile_floats() * 4;
#pragma omp critical(plumb_sdnn_survivors)
      survivors.push_back(std::move(kept));
    }
  }
  return survivors;
}

SdnnRun CacheBlocked::collect(std::vector<Thread>& threads, std::int64_t rows) const {
  SdnnRun result;
  result.active.assign(threads.front().active.size(), 0);
  result.layer_seconds.assign(threads.front().seconds.size(), 0.0);
  std::vector<std::int64_t> left(result.active.size(), 0);
  std::vector<sdnn::FinishedRows> parts;
  for (Thread& t : threads) {
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
  const auto layers = static_cast<std::size_t>(last - first);
  std::vector<Thread> per_thread(static_cast<std::size_t>(threads));
  for (Thread& t : per_thread) {
    t.active.assign(layers + 1, 0);
    t.left.assign(layers + 1, 0);
    t.seconds.assign(layers, 0.0);
  }
  Waiting waiting;
  Stage stage{first, last, first, std::min(last, first + kFirstStage), y.rows, 0, &y};
  for (std::int64_t length = kFirstStage;;) {
    stage.chunk = chunk_rows(stage.rows, stage.input != nullptr, threads);
    waiting.parts = run_stage(stage, waiting, per_thread);
    waiting.lanes.clear();
    for (std::size_t part = 0; part < waiting.parts.size(); ++part) {
      for (std::size_t r = 0; r < waiting.parts[part].id.size(); ++r)
        waiting.lanes.emplace_back(part, static_cast<std::int64_t>(r));
    }
    stage.rows = static_cast<std::int64_t>(waiting.lanes.size());
    stage.input = nullptr;
    stage.begin = stage.end;
    length *= 4;
    stage.end = std::min(last, first + length);
    if (stage.rows == 0 || stage.begin >= last) break;
  }
  SdnnRun result = collect(per_thread, y.rows);
  result.seconds = now() - start;
  return result;
}

}  // namespace

const SdnnPipeline kSdnnCacheBlocked = {
    "cache_blocked",
    SdnnStructure::general,
    Space::host,
    "chunks of rows through many layers in cache, 16 rows per vector, the active rows packed",
    [](const SparseDnn&) -> const char* { return nullptr; },
    [](const SparseDnn& net) -> std::unique_ptr<SdnnPlan> { return std::make_unique<CacheBlocked>(net); },
    0,
    "carried_tiles",
    [](const SparseDnn& net, AbsorbingStates states) -> std::unique_ptr<SdnnPlan> {
      return std::make_unique<CacheBlocked>(net, std::move(states));
    },
    [](const SparseDnn& net, const MemoryBound& memory) {
      return streamed_on_host(net, memory, CacheBlocked::workspace(net), kSdnnCacheBlocked.one_bias_plan);
    }};

}  // namespace plumb
