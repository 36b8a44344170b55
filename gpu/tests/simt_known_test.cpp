// What is known of blocks: a join is what a plain map says, and shares what the two have alike, by which its cost does not grow.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>

#include "gpu/simt/race/known.hpp"

using plumb::simt::Known;
using plumb::simt::KnownBlocks;

namespace {

struct PlainKnown {
  std::uint32_t generation = 0;
  std::map<std::uint16_t, std::uint32_t> steps;
};
using PlainBlocks = std::map<std::uint32_t, PlainKnown>;

void add(PlainBlocks& blocks, const Known& k) {
  PlainKnown& mine = blocks[k.block];
  if (mine.generation > k.generation) return;
  if (mine.generation < k.generation) mine = {k.generation, {}};
  for (const auto& [thread, step] : k.threads) mine.steps[thread] = std::max(mine.steps[thread], step);
}

Known draw_known(std::mt19937& rng, std::uint32_t block) {
  Known k{block, 1 + static_cast<std::uint32_t>(rng() % 3), {}};
  for (std::uint16_t thread = 0; thread < 40; thread += static_cast<std::uint16_t>(1 + rng() % 16))
    k.threads.emplace_back(thread, static_cast<std::uint32_t>(rng() % 5));
  return k;
}

bool same(const KnownBlocks& tree, const PlainBlocks& plain) {
  return std::all_of(plain.begin(), plain.end(), [&](const auto& entry) {
    const Known* k = tree.find(entry.first);
    if (k == nullptr || k->block != entry.first || k->generation != entry.second.generation) return false;
    return std::equal(
        k->threads.begin(), k->threads.end(), entry.second.steps.begin(), entry.second.steps.end(),
        [](const auto& a, const auto& b) { return a.first == b.first && a.second == b.second; });
  });
}

}  // namespace

TEST_CASE("what is known of blocks is what a plain map says, however it was joined") {
  // block numbers side by side, far apart, and with the highest bit
  const std::uint32_t bases[] = {1, 0x7ffffff0u, 0xfffffff0u, 4096};
  std::mt19937 rng(17);
  for (int round = 0; round < 200; ++round) {
    KnownBlocks tree[3];
    PlainBlocks plain[3];
    for (int i = 0; i < 60; ++i) {
      const auto at = rng() % 3;
      if (rng() % 5 == 0) {
        const auto from = rng() % 3;
        tree[at] = join(tree[at], tree[from]);
        for (const auto& [block, k] : PlainBlocks(plain[from]))
          add(plain[at], {block, k.generation, {k.steps.begin(), k.steps.end()}});
      } else {
        const Known k = draw_known(rng, bases[rng() % 4] + static_cast<std::uint32_t>(rng() % 12));
        tree[at] = join(tree[at], KnownBlocks(k));
        add(plain[at], k);
      }
    }
    for (int t = 0; t < 3; ++t) REQUIRE(same(tree[t], plain[t]));
    const auto outside = bases[round % 4] + 12;
    CHECK((tree[0].find(outside) != nullptr) == (plain[0].count(outside) != 0));
  }
}

TEST_CASE("a join in which one knows all is that one itself") {
  std::mt19937 rng(18);
  KnownBlocks before, now;
  for (std::uint32_t block = 1; block < 500; ++block) {
    before = now;
    now = join(now, KnownBlocks(draw_known(rng, block * 7)));
    REQUIRE(join(now, before) == now);
    REQUIRE(join(before, now) == now);
    REQUIRE(join(now, now) == now);
  }
  CHECK(join(now, KnownBlocks()) == now);
  CHECK(join(KnownBlocks(), now) == now);
  CHECK_FALSE(join(now, KnownBlocks({9999, 1, {}})) == now);
  CHECK(KnownBlocks().find(1) == nullptr);
}

TEST_CASE("a join with one more block has the other blocks of before, not copies of them") {
  KnownBlocks all;
  for (std::uint32_t block = 1; block <= 1000; ++block) all = join(all, KnownBlocks({block, 1, {{0, 1}}}));
  const KnownBlocks more = join(KnownBlocks({2000, 1, {{3, 1}}}), all);
  int copies = 0;
  for (std::uint32_t block = 1; block <= 1000; ++block) copies += all.find(block) != more.find(block) ? 1 : 0;
  CHECK(copies == 0);
  CHECK(more.find(2000) != nullptr);
}
