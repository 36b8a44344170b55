#include "reference/models/sparse_dnn/tile.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace plumb::sdnn {

namespace {

// never passed or returned by value: how depends on AVX-512
using Vec = float __attribute__((vector_size(64), aligned(64), may_alias));
using Bits = std::int32_t __attribute__((vector_size(64), aligned(64), may_alias));

// words; the weights of a layer are read once, and come from L3 or memory
constexpr std::int64_t kAhead = 512;

Vec& group_at(float* p) { return *reinterpret_cast<Vec*>(p); }
const Vec& group_at(const float* p) { return *reinterpret_cast<const Vec*>(p); }

/// sums[r] += the next `count` edges of each of R neurons. Returns the edge behind them.
template <int R, int G>
inline const std::uint32_t* add_edges(const std::uint32_t* e, std::int32_t count, const float* in,
                                      Vec (&sums)[2][G], int first) {
  constexpr int kStep = 4;  // edges of each neuron, which are a cache line where R is 2
  const auto add = [&]() __attribute__((always_inline)) {
    for (int r = 0; r < R; ++r) {
      std::uint64_t edge;
      std::memcpy(&edge, e, sizeof edge);
      e += 2;
      asm("" : "+r"(edge));  // else the compiler loads the weight once more, as a vector
      const float* const y = in + (edge & 0xffffffffU) * kGroup;
      const Vec w = reinterpret_cast<Vec>(Bits{} + static_cast<std::int32_t>(edge >> 32U));
      for (int g = 0; g < G; ++g) sums[first + r][g] += w * group_at(y + kGroup * g);
    }
  };
  for (; count >= kStep; count -= kStep) {
    __builtin_prefetch(e + kAhead);
    for (int k = 0; k < kStep; ++k) add();
  }
  for (; count > 0; --count) add();
  return e;
}

/// sums[r] = the edges of each of the neurons of a block. Returns the edge behind them.
template <int G>
inline const std::uint32_t* add_block(const std::uint32_t* e, std::int32_t degree, const float* in,
                                      Vec (&sums)[PackedLayer::kSharers][G]) {
  for (; degree > 0; --degree) {
    __builtin_prefetch(e + kAhead);
    const float* const y = in + std::size_t{*e++} * kGroup;
    Vec input[G];
    for (int g = 0; g < G; ++g) input[g] = group_at(y + kGroup * g);
    for (auto& sum : sums) {
      const Vec w = reinterpret_cast<Vec>(Bits{} + static_cast<std::int32_t>(*e++));  // one load
      for (int g = 0; g < G; ++g) sum[g] += w * input[g];
    }
  }
  return e;
}

/// The activations of one neuron, from its sums. `seen` gathers their bits.
template <int G, bool kPositiveBias>
inline void activate_groups(const Vec (&sum)[G], float* out, const Vec& bias, const Vec& cap,
                            Bits (&seen)[G]) {
  const Vec zero{};
  for (int g = 0; g < G; ++g) {
    Vec z = kPositiveBias ? sum[g] + (sum[g] != zero ? bias : zero) : sum[g] + bias;
    z = zero > z ? zero : z;  // NaN falls through both
    z = cap < z ? cap : z;
    group_at(out + kGroup * g) = z;
    seen[g] |= reinterpret_cast<Bits>(z);
  }
}

template <int G, bool kPositiveBias>
std::uint64_t layer_of_tile(const PackedLayer& w, const float* in, float* out, float bias, float cap) {
  const Vec bias_lanes = Vec{} + bias, cap_lanes = Vec{} + cap;
  Bits seen[G] = {};
  const std::uint32_t* e = w.edges;
  const std::size_t n = w.to.size();
  const std::int32_t* const degrees = w.degrees.data();
  const std::int32_t* const to = w.to.data();
  constexpr std::size_t kSharers = PackedLayer::kSharers;
  for (std::size_t j = 0; j < n; j += w.blocks[j] != 0 ? kSharers : 2) {
    if (w.blocks[j] != 0) {
      Vec sums[kSharers][G] = {};
      e = add_block<G>(e, degrees[j], in, sums);
      for (std::size_t r = 0; r < kSharers; ++r)
        activate_groups<G, kPositiveBias>(sums[r], out + to[j + r] * kGroup, bias_lanes, cap_lanes, seen);
      continue;
    }
    Vec sums[2][G] = {};
    const std::int32_t a = degrees[j], b = j + 1 < n ? degrees[j + 1] : 0, both = std::min(a, b);
    e = add_edges<2, G>(e, both, in, sums, 0);
    e = add_edges<1, G>(e, a - both, in, sums, 0);
    e = add_edges<1, G>(e, b - both, in, sums, 1);
    activate_groups<G, kPositiveBias>(sums[0], out + to[j] * kGroup, bias_lanes, cap_lanes, seen);
    if (j + 1 < n)
      activate_groups<G, kPositiveBias>(sums[1], out + to[j + 1] * kGroup, bias_lanes, cap_lanes, seen);
  }
  std::uint64_t active = 0;
  for (int g = 0; g < G; ++g) {
    const Vec bits = reinterpret_cast<Vec>(seen[g]);  // not 0 where one of the values was not
    for (int r = 0; r < kGroup; ++r) active |= std::uint64_t{bits[r] != 0} << (kGroup * g + r);
  }
  return active;
}

/// Lane r of `a` becomes its own lane index[r], or lane index[r] - 16 of `b`.
void choose_lanes(Vec& a, const Vec& b, const Bits& index) {
#ifdef __AVX512F__
  a = _mm512_permutex2var_ps(a, reinterpret_cast<__m512i>(index), b);
#else
  const Vec own = a;
  for (int r = 0; r < kGroup; ++r) a[r] = index[r] < kGroup ? own[index[r]] : b[index[r] - kGroup];
#endif
}

/// Lanes of a group that go into a group of another tile.
struct Move {
  const float* from;  // in line 0, as `to` of a target
  Bits lanes;         // as choose_lanes() takes them: the others stay
};

/// A group that is written, and whence.
struct Target {
  float* to;
  bool has_rows;  // already
  std::vector<Move> moves;
};

/// The group of lane `at` of `to`, or of those of `more` behind them.
float* target_group(std::int64_t at, std::int64_t lanes, Tile& to, Tile* more) {
  const std::int64_t group = at / kGroup * kGroup;
  return group < lanes ? to.values.data() + group : more->values.data() + group - lanes;
}

std::vector<Target> targets_of(const Tile& from, std::int64_t lanes, Tile& to, Tile* more) {
  std::vector<Target> targets;
  auto at = static_cast<std::int64_t>(to.id.size());
  for (std::uint64_t rows = from.active; rows != 0; rows &= rows - 1, ++at) {
    const std::int64_t lane = std::countr_zero(rows), in_group = at % kGroup;
    if (targets.empty() || in_group == 0)
      targets.push_back({target_group(at, lanes, to, more), in_group > 0, {}});
    std::vector<Move>& moves = targets.back().moves;
    const float* const group = from.values.data() + lane / kGroup * kGroup;
    if (moves.empty() || moves.back().from != group) {
      moves.push_back({group, Bits{}});
      for (int r = 0; r < kGroup; ++r) moves.back().lanes[r] = r;
    }
    moves.back().lanes[in_group] = static_cast<std::int32_t>(kGroup + lane % kGroup);
  }
  return targets;
}

}  // namespace

