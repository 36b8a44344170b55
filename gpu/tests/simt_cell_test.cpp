// Cells of the shadow: what is packed comes back, also where it does not fit into the bits of a cell. Lists of marks are copied and given back.
#include <doctest/doctest.h>

#include "gpu/simt/race/cell.hpp"
#include "gpu/simt/race/chains.hpp"
#include "gpu/simt/race/lists.hpp"

using plumb::simt::Cell;
using plumb::simt::CellTables;
using plumb::simt::Location;
using plumb::simt::Mark;
using plumb::simt::MarkLists;
using plumb::simt::Marks;
using plumb::simt::ReaderChains;

namespace {

Mark mark(std::uint32_t generation, std::uint32_t step, std::uint8_t warp, std::uint32_t lanes) {
  Mark m;
  m.epoch = std::uint64_t{generation} << 32 | step;
  m.block = 70001;
  m.location = 0x80000007u;
  m.lanes = lanes;
  m.warp = warp;
  return m;
}

}  // namespace

TEST_CASE("an epoch comes back from its bits, or from the table where they are too few") {
  CellTables tables;
  for (const std::uint32_t generation : {0u, 1u, 8191u, 8192u, 70000u, ~0u}) {
    for (const std::uint32_t step : {0u, 1u, 65535u, 65536u, ~0u}) {
      CAPTURE(generation);
      CAPTURE(step);
      const std::uint64_t epoch = std::uint64_t{generation} << 32 | step;
      const auto packed = tables.pack(epoch);
      CHECK(packed <= Cell::kEpoch);
      CHECK(packed == tables.pack(epoch));
      CHECK(tables.epoch_of(packed) == epoch);
      CHECK(tables.generation_of(packed) == generation);
    }
  }
}

TEST_CASE("places in the code have numbers until there are none left") {
  CellTables tables;
  int wrong = 0;
  for (Location l = 1; l <= 65535; ++l) {
    if (tables.location_of(tables.place_of(l * 4096)) != l * 4096) ++wrong;
  }
  CHECK(wrong == 0);
  CHECK(tables.place_of(7) == 0);
  CHECK(tables.location_of(0) == 0);
  CHECK(tables.location_of(tables.place_of(4096)) == 4096);
}

TEST_CASE("both marks and the flags of a cell come back") {
  Marks m;
  m.write = mark(9000, 3, 31, 1u << 17);
  m.write.writes = 1;
  m.write.async = 1;
  m.other = mark(~0u, 70000, 127, 0xf0000001u);
  m.other.strength = plumb::simt::kDeviceScope;
  m.other.writes = 1;
  m.other.is_volatile = 1;
  m.other.extent = 12u << 3 | 2u;
  m.more = 5;
  m.initialised = m.atomics = true;
  for (const bool pending : {true, false}) {
    m.async_pending = pending;
    m.write.is_volatile = pending ? 0 : 1;
    Cell cell{};
    pack(cell, m);
    const Marks back = unpack(cell);
    CHECK((back.write == m.write));
    CHECK((back.other == m.other));
    CHECK(back.more == m.more);
    CHECK(back.initialised);
    CHECK(back.atomics);
    CHECK(back.async_pending == pending);
  }
}

TEST_CASE("zero bytes are a cell without marks") {
  const Marks m = unpack(Cell{});
  CHECK((m.write == Mark{}));
  CHECK((m.other == Mark{}));
  CHECK_FALSE((m.initialised || m.async_pending || m.atomics));
  CHECK(Cell{}.untouched());
}

TEST_CASE("a list of marks keeps their order, and one that is given up is used again, empty") {
  MarkLists lists;
  const Mark a = mark(1, 1, 0, 1), b = mark(3, 1, 1, 2), c = mark(2, 2, 2, 4);
  std::uint32_t one = 0;
  for (const Mark& m : {a, b, c}) lists.make(one).add(m);
  CHECK(one != 0);
  CHECK(lists.at(one).marks == std::vector<Mark>{a, b, c});
  CHECK(lists.at(one).newest == 3);
  CHECK(lists.at(0).marks.empty());
  const std::uint32_t number = one;
  lists.release(one);
  CHECK(one == 0);
  std::uint32_t two = 0;
  lists.make(two).add(c);
  CHECK(two == number);
  CHECK(lists.at(two).marks == std::vector<Mark>{c});
  CHECK(lists.at(two).newest == 2);
}

TEST_CASE("a copy of a list is another one, and the empty list has none") {
  MarkLists lists;
  const Mark a = mark(1, 1, 0, 1), b = mark(5, 1, 1, 2);
  std::uint32_t one = 0;
  lists.make(one).add(b);
  lists.make(one).add(a);
  const std::uint32_t copy = lists.copy(one);
  CHECK(copy != one);
  lists.make(one).marks[0] = a;
  lists.make(one).look_again();
  CHECK(lists.at(one).newest == 1);
  CHECK(lists.at(copy).marks == std::vector<Mark>{b, a});
  CHECK(lists.at(copy).newest == 5);
  CHECK(lists.copy(0) == 0);
}

TEST_CASE("words that the same blocks have read share a chain, which knows warps or blocks alone") {
  ReaderChains chains;
  const auto reader = [](std::uint32_t block, std::uint8_t warp, unsigned lane) {
    Mark m = mark(5, 3, warp, 1u << lane);
    m.block = block;
    return m;
  };
  for (const bool of_warps : {false, true}) {
    CAPTURE(of_warps);
    const std::uint32_t first = chains.behind(0, reader(8, 0, 1), of_warps);
    CHECK(chains.behind(0, reader(8, 0, 30), of_warps) == first);
    CHECK((chains.behind(0, reader(8, 1, 1), of_warps) == first) == !of_warps);
    CHECK(chains.behind(0, reader(9, 0, 1), of_warps) != first);
    const std::uint32_t both = chains.behind(first, reader(6, 0, 1), of_warps);
    CHECK(chains.newest_block(both) == 8);
    CHECK(chains.join(both, reader(8, 0, 7)));
    CHECK(!chains.join(both, reader(7, 0, 7)));
    int readers = 0;
    chains.for_each(both, [&](const Mark& m) {
      CHECK(m.any_lane == 1);
      CHECK(m.any_warp == !of_warps);
      return ++readers < 9;
    });
    CHECK(readers == 2);
  }
  std::uint32_t chain = 0, blocks = 0;
  while (!chains.is_full(chain)) chain = chains.behind(chain, reader(100 + blocks++, 0, 1), true);
  CHECK(chains.behind(chain, reader(7, 0, 1), true) == 0);
  CHECK(blocks == 32);
  chains.forget();
  CHECK(chains.newest_block(chain) == 0);
  CHECK(!chains.join(chain, reader(100, 0, 1)));
  CHECK(chains.behind(chain, reader(7, 0, 1), true) > chain);
}
