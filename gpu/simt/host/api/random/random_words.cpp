// XORWOW: G. Marsaglia, Xorshift RNGs, 2003, with the seeding of curand_init. Philox 4x32-10: J. Salmon and others, Parallel random numbers:
// as easy as 1, 2, 3, SC 2011. Jumps of XORWOW are powers of its step, a matrix over GF(2).
#include "gpu/simt/host/api/random/random_words.hpp"

#include <cmath>

namespace plumb::simt {

namespace {

constexpr std::size_t kLanes = 4096, kBits = 160;
constexpr std::uint64_t kPhiloxLanes = 65536;
constexpr unsigned kLogLaneDistance = 67;
constexpr std::uint32_t kWeyl = 362437;
constexpr double kTurn = 6.283185307179586;

using Vector = std::array<std::uint32_t, 5>;
using Matrix = std::vector<Vector>;  // column by column

Vector step(const Vector& v) {
  const std::uint32_t t = v[0] ^ v[0] >> 2;
  return {v[1], v[2], v[3], v[4], v[4] ^ v[4] << 4 ^ t ^ t << 1};
}

Vector product(const Matrix& m, const Vector& v) {
  Vector out{};
  for (std::size_t j = 0; j < kBits; ++j) {
    if ((v[j / 32] >> j % 32 & 1u) == 0) continue;
    for (std::size_t w = 0; w < out.size(); ++w) out[w] ^= m[j][w];
  }
  return out;
}

Matrix squared(const Matrix& m) {
  Matrix out(kBits);
  for (std::size_t j = 0; j < kBits; ++j) out[j] = product(m, m[j]);
  return out;
}

Matrix one_step() {
  Matrix out(kBits);
  for (std::size_t j = 0; j < kBits; ++j) {
    Vector unit{};
    unit[j / 32] = 1u << j % 32;
    out[j] = step(unit);
  }
  return out;
}

const Matrix& to_next_lane() {
  static const Matrix jump = [] {
    Matrix m = one_step();
    for (unsigned i = 0; i < kLogLaneDistance; ++i) m = squared(m);
    return m;
  }();
  return jump;
}

void skip(std::vector<XorwowState>& states, std::uint64_t steps) {
  Matrix power = one_step();
  for (std::uint64_t rest = steps; rest != 0; rest >>= 1) {
    if ((rest & 1u) != 0) {
      for (XorwowState& s : states) s.v = product(power, s.v);
    }
    if (rest > 1) power = squared(power);
  }
  for (XorwowState& s : states) s.d += static_cast<std::uint32_t>(steps) * kWeyl;
}

XorwowState seeded(std::uint64_t seed) {
  const std::uint32_t low = 1099087573u * (static_cast<std::uint32_t>(seed) ^ 0xaad26b49u);
  const std::uint32_t high = 2591861531u * (static_cast<std::uint32_t>(seed >> 32) ^ 0xf7dcefddu);
  return {{123456789u + low, 362436069u ^ low, 521288629u + high, 88675123u ^ high, 5783321u + low},
          6615241u + high + low};
}

using Quad = std::array<std::uint32_t, 4>;
Quad philox(Quad c, std::uint32_t key0, std::uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xd2511f53u} * c[0], b = std::uint64_t{0xcd9e8d57u} * c[2];
    c = {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ key0, static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ key1, static_cast<std::uint32_t>(a)};
    key0 += 0x9e3779b9u, key1 += 0xbb67ae85u;
  }
  return c;
}

}  // namespace

void RandomWords::begin() {
  lanes_.reserve(kLanes);
  lanes_.push_back(seeded(seed_));
  while (lanes_.size() < kLanes) {
    XorwowState next = lanes_.back();
    next.v = product(to_next_lane(), next.v);
    lanes_.push_back(next);
  }
  skip(lanes_, offset_ / kLanes);
  for (std::size_t i = 0; i < offset_ % kLanes; ++i) (void)Lane{this, i}.word();
}

Lane RandomWords::next_lane(std::uint64_t numbers, std::uint64_t words_each) {
  if (source_ == WordSource::philox) {
    philox_ = {position_, words_each, 0};
    position_ += numbers;
    return {this, 0};
  }
  if (lanes_.empty()) begin();
  return {this, position_++ % kLanes};
}

std::uint32_t RandomWords::philox_word() {
  const std::uint64_t round = philox_.number / (4 * kPhiloxLanes), lane = philox_.number / 4 % kPhiloxLanes;
  const std::uint64_t of_lane = 4 * round + philox_.number % 4;  // which of the lane's numbers
  const std::uint64_t word = of_lane * philox_.words_each + philox_.taken++, quad = word / 4;
  const Quad made = philox({static_cast<std::uint32_t>(quad), static_cast<std::uint32_t>(quad >> 32),
                            static_cast<std::uint32_t>(lane), 0},
                           static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32));
  return made[word % 4];
}

std::uint32_t Lane::word() const {
  if (words->source_ == WordSource::philox) return words->philox_word();
  XorwowState& s = words->lanes_[number];
  s.v = step(s.v);
  s.d += kWeyl;
  return s.v[4] + s.d;
}

float uniform(Lane lane) { return static_cast<float>(lane.word()) * 0x1p-32f + 0x1p-33f; }

double uniform_double(Lane lane) {
  const std::uint64_t x = lane.word(), y = lane.word();
  return static_cast<double>(x ^ y << 21) * 0x1p-53 + 0x1p-54;
}

void normal_pair(Lane lane, float* two) {
  const float u = uniform(lane);
  const float angle = uniform(lane) * static_cast<float>(kTurn);
  const float size = std::sqrt(-2.0f * std::log(u));
  two[0] = std::sin(angle) * size, two[1] = std::cos(angle) * size;
}

void normal_pair(Lane lane, double* two) {
  const double u = uniform_double(lane);
  const double angle = uniform_double(lane) * kTurn;
  const double size = std::sqrt(-2.0 * std::log(u));
  two[0] = std::sin(angle) * size, two[1] = std::cos(angle) * size;
}

}  // namespace plumb::simt