TileKernel tile_kernel(std::int64_t groups, bool positive_bias) {
  constexpr TileKernel kKernels[2][4] = {
      {layer_of_tile<1, false>, layer_of_tile<2, false>, layer_of_tile<3, false>, layer_of_tile<4, false>},
      {layer_of_tile<1, true>, layer_of_tile<2, true>, layer_of_tile<3, true>, layer_of_tile<4, true>}};
  return kKernels[positive_bias ? 1 : 0][groups - 1];
}

void append_active(const Tile& from, std::int64_t neurons, std::int64_t lanes, Tile& to, Tile* more) {
  constexpr std::int64_t kAhead = 8;  // lines
  const std::vector<Target> targets = targets_of(from, lanes, to, more);
  for (std::int64_t line = 0; line < neurons * lanes; line += lanes) {
    for (const Target& target : targets) {
      __builtin_prefetch(target.to + line + kAhead * lanes, 1);
      Vec group = target.has_rows ? group_at(target.to + line) : Vec{};
      for (const Move& move : target.moves) choose_lanes(group, group_at(move.from + line), move.lanes);
      group_at(target.to + line) = group;
    }
  }
  for (std::uint64_t rows = from.active; rows != 0; rows &= rows - 1) {
    Tile& tile = static_cast<std::int64_t>(to.id.size()) < lanes ? to : *more;
    tile.active |= std::uint64_t{1} << tile.id.size();
    tile.id.push_back(from.id[static_cast<std::size_t>(std::countr_zero(rows))]);
  }
}

}  // namespace plumb::sdnn
