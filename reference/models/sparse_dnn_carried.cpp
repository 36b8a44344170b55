// Sparse DNN, the host's fast pipeline: rows are independent, so a chunk of rows is carried through many
// layers while it lies in cache; 16 rows are the lanes of a vector, so an edge is one multiply-add of 16
// rows.
//
// Class     A: indices and values honoured, any CSR; rows without a non-zero leave.
// Layout    tiles of `lanes` rows, feature-major: element (row r, neuron i) at [i * lanes + r]. W transposed
//           is read in place.
// Traffic   per edge and tile one broadcast weight, one index and lanes / 16 vectors from L1 or L2.
// Dying     rows die unevenly. Inside a chunk the living are packed together whenever that saves a group of
//           16 lanes; where three quarters of a chunk have died by a stage's end, its survivors wait and
//           share new chunks with others'.
// Measured  60,000 official inputs, 1024 x 120: 0.28 s with W in its own order; visiting columns sorted by
//           their inputs is slower (0.35 s), as neighbouring columns already share inputs, and W is then no
//           longer one stream (2 Zen 5 cores, gcc 12).
// Fails at  lanes * neurons beyond L2 (above 16,384 neurons): the gather then runs at L3's pace.
#include <atomic>
#include <bit>
#include <cstring>
#include <utility>

#include <omp.h>

#include "reference/models/sparse_dnn.hpp"
#include "reference/models/sparse_dnn_parts.hpp"

namespace plumb {

namespace {

using sdnn::AlignedFloats;
using sdnn::now;

constexpr std::int64_t kGroup = 16;  // rows per vector
constexpr std::int64_t kTileBytes = std::int64_t{512}
                                    << 10;  // a tile should stay in L2, beside the one it is turned into
constexpr std::int64_t kChunkRows = 512;    // enough that packing the living leaves few lanes idle
constexpr std::int64_t kChunkBytes = std::int64_t{16} << 20;
constexpr std::int64_t kWaitingBytes = std::int64_t{1} << 30;  // survivors of all chunks together, at most
constexpr std::int64_t kFirstStage = 16;  // stages end after layers 16, 64, 256, 1024 ...

using Vec = float __attribute__((vector_size(64), aligned(64), may_alias));

/// out = activate(in W) for the first 16 G lanes of a tile of `kLanes`. Bit r of the answer: row r has a
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
  std::uint64_t alive = 0;
  for (int g = 0; g < G; ++g) {
    for (int r = 0; r < kGroup; ++r) alive |= std::uint64_t{seen[g][r] != 0} << (kGroup * g + r);
  }
  return alive;
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

class Carried final : public SdnnPlan {
 public:
  explicit Carried(const SparseDnn& net) : net_(net) {
    const std::int64_t fit = kTileBytes / (4 * std::max<std::int64_t>(net.neurons, 1));
    lanes_ = fit >= 64 ? 64 : fit >= 32 ? 32 : 16;
    const bool positive = net.bias > 0;
    for (std::int64_t g = 1; g <= lanes_ / kGroup; ++g) {
      kernels_[g] = lanes_ == 64   ? (positive ? kernel_for<64, true>(g) : kernel_for<64, false>(g))
                    : lanes_ == 32 ? (positive ? kernel_for<32, true>(g) : kernel_for<32, false>(g))
                                   : (positive ? kernel_for<16, true>(g) : kernel_for<16, false>(g));
    }
  }

  SdnnRun run(const Csr<float>& y, std::int64_t first, std::int64_t last) override;

 private:
  struct Thread {
    std::vector<std::int64_t> alive;  // by layer
    std::vector<double> seconds;      // by layer
    sdnn::FinishedRows done;
  };

  [[nodiscard]] std::int64_t tile_floats() const { return net_.neurons * lanes_; }
  [[nodiscard]] std::int64_t tiles_for(std::int64_t rows) const { return (rows + lanes_ - 1) / lanes_; }
  [[nodiscard]] float* lane(float* tiles, std::int64_t r) const {
    return tiles + r / lanes_ * tile_floats() + r % lanes_;
  }

