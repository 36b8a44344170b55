// The words behind cuRAND's pseudo-random numbers, as curand_kernel.h's states give them one after another.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace plumb::simt {

enum class WordSource : std::uint8_t { xorwow, philox };

struct XorwowState {
  std::array<std::uint32_t, 5> v{};
  std::uint32_t d = 0;
};

class RandomWords;
/// Who makes the next number: it may take several words. A generator of random bits as the standard library's distributions ask for one.
struct Lane {
  RandomWords* words;
  std::size_t number;
  using result_type = std::uint32_t;
  static constexpr std::uint32_t min() { return 0; }
  static constexpr std::uint32_t max() { return UINT32_MAX; }
  std::uint32_t word() const;
  std::uint32_t operator()() const { return word(); }
};

/// cuRAND's order: XORWOW's numbers come from 4096 states in turn, 2^67 words apart, Philox' from 65,536 subsequences, four numbers of each
/// in turn.
class RandomWords {
 public:
  explicit RandomWords(WordSource source) : source_(source) {}
  void set_seed(std::uint64_t seed) { seed_ = seed, position_ = offset_, lanes_.clear(); }
  void set_offset(std::uint64_t offset) { offset_ = position_ = offset, lanes_.clear(); }
  /// For the next numbers (2: a pair, of one lane), each of which takes up to so many words.
  Lane next_lane(std::uint64_t numbers, std::uint64_t words_each);

 private:
  friend struct Lane;
  void begin();
  std::uint32_t philox_word();

  WordSource source_;
  std::uint64_t seed_ = 0, offset_ = 0;
  std::uint64_t position_ = 0;  // of the next number
  struct {
    std::uint64_t number = 0, words_each = 1, taken = 0;
  } philox_;  // the number that is being made
  std::vector<XorwowState> lanes_;
};

/// In (0, 1], as curand_uniform and curand_uniform_double.
float uniform(Lane lane);
double uniform_double(Lane lane);
/// Two normal numbers by Box and Muller.
void normal_pair(Lane lane, float* two);
void normal_pair(Lane lane, double* two);

}  // namespace plumb::simt
