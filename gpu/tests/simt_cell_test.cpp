// Cells of the shadow: what is packed comes back, also where it does not fit into the bits of a cell. Lists of marks are shared and given back.
#include <doctest/doctest.h>

#include "gpu/simt/race/cell.hpp"
#include "gpu/simt/race/lists.hpp"

using plumb::simt::Cell;
using plumb::simt::CellTables;
using plumb::simt::Location;
using plumb::simt::Mark;
using plumb::simt::MarkLists;
using plumb::simt::Marks;

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

TEST_CASE("equal lists of marks are one, until the last who holds it lets it go") {
  MarkLists lists;
  const Mark a = mark(1, 1, 0, 1), b = mark(1, 1, 1, 2), c = mark(1, 2, 2, 4);
  MarkLists::List one = lists.add(lists.add(0, a), b);
  MarkLists::List two = lists.add(lists.add(0, a), b);
  CHECK(one == two);
  CHECK(lists.size(one) == 2);
  CHECK((lists.first(one) == a));
  two = lists.add(two, c);
  CHECK(two != one);
  CHECK(lists.marks(two) == std::vector<Mark>{a, b, c});
  CHECK((lists.first(two) == a));
  lists.release(two);
  CHECK(two == 0);
  CHECK(lists.marks(one) == std::vector<Mark>{a, b});
  lists.release(one);
  // what is free is used again, and holds what it is given
  one = lists.add(0, c);
  CHECK(lists.size(one) == 1);
  CHECK(lists.marks(one) == std::vector<Mark>{c});
}

TEST_CASE("a list is replaced by a longer, a shorter and another one, and who shares it keeps it") {
  MarkLists lists;
  const Mark a = mark(1, 1, 0, 1), b = mark(1, 1, 1, 2), c = mark(1, 2, 2, 4);
  MarkLists::List list = lists.replace(0, {a, b});
  lists.share(list);
  const MarkLists::List shared = list;
  for (const std::vector<Mark>& marks :
       {std::vector<Mark>{a, b, c}, std::vector<Mark>{a}, std::vector<Mark>{c, b}, std::vector<Mark>{},
        std::vector<Mark>{b, a, c}}) {
    list = lists.replace(list, marks);
    CHECK(lists.marks(list) == marks);
    CHECK(lists.size(list) == marks.size());
    CHECK(lists.marks(shared) == std::vector<Mark>{a, b});
  }
}
