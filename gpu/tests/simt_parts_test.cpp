// Sums of which several blocks make a part each: any number of parts, whatever the order in which the blocks end; and which parts streams
// make.
#include <algorithm>
#include <cstdint>
#include <iterator>

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

// The parts of a tile lie side by side in their order, and are all its stages.
void check_tile(std::vector<ListedPart> of_tile, int stages, int most) {
  std::sort(of_tile.begin(), of_tile.end(), [](const auto& a, const auto& b) { return a.part < b.part; });
  int next = 0;
  for (std::size_t i = 0; i < of_tile.size(); ++i) {
    REQUIRE(of_tile[i].part == static_cast<int>(i));
    REQUIRE(of_tile[i].parts == static_cast<int>(of_tile.size()));
    REQUIRE(of_tile[i].first == next);
    REQUIRE(of_tile[i].stages > 0);
    next += of_tile[i].stages;
  }
  REQUIRE(next == stages);
  REQUIRE(static_cast<int>(of_tile.size()) <= most);
}

}  // namespace

TEST_CASE(
    "streams share the stages of the rest of the tiles: each stage once, and no tile in more parts than "
    "foreseen") {
  int seen = 0;
  for (const int rest : {1, 2, 5, 12, 13}) {
    for (const int stages : {1, 4, 7, 30, 101}) {
      for (const int streams : {1, 3, 12}) {
        const int most = most_parts_by_streams(rest, stages, streams), whole = 3, tiles = whole + rest;
        if (most == 0) continue;
        CAPTURE(rest);
        CAPTURE(stages);
        CAPTURE(streams);
        std::vector<ListedPart> out(static_cast<std::size_t>(tiles * (most + 1)));
        int count = 0;
        Run run(0, 1);
        plumb::simt::add_array("count", &count, sizeof count, true, true);
        listed_parts(tiles, whole, stages, streams, run.output(out), &count);
        const auto findings = Run::findings();
        REQUIRE_MESSAGE(findings.empty(), all_of(findings));
        out.resize(static_cast<std::size_t>(count));
        for (int tile = 0; tile < tiles; ++tile) {
          std::vector<ListedPart> of_tile;
          std::copy_if(out.begin(), out.end(), std::back_inserter(of_tile),
                       [&](const ListedPart& part) { return part.tile == tile; });
          check_tile(of_tile, stages, tile < whole ? 1 : most);
        }
        ++seen;
      }
    }
  }
  CHECK(seen > 40);
}

TEST_CASE("the last block of a tile adds its parts, and the counts are 0 afterwards") {
  for (const int parts : {1, 2, 3}) {
    CAPTURE(parts);
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      CAPTURE(seed);
      const auto in = numbered(parts);
      std::vector<float> partial(in.size()), out(static_cast<std::size_t>(kTiles) * kSums);
      std::vector<unsigned> finished(kTiles);
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

TEST_CASE("a product by streams is right in any order of blocks, and nothing races") {
  constexpr int kRows = 67, kCols = 131, kDepth = 75, kWhole = 2,
                kStreams = 3;  // of 20 stages: a stream ends within a tile
  const auto whole_numbers = [](int count, int step) {
    std::vector<float> x(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) x[static_cast<std::size_t>(i)] = static_cast<float>(i * step % 7 - 3);
    return x;
  };
  const auto a = whole_numbers(kRows * kDepth, 5), b = whole_numbers(kDepth * kCols, 3);
  const auto sizes = sizes_of_streams(kRows, kCols, kDepth, kWhole, kStreams);
  REQUIRE(sizes.most_parts > 1);
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    CAPTURE(seed);
    const bool apart = seed % 2 == 1;  // a kernel of their own adds the parts
    std::vector<float> c(static_cast<std::size_t>(kRows * kCols)),
        partial(static_cast<std::size_t>(sizes.sums));
    std::vector<unsigned> finished(static_cast<std::size_t>(sizes.counts));
    Run run(seed, 3);
    plumb::simt::add_array("finished", finished.data(), finished.size() * sizeof(unsigned), true, true);
    product_by_streams(kRows, kCols, kDepth, kWhole, kStreams, run.input(a), run.input(b), run.output(c),
                       run.output(partial, "partial"), apart ? nullptr : finished.data());
    const auto findings = Run::findings();
    REQUIRE_MESSAGE(findings.empty(), all_of(findings));
    for (int i = 0; i < kRows; ++i) {
      for (int j = 0; j < kCols; ++j) {
        float sum = 0;
        for (int k = 0; k < kDepth; ++k)
          sum += a[static_cast<std::size_t>(i * kDepth + k)] * b[static_cast<std::size_t>(k * kCols + j)];
        REQUIRE(c[static_cast<std::size_t>(i * kCols + j)] == sum);
      }
    }
    for (const unsigned count : finished) REQUIRE(count == 0);
  }
}
