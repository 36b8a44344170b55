// The host's tiles of rows: layers in the order in which they are read, and active rows brought together.
#include "reference/models/sparse_dnn/tile.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include <doctest/doctest.h>

#include "reference/tests/models/sparse_dnn_inputs.hpp"

namespace {

using plumb::Csr;
using plumb::PackedLayers;
using plumb::SparseDnn;
using plumb::sdnn::Tile;
using plumb::test::csr;
using plumb::test::random_inputs;
using plumb::test::random_weights;

bool is_permutation_of_lines(std::vector<std::int32_t> lines) {
  std::sort(lines.begin(), lines.end());
  std::vector<std::int32_t> all(lines.size());
  std::iota(all.begin(), all.end(), 0);
  return lines == all;
}

/// A tile of (neurons, lanes) whose row of lane r has value 100 r + line + 1, and id 1000 + r.
Tile counted_tile(std::int64_t neurons, std::int64_t lanes, std::int64_t rows) {
  Tile tile(neurons * lanes);
  for (std::int64_t i = 0; i < neurons * lanes; ++i)
    tile.values.data()[i] = static_cast<float>(i % lanes < rows ? 100 * (i % lanes) + i / lanes + 1 : 0);
  for (std::int64_t r = 0; r < rows; ++r) tile.id.push_back(static_cast<std::int32_t>(1000 + r));
  return tile;
}

}  // namespace

TEST_CASE(
    "neurons with the same inputs follow each other, and lines lie as the next layer first reads them") {
  // neurons 0 and 3 read 4, 2; 1 reads 0; 2 reads nothing; 4 reads 2, 4: another list
  const Csr<float> w = csr(5, {{{4, 1}, {2, 2}}, {{0, 3}}, {}, {{4, 4}, {2, 5}}, {{2, 6}, {4, 7}}});
  const PackedLayers packed({5, 0, 1, {w, w}}, 32);
  CHECK(packed.lines(0) == std::vector<std::int32_t>{2, 3, 1, 4, 0});
  CHECK(packed.lines(1) == packed.lines(0));
  CHECK(packed.lines(2) == std::vector<std::int32_t>{0, 1, 2, 3, 4});
  CHECK(packed.layer(0).degrees == std::vector<std::int32_t>{2, 2, 1, 0, 2});  // neurons 0, 3, 1, 2, 4
  CHECK(packed.layer(0).to == std::vector<std::int32_t>{4, 8, 6, 2, 0});       // two pieces to a line of 32
  CHECK(packed.layer(1).to == std::vector<std::int32_t>{0, 6, 2, 4, 8});
  const auto weight = [&](int e) { return std::bit_cast<float>(packed.layer(0).edges[2 * e + 1]); };
  const auto piece = [&](int e) { return packed.layer(0).edges[2 * e]; };
  const float weights[] = {1, 4, 2, 5,
                           3, 6, 7};  // 0 and 3 alternate; 1 and 2: the longer one's; 4 has no other
  const std::uint32_t pieces[] = {0, 0, 2, 2, 4, 2, 0};
  for (int e = 0; e < 7; ++e) {
    CHECK(weight(e) == weights[e]);
    CHECK(piece(e) == pieces[e]);
  }
}

TEST_CASE(
    "of any network, lines before every layer are a permutation, and the answer is that of plain sums") {
  for (const std::int64_t neurons : {1, 2, 3, 16, 37, 100}) {
    SparseDnn net{neurons, -0.02F, 2, {}};
    for (std::uint64_t l = 0; l < 4; ++l) net.gather.push_back(random_weights(neurons, 7 * l, 50 + l));
    const PackedLayers packed(net, 64);
    for (std::int64_t l = 0; l <= 4; ++l) CHECK(is_permutation_of_lines(packed.lines(l)));
    const Csr<float> y = random_inputs(90, neurons, 3);
    const plumb::SdnnRun plain = plumb::kSdnnCsrSpmm.plan(net)->run(y, 0, 4);
    const plumb::SdnnRun tiles = plumb::kSdnnCacheBlocked.plan(net)->run(y, 0, 4);
    CHECK(tiles.y.row_ptr == plain.y.row_ptr);
    CHECK(tiles.y.col == plain.y.col);
    CHECK(tiles.active == plain.active);
  }
}

TEST_CASE("four neurons with the same inputs are a block: a place for each input, and four weights") {
  // neurons 1, 3, 4, 5 and 6 read 0 and 2; 0 and 2 read 1
  std::vector<std::vector<std::pair<int, float>>> rows(7);
  for (int j = 0; j < 7; ++j) {
    const float w = static_cast<float>(10 * j);
    if (j == 0 || j == 2)
      rows[static_cast<std::size_t>(j)] = {{1, w + 1}};
    else
      rows[static_cast<std::size_t>(j)] = {{0, w}, {2, w + 2}};
  }
  const PackedLayers packed({7, 0, 1, {csr(7, rows)}}, 16);
  const plumb::PackedLayer& layer = packed.layer(0);
  CHECK(layer.to == std::vector<std::int32_t>{0, 2, 1, 3, 4, 5, 6});
  CHECK(layer.blocks == std::vector<std::uint8_t>{0, 0, 1, 0, 0, 0, 0});
  const float words[] = {0, 1, 0, 21, 1, 10, 30, 40, 50, 2, 12, 32, 42, 52, 1, 60, 2, 62};
  for (int e = 0; e < 18; ++e) {
    const bool is_place = e == 0 || e == 2 || e == 4 || e == 9 || e == 14 || e == 16;
    const float word = is_place ? static_cast<float>(layer.edges[e]) : std::bit_cast<float>(layer.edges[e]);
    CHECK(word == words[e]);
  }
}

