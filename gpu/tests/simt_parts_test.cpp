// Sums of which several blocks make a part each: any number of parts, whatever the order in which the blocks end.
#include <cstdint>

#include "gpu/tests/simt_support.hpp"

using namespace plumb::simt_test;

namespace {

constexpr int kTiles = 2, kSums = 128;

// Whole numbers, of which every sum is exact.
std::vector<float> numbered(int parts) {
  std::vector<float> in(static_cast<std::size_t>(kTiles) * static_cast<std::size_t>(parts) * kSums);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(1 + i % 1021);
  return in;
}

void check_sums(const std::vector<float>& in, int parts, const std::vector<float>& out) {
  for (int tile = 0; tile < kTiles; ++tile) {
    for (int e = 0; e < kSums; ++e) {
      float sum = 0;
      for (int part = 0; part < parts; ++part)
        sum += in[static_cast<std::size_t>((tile * parts + part) * kSums + e)];
      REQUIRE(out[static_cast<std::size_t>(tile * kSums + e)] == sum);
    }
  }
}

}  // namespace

TEST_CASE(
    "parts are joined in groups of eight on as many levels as they need, and the counts are 0 afterwards") {
  CHECK(counts_of_joined_parts(1) == 0);
  CHECK(counts_of_joined_parts(8) == 1);
  CHECK(counts_of_joined_parts(9) == 3);
  CHECK(counts_of_joined_parts(65) == 12);
  for (const int parts : {1, 2, 7, 8, 9, 16, 17, 63, 64, 65, 128, 200}) {
    for (std::uint64_t seed = 0; seed < (parts < 20 ? 4U : 1U); ++seed) {
      CAPTURE(parts);
      CAPTURE(seed);
      const auto in = numbered(parts);
      std::vector<float> partial(in.size()), out(static_cast<std::size_t>(kTiles) * kSums);
      std::vector<unsigned> finished(static_cast<std::size_t>(kTiles * counts_of_joined_parts(parts) + 1));
      Run run(seed, 3);
      // the counts begin as 0: an input and an output in one
      plumb::simt::add_array("finished", finished.data(), finished.size() * sizeof(unsigned), true, true);
      joined_parts(kTiles, parts, run.input(in), run.output(partial, "partial"), finished.data(),
                   run.output(out));
      const auto findings = Run::findings();
      REQUIRE_MESSAGE(findings.empty(), all_of(findings));
      check_sums(in, parts, out);
      for (const unsigned count : finished) REQUIRE(count == 0);
    }
  }
}
