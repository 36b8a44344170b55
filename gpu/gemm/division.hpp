// How the tiles of C and their depth are divided among blocks: whole tiles first, then the parts of the rest. Header only.
#pragma once
#include "gpu/gemm/multistage.hpp"

namespace plumb {
namespace gemm {

/// Tiles of C, in the order of the grid: the first `whole` are made by a block each; each of the rest by
/// `parts` blocks, which share its depth.
struct Division {
  int whole, parts;
};

/// What the calling block makes: a tile, or a part of one's depth.
struct PartOfTile {
  TileIndex tile;
  Index first, stages;  // of the depth
  int rest, parts;      // its place among the parts of tiles; 1 for a whole tile
};
template <class S>
PLUMB_DEVICE PartOfTile part_of_tile(const Division& division, Index rows, Index cols, Index stages) {
  const Index tiles_m = ceil_div(rows, S::BM), tiles_n = ceil_div(cols, S::BN);
  const int block = static_cast<int>(blockIdx.x), rest = block - division.whole;
  if (rest < 0) return {banded_tile(block, tiles_m, tiles_n), 0, stages, rest, 1};
  const int parts = division.parts, part = rest % parts;
  // the first `longer` parts have a stage more than the others
  const int each = static_cast<int>(stages) / parts, longer = static_cast<int>(stages) % parts;
  return {banded_tile(division.whole + rest / parts, tiles_m, tiles_n),
          part * each + (part < longer ? part : longer), each + (part < longer ? 1 : 0), rest, parts};
}

/// How the parts of a tile meet: how many there may be; and what a part costs beside its steps, as depth that a block could have made.
struct Meeting {
  Index most, hand_over;
};
constexpr Meeting kUndivided{1, 0}, kInMemory{128, 64};

/// What the blocks of the busiest multiprocessor do, in steps of their depth: all of them; and one after the other, where `together` of them
/// run at once and none waits for another.
struct Steps {
  Index all, chain;
};

struct Divided {
  Division division;
  Steps steps;
};

/// The time, in steps of a block alone on its multiprocessor: two keep it busy, where it has room for more than one.
inline double time_of(const Steps& steps, Index together) {
  const double all = (together == 1 ? 1 : 0.5) * static_cast<double>(steps.all),
               chain = static_cast<double>(steps.chain);
  return all > chain ? all : chain;
}

/// The division that takes the least time: all tiles whole, all in parts, or whole rounds of tiles and the rest in parts.
template <class S>
Divided divided(Index m, Index n, Index depth, Index together, Meeting meeting) {
  const Index tiles = ceil_div(m, S::BM) * ceil_div(n, S::BN), depth_steps = ceil_div(depth, S::BK),
              many = device_multiprocessors(), hand_over = ceil_div(meeting.hand_over, S::BK);
  const auto steps_of = [&](Index whole, Index parts) {
    const Index before = ceil_div(whole, many), rest = ceil_div((tiles - whole) * parts, many),
                of_part = ceil_div(depth_steps, parts) + (parts > 1 ? hand_over : 0),
                rounds = ceil_div(before, together), beside = rounds * together - before,
                after = rest > beside ? ceil_div(rest - beside, together) : 0;
    return Steps{before * depth_steps + rest * of_part, rounds * depth_steps + after * of_part};
  };
  Divided best{{static_cast<int>(tiles), 1}, steps_of(tiles, 1)};
  // where all blocks run at once they are not spread evenly: whole ones and parts together would wait for the fullest multiprocessor
  const Index full = many * together, firsts[] = {0, tiles / full * full};
  for (const Index whole : firsts) {
    for (Index parts = 2; whole < tiles && parts <= meeting.most && 2 * parts <= depth_steps; ++parts) {
      const Steps now = steps_of(whole, parts);
      if (time_of(now, together) < time_of(best.steps, together))
        best = {{static_cast<int>(whole), static_cast<int>(parts)}, now};
    }
  }
  return best;
}

}  // namespace gemm
}  // namespace plumb