  /// Packs lanes from[0..n) of anywhere into the first n lanes of `to`; what is left of the last group of 16
  /// is set to 0.
  void pack(const std::vector<const float*>& from, float* to) const {
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

  void load(const Csr<float>& y, std::int64_t begin, std::int64_t end, Rows& rows) const {
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

  /// One layer over all tiles of `rows`; the living are packed where that saves a group. Returns how many
  /// live.
  std::int64_t step(std::int64_t l, Rows& rows, AlignedFloats& spare,
                    std::vector<std::int32_t>& living) const {
    const Csr<float>& w = net_.gather[static_cast<std::size_t>(l)];
    const auto n = static_cast<std::int64_t>(rows.id.size());
    living.clear();
    for (std::int64_t t = 0; t * lanes_ < n; ++t) {
      const std::int64_t m = std::min(lanes_, n - t * lanes_);
      std::uint64_t alive = kernels_[(m + kGroup - 1) / kGroup](
          w, rows.tiles.data() + t * tile_floats(), spare.data() + t * tile_floats(), net_.bias, net_.cap);
      if (m < 64) alive &= (std::uint64_t{1} << m) - 1;
      for (; alive != 0; alive &= alive - 1) {
        living.push_back(static_cast<std::int32_t>(t * lanes_ + std::countr_zero(alive)));
      }
    }
    const auto alive = static_cast<std::int64_t>(living.size());
    if ((alive + kGroup - 1) / kGroup < (n + kGroup - 1) / kGroup) {
      std::vector<const float*> from(living.size());
      for (std::size_t r = 0; r < living.size(); ++r) from[r] = lane(spare.data(), living[r]);
      pack(from, rows.tiles.data());
      for (std::size_t r = 0; r < living.size(); ++r)
        rows.id[r] = rows.id[static_cast<std::size_t>(living[r])];
      rows.id.resize(living.size());
    } else {
      std::swap(rows.tiles, spare);
    }
    return alive;
  }

  const SparseDnn& net_;
  std::int64_t lanes_ = 16;
  TileKernel kernels_[5] = {};
};

SdnnRun Carried::run(const Csr<float>& y, std::int64_t first, std::int64_t last) {
  const double start = now();
  const int threads = omp_get_max_threads();
  const std::int64_t row_bytes = 4 * std::max<std::int64_t>(net_.neurons, 1);
  std::vector<Thread> per_thread(static_cast<std::size_t>(threads));
  for (Thread& t : per_thread) {
    t.alive.assign(static_cast<std::size_t>(last - first) + 1, 0);
    t.seconds.assign(static_cast<std::size_t>(last - first), 0.0);
  }

  std::vector<Rows> waiting;  // survivors of the stage before, each with a buffer of its own
  std::vector<std::pair<std::size_t, std::int64_t>>
      lanes;  // (which of waiting, lane): the rows of this stage
  bool from_input = true;
  std::int64_t rows_left = y.rows, stage_begin = first;
  std::atomic<std::int64_t> waiting_bytes{0};
  for (std::int64_t length = kFirstStage; stage_begin < last || from_input; length *= 4) {
    const std::int64_t stage_end = std::min(last, first + length);
    // Small jobs are cut so that every thread has some; a later stage, where few rows die, into single tiles,
    // which stay in L2.
    const std::int64_t share = (rows_left + 4 * threads - 1) / (4 * threads);
    const std::int64_t limit =
        std::max(lanes_, std::min(from_input ? kChunkRows : lanes_, kChunkBytes / row_bytes));
    const std::int64_t chunk = std::clamp((share + kGroup - 1) / kGroup * kGroup, kGroup, limit);
    const std::int64_t chunks = (rows_left + chunk - 1) / chunk;
    std::vector<Rows> survivors;
#pragma omp parallel
    {
      Thread& mine = per_thread[static_cast<std::size_t>(omp_get_thread_num())];
      Rows rows{{}, AlignedFloats(tiles_for(chunk) * tile_floats())};
      AlignedFloats spare(tiles_for(chunk) * tile_floats());
      std::vector<std::int32_t> living;
      std::vector<const float*> from;
#pragma omp for schedule(dynamic)
      for (std::int64_t c = 0; c < chunks; ++c) {
        const std::int64_t begin = c * chunk, end = std::min(rows_left, begin + chunk);
        double clock = now();
        if (from_input) {
          load(y, begin, end, rows);
        } else {
          rows.id.clear();
          from.clear();
          for (std::int64_t r = begin; r < end; ++r) {
            const auto& [part, at] = lanes[static_cast<std::size_t>(r)];
            rows.id.push_back(waiting[part].id[static_cast<std::size_t>(at)]);
            from.push_back(lane(waiting[part].tiles.data(), at));
          }
          pack(from, rows.tiles.data());
        }
        auto alive = static_cast<std::int64_t>(rows.id.size());
        bool waits = false;
        for (std::int64_t l = stage_begin; l < last && alive > 0; ++l) {
          if (l == stage_end && alive * 4 <= end - begin && waiting_bytes < kWaitingBytes) {
            waits = true;
            break;
          }
          mine.alive[static_cast<std::size_t>(l - first)] += alive;
          alive = step(l, rows, spare, living);
          const double then = std::exchange(clock, now());
          mine.seconds[static_cast<std::size_t>(l - first)] += clock - then;
        }
        if (alive == 0) continue;
        if (waits) {
          from.clear();
          Rows kept{{}, AlignedFloats(tiles_for(alive) * tile_floats())};
          for (std::int64_t r = 0; r < static_cast<std::int64_t>(rows.id.size()); ++r) {
            const float* const source = lane(rows.tiles.data(), r);
            bool any = false;
            for (std::int64_t i = 0; i < net_.neurons && !any; ++i) any = source[i * lanes_] != 0;
            if (!any) continue;
            from.push_back(source);
            kept.id.push_back(rows.id[static_cast<std::size_t>(r)]);
          }
          pack(from, kept.tiles.data());
          waiting_bytes += tiles_for(alive) * tile_floats() * 4;
#pragma omp critical(plumb_sdnn_survivors)
          survivors.push_back(std::move(kept));
        } else {
          mine.alive.back() += alive;
          for (std::int64_t r = 0; r < static_cast<std::int64_t>(rows.id.size()); ++r) {
            const float* const source = lane(rows.tiles.data(), r);
            mine.done.append(rows.id[static_cast<std::size_t>(r)], net_.neurons,
                             [&](std::int64_t i) { return source[i * lanes_]; });
          }
        }
      }
    }
    waiting = std::move(survivors);
    waiting_bytes = 0;
    lanes.clear();
    for (std::size_t part = 0; part < waiting.size(); ++part) {
      for (std::int64_t r = 0; r < static_cast<std::int64_t>(waiting[part].id.size()); ++r)
        lanes.emplace_back(part, r);
    }
    rows_left = static_cast<std::int64_t>(lanes.size());
    from_input = false;
    stage_begin = stage_end;
    if (rows_left == 0) break;
  }

  SdnnRun result;
  result.alive.assign(static_cast<std::size_t>(last - first) + 1, 0);
  result.layer_seconds.assign(static_cast<std::size_t>(last - first), 0.0);
  std::vector<sdnn::FinishedRows> parts;
  for (Thread& t : per_thread) {
    for (std::size_t l = 0; l < t.alive.size(); ++l) result.alive[l] += t.alive[l];
    for (std::size_t l = 0; l < t.seconds.size(); ++l) result.layer_seconds[l] += t.seconds[l] / threads;
    parts.push_back(std::move(t.done));
  }
  result.y = sdnn::build(parts, y.rows, net_.neurons);
  result.seconds = now() - start;
  return result;
}

}  // namespace

const SdnnPipeline kSdnnCarried = {
    "carried_tiles",
    'A',
    Space::host,
    "chunks of rows carried through many layers in cache, 16 rows per vector, the living packed",
    [](const SparseDnn&) -> const char* { return nullptr; },
    [](const SparseDnn& net) -> std::unique_ptr<SdnnPlan> { return std::make_unique<Carried>(net); }};

}  // namespace plumb
