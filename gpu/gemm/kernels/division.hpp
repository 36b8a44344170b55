// How the tiles of C and their depth are divided among blocks: whole tiles first, then the parts of the rest. Header only.
#pragma once
#include "gpu/gemm/kernels/multistage.hpp"

namespace plumb {
namespace gemm {

/// Tiles of C, in the order of the grid: the first `whole` are made by a block each; each of the rest by `parts` blocks, which share its
/// depth. Where `streams` is not 0, that many blocks share the stages of all the rest, tile after tile, and a tile has up to `parts` parts.
struct Division {
  int whole, parts;
  int streams = 0;
};

/// What a block makes: a tile, or a part of one's depth.
struct PartOfTile {
  TileIndex tile;
  Index first, stages;    // of the depth
  int rest, part, parts;  // the tile's place in the rest; 0 of 1 for a whole tile
};
template <class S>
PLUMB_DEVICE PartOfTile part_of_tile(const Division& division, Index rows, Index cols, Index stages) {
  const Index tiles_m = ceil_div(rows, S::BM), tiles_n = ceil_div(cols, S::BN);
  const int block = static_cast<int>(blockIdx.x), at = block - division.whole;
  if (at < 0) return {banded_tile(block, tiles_m, tiles_n), 0, stages, 0, 0, 1};
  const int parts = division.parts, rest = at / parts, part = at % parts;
  // the first `longer` parts have a stage more than the others
  const int each = static_cast<int>(stages) / parts, longer = static_cast<int>(stages) % parts;
  return {banded_tile(division.whole + rest, tiles_m, tiles_n),
          part * each + (part < longer ? part : longer),
          each + (part < longer ? 1 : 0),
          rest,
          part,
          parts};
}

/// A block's share of the stages of the rest: the first `longer` streams have one more than the others.
struct Stream {
  int each, longer;
  PLUMB_HOST_DEVICE Stream(int stages, int streams) : each(stages / streams), longer(stages % streams) {}
  PLUMB_HOST_DEVICE int begin(int stream) const {
    return stream * each + (stream < longer ? stream : longer);
  }
  /// The stream that has a stage. each > 0.
  PLUMB_HOST_DEVICE int of(int stage) const {
    const int before = longer * (each + 1);
    return stage < before ? stage / (each + 1) : longer + (stage - before) / each;
  }
};

/// The parts that a tile of the rest has. stages: of a tile's depth.
PLUMB_HOST_DEVICE int parts_of_rest(const Division& division, int rests, int stages, int rest) {
  if (division.streams == 0) return division.parts;
  const Stream shares(rests * stages, division.streams);
  return shares.of(rest * stages + stages - 1) - shares.of(rest * stages) + 1;
}

/// The parts that a block makes, one after the other. For shared memory: registers are the sums'. One thread calls begin() and, before each
/// part, take().
template <class S>
struct PartsOfBlock {
  PartOfTile now;
  int at, end;  // stages of the rest that are left; at -1: one part, as part_of_tile() says

  PLUMB_DEVICE void begin(const Division& division, Index rows, Index cols, Index stages) {
    const int stream = static_cast<int>(blockIdx.x) - division.whole;
    at = -1, end = 0;
    if (division.streams == 0 || stream < 0) return;
    const Stream shares = shares_of(division, rows, cols, stages);
    at = shares.begin(stream), end = shares.begin(stream + 1);
  }
  PLUMB_DEVICE void take(const Division& division, Index rows, Index cols, Index stages_of_tile) {
    if (at < 0) {
      now = part_of_tile<S>(division, rows, cols, stages_of_tile);
      at = end;
      return;
    }
    const int stages = static_cast<int>(stages_of_tile), rest = at / stages, first = at - rest * stages,
              count = end - at < stages - first ? end - at : stages - first;
    const Stream shares = shares_of(division, rows, cols, stages_of_tile);
    const int begins = shares.of(rest * stages), ends = shares.of(rest * stages + stages - 1);
    now = {banded_tile(division.whole + rest, ceil_div(rows, S::BM), ceil_div(cols, S::BN)),
           first,
           count,
           rest,
           static_cast<int>(blockIdx.x) - division.whole - begins,
           ends - begins + 1};
    at += count;
  }