TEST_CASE("neurons that share their inputs in groups of any size have the answer of plain sums") {
  for (const int sharers : {2, 3, 4, 5, 8, 9, 17}) {
    CAPTURE(sharers);
    SparseDnn net{38, -0.02F, 2, {}};
    for (int l = 0; l < 3; ++l) {
      std::vector<std::vector<std::pair<int, float>>> rows(38);
      for (int j = 0; j < 38; ++j) {
        for (int k = 0; k < 6 + j / sharers % 3; ++k)
          rows[static_cast<std::size_t>(j)].emplace_back((7 * (j / sharers) + 5 * k + l) % 38,
                                                         0.25F * static_cast<float>((j + 3 * k) % 5 - 1));
      }
      net.gather.push_back(csr(38, rows));
    }
    const Csr<float> y = random_inputs(90, 38, 3);
    const plumb::SdnnRun plain = plumb::kSdnnCsrSpmm.plan(net)->run(y, 0, 3);
    const plumb::SdnnRun tiles = plumb::kSdnnCacheBlocked.plan(net)->run(y, 0, 3);
    CHECK(tiles.y.col == plain.y.col);
    CHECK(tiles.active == plain.active);
    REQUIRE(tiles.y.val.size() == plain.y.val.size());
    for (std::size_t i = 0; i < plain.y.val.size(); ++i)
      CHECK(tiles.y.val[i] == doctest::Approx(plain.y.val[i]).epsilon(1e-5));
  }
}

TEST_CASE("active rows of one tile join those of another, and what finds no lane begins a third") {
  constexpr std::int64_t kNeurons = 3;
  for (const std::int64_t lanes : {16, 32, 64}) {
    for (const std::int64_t there : {std::int64_t{0}, std::int64_t{1}, lanes / 2, lanes - 3}) {
      for (const std::uint64_t pattern : {0x1ULL, 0xffffULL, 0x8421a5a5f00f8001ULL, ~0ULL}) {
        CAPTURE(lanes);
        CAPTURE(there);
        CAPTURE(pattern);
        Tile from = counted_tile(kNeurons, lanes, lanes);
        from.active = lanes == 64 ? pattern : pattern & ((1ULL << lanes) - 1);
        Tile to = counted_tile(kNeurons, lanes, there), more(kNeurons * lanes);
        to.active = (1ULL << there) - 1;
        std::fill_n(more.values.data(), kNeurons * lanes, -1.0F);
        append_active(from, kNeurons, lanes, to, &more);
        std::vector<std::int64_t> want(static_cast<std::size_t>(there));  // lanes they came from
        std::iota(want.begin(), want.end(), 0);
        for (std::int64_t r = 0; r < lanes; ++r) {
          if ((from.active >> r & 1U) != 0) want.push_back(r);
        }
        const auto total = static_cast<std::int64_t>(want.size());
        CHECK(static_cast<std::int64_t>(to.id.size()) == std::min(total, lanes));
        CHECK(static_cast<std::int64_t>(more.id.size()) == std::max<std::int64_t>(total - lanes, 0));
        CHECK(std::popcount(to.active) + std::popcount(more.active) == total);
        bool right = true;
        for (std::int64_t p = 0; p < total; ++p) {
          const Tile& tile = p < lanes ? to : more;
          const std::int64_t lane = p % lanes, came = want[static_cast<std::size_t>(p)];
          right &= tile.id[static_cast<std::size_t>(lane)] == 1000 + came && (tile.active >> lane & 1U) != 0;
          for (std::int64_t line = 0; line < kNeurons; ++line)
            right &= tile.values.data()[line * lanes + lane] == static_cast<float>(100 * came + line + 1);
        }
        CHECK(right);
        // lanes of a group that hold no row are 0
        for (std::int64_t p = total; p % 16 != 0; ++p)
          CHECK((p < lanes ? to : more).values.data()[2 * lanes + p % lanes] == 0);
      }
    }
  }
}

TEST_CASE(
    "rows leave in more layers than tiles may wait: each by itself, in runs of any part of the layers") {
  // row i ends after layer i % 60; a thread has less than 18 tiles
  SparseDnn net{2, -1, 200, {}};
  for (int l = 0; l < 60; ++l) net.gather.push_back(plumb::test::identity(2));
  std::vector<std::vector<std::pair<int, float>>> rows;
  for (int i = 0; i < 1500; ++i) rows.push_back({{i % 2, static_cast<float>(1 + i * 7 % 61)}});
  const Csr<float> y = csr(2, rows);
  const auto plan = plumb::kSdnnCacheBlocked.plan(net);
  for (const auto& [first, last] : {std::pair{0, 60}, {0, 17}, {40, 60}, {59, 60}, {30, 30}}) {
    const plumb::SdnnRun run = plan->run(y, first, last);
    for (int l = 0; l <= last - first; ++l) {
      const auto want = std::count_if(rows.begin(), rows.end(),
                                      [&](const auto& row) { return row[0].second > static_cast<float>(l); });
      CHECK(run.active[static_cast<std::size_t>(l)] == want);
    }
  }
}