 private:
  PLUMB_DEVICE static Stream shares_of(const Division& division, Index rows, Index cols, Index stages) {
    const auto tiles = static_cast<int>(ceil_div(rows, S::BM) * ceil_div(cols, S::BN));
    return {(tiles - division.whole) * static_cast<int>(stages), division.streams};
  }
};

/// How the parts of a tile meet: how many there may be; what a block costs beside its steps, and the sum of the parts, as depth that a block
/// could have made; and whether they may come of streams. In fp64 these took 5 to 10 % longer than equal parts: the loop over a block's parts
/// leaves the sums no registers.
struct Meeting {
  Index most, start, add;
  bool streams;
};
constexpr Meeting kUndivided{1, 0, 0, false};
template <class S>
constexpr Meeting kMeeting{128, 64, 160, S::kStreams};

/// What the blocks of the busiest multiprocessor do, in steps of their depth: all of them; and one after the other, where `together` of them
/// run at once and none waits for another.
struct Steps {
  Index all, chain;
};

struct Divided {
  Division division;
  Steps steps;
};

/// The time, in steps of a block alone on its multiprocessor: where it has room for several, one of r takes (r + 1) / 2 times as long.
inline double time_of(const Steps& steps, Index together) {
  const auto all = static_cast<double>(steps.all), chain = static_cast<double>(steps.chain);
  return together == 1 ? all : (all + chain) / 2;
}

/// The most parts that a tile has where `streams` share the stages of `rest` tiles; 0 where a stream would have hardly any.
inline Index parts_by_streams(Index rest, Index stages, Index streams) {
  constexpr Index kLeast = 4, kMost = 1 << 30;  // stages of a stream; of all
  const Index each = rest * stages / streams;
  return each < kLeast || rest * stages > kMost ? 0 : (stages + each - 2) / each + 1;
}

/// The division that takes the least time: all tiles whole, all in parts, or whole rounds of tiles and the rest in parts or in streams, one
/// for each place.
template <class S>
Divided divided(Index m, Index n, Index depth, Index together, Meeting meeting) {
  const Index tiles = ceil_div(m, S::BM) * ceil_div(n, S::BN), depth_steps = ceil_div(depth, S::BK),
              many = device_multiprocessors(), start = ceil_div(meeting.start, S::BK),
              add = ceil_div(meeting.add, S::BK);
  const auto steps_of = [&](Index whole, Index parts) {
    const Index before = ceil_div(whole, many), rest = ceil_div((tiles - whole) * parts, many),
                of_tile = depth_steps + start, of_part = ceil_div(depth_steps, parts) + start,
                rounds = ceil_div(before, together), beside = rounds * together - before,
                after = rest > beside ? ceil_div(rest - beside, together) : 0;
    return Steps{before * of_tile + rest * of_part, rounds * of_tile + after * of_part};
  };
  Divided best{{static_cast<int>(tiles), 1}, steps_of(tiles, 1)};
  double least = time_of(best.steps, together);
  const auto consider = [&](Index whole, Index parts, Index streams, const Steps& now) {
    const double time = time_of(now, together) + static_cast<double>(add);
    if (time >= least) return;
    least = time;
    best = {{static_cast<int>(whole), static_cast<int>(parts), static_cast<int>(streams)}, now};
  };
  // where all blocks run at once they are not spread evenly: whole ones and parts together would wait for the fullest multiprocessor
  const Index full = many * together, rounds = tiles / full, firsts[] = {0, rounds * full};
  for (const Index whole : firsts) {
    for (Index parts = 2; whole < tiles && parts <= meeting.most && 2 * parts <= depth_steps; ++parts)
      consider(whole, parts, 0, steps_of(whole, parts));
  }
  for (Index whole = rounds * full; meeting.streams && whole >= 0 && whole >= (rounds - 1) * full;
       whole -= full) {
    const Index rest = tiles - whole, parts = parts_by_streams(rest, depth_steps, full);
    if (rest == 0 || parts < 1 || parts > meeting.most) continue;
    // a stream begins and ends within a tile
    const Index before = whole / full * (depth_steps + start),
                of_stream = ceil_div(rest * depth_steps, full) + 2 * start;
    consider(whole, parts, full, {(before + of_stream) * together, before + of_stream});
  }
  return best;
}

}  // namespace gemm
}  // namespace plumb
