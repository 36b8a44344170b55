// What rung 16 chooses from, and what each would do for a product, in the terms of its model of cost. tools/fit measures the same list.
#pragma once
#include "gpu/common/adaptive.hpp"
#include "gpu/device/memory.hpp"
#include "gpu/gemm/parts.hpp"
#include "gpu/gemm/split_depth.hpp"
#include "gpu/gemv/lanes.hpp"
#include "gpu/skinny_gemm/bulk_streams.hpp"
#include "gpu/skinny_gemm/costs.hpp"
#include "gpu/skinny_gemm/fragments.hpp"
#include "gpu/skinny_gemm/k_tile.hpp"
#include "gpu/skinny_gemm/register_sum.hpp"
#include "gpu/skinny_gemm/stages.hpp"
#include "gpu/skinny_gemm/streamed_fragments.hpp"
#include "gpu/skinny_gemm/warp_streams.hpp"

namespace plumb {
namespace skinny {

constexpr int kCandidates = 10;

/// Of the operands: what the terms are made of.
struct Features {
  Index v, k, n;
  int copy;  // elements that a copy of X may move
};

/// What a candidate does. A pass goes over all of X.
struct Work {
  double chain;                 // terms that a block goes along, one after the other
  double products;              // millions, of the busiest multiprocessor
  double copies;                // millions of it, whatever they move
  double w;                     // megabytes of W from the second-level cache
  double passes = 1, of_y = 1;  // how often X is read; how often Y is moved
  double parts = 0;             // of a tile's sums
};

inline double million(Index n) { return static_cast<double>(n) / 1e6; }
/// Of `blocks`, those of the busiest multiprocessor.
inline Index busiest_of(Index blocks) { return ceil_div(blocks, device_multiprocessors()); }

/// Rungs 10 and 15: blocks have even shares of the rows.
template <class S, class T>
Work work_of_stages(const Features& f) {
  const int groups = groups_of(f.n);
  const Index across = ceil_div(f.n, 16 * groups), tiles = ceil_div(f.v, S::kRows),
              resident = resident_blocks(groups) * static_cast<Index>(device_multiprocessors()),
              blocks = tiles < resident ? tiles : resident, items = ceil_div(ceil_div(f.v, blocks), S::kRows),
              depth = ceil_div(f.k, S::kDepth) * S::kDepth,
              rows = busiest_of(blocks * across) * items * S::kRows;
  const Index copy = f.copy * static_cast<int>(sizeof(T)) == 16 ? f.copy : 1;
  return {static_cast<double>(items * depth), million(rows * depth * 16 * groups),
          million(rows * depth / copy),
          million(tiles * depth * 16 * groups * across * static_cast<Index>(sizeof(T))),
          static_cast<double>(across)};
}

/// Rung 6: a thread per row.
template <class T>
Work work_of_k_tile(const Features& f) {
  constexpr Index kResident = 3;
  const Index across = ceil_div(f.n, kCols), blocks = ceil_div(f.v, kThreads) * across,
              busiest = busiest_of(blocks), depth = ceil_div(f.k, kTileDepth) * kTileDepth;
  return {static_cast<double>(ceil_div(busiest, kResident) * depth),
          million(busiest * kThreads * depth * kCols), million(busiest * kThreads * f.k),
          million(blocks * f.k * kCols * static_cast<Index>(sizeof(T))), static_cast<double>(across)};
}

/// Rung 2: a thread per row, which goes over its row of X and a column of W for every column of Y.
inline Work work_of_register_sum(const Features& f, Index size) {
  constexpr Index kResident = 8;
  const Index blocks = ceil_div(f.v, kThreads), busiest = busiest_of(blocks), rows = busiest * kThreads;
  return {static_cast<double>(ceil_div(busiest, kResident) * f.k * f.n), million(rows * f.k * f.n),
          million(rows * f.k * f.n), million(blocks * f.k * f.n * size)};
}

/// Rungs 9, 11, 12 and 14: one block on a multiprocessor, whose warps have even shares of the rows; columns one pass after the other.
struct Passes {
  Index warps, rows, panel;  // of a block; of a warp's tile; terms, to a multiple of which a row is filled up
  Index columns;             // of a pass
  Index w_panels;            // panels of W that a tile loads anew
};
inline Work work_of_passes(const Passes& s, const Features& f, Index size) {
  const Index across = ceil_div(f.n, s.columns), shares = ceil_div(f.v, s.rows * s.warps),
              blocks = shares < device_multiprocessors() ? shares : device_multiprocessors(),
              tiles = ceil_div(ceil_div(f.v, blocks * s.warps), s.rows),
              depth = ceil_div(f.k, s.panel) * s.panel, rows = tiles * s.rows * s.warps * across,
              of_w = blocks * s.warps * across * s.columns * size;
  return {static_cast<double>(tiles * across * depth), million(rows * depth * s.columns),
          million(rows * depth / f.copy), million(of_w * (f.k + tiles * s.w_panels * s.panel)),
          static_cast<double>(across)};
}

/// Tiles of gemm's ladder, in parts where it divides the depth.
template <class T>
Work work_of_tiles(Index bm, Index bn, Index bk, Index parts, const Features& f) {
  const Index across = ceil_div(f.n, bn), blocks = ceil_div(f.v, bm) * across * parts,
              depth = ceil_div(ceil_div(f.k, bk), parts) * bk, busiest = busiest_of(blocks);
  return {static_cast<double>(depth),
          million(busiest * depth * bm * bn),
          million(busiest * depth * (bm + bn) / f.copy),
          million(blocks * depth * bn * static_cast<Index>(sizeof(T))),
          static_cast<double>(across),
          parts > 1 ? 1 + 2 * static_cast<double>(parts) : 1,
          parts > 1 ? static_cast<double>(parts) : 0};
}

/// The terms: a start; parts that a block adds; terms that a block goes along; millions of multiply-adds of the busiest multiprocessor;
/// megabytes from the second-level cache; megabytes of Y; megabytes of X from memory; millions of copies of the busiest multiprocessor.
template <class T>
Terms terms_of(const Work& w, const Features& f) {
  const double x = million(f.v * f.k * static_cast<Index>(sizeof(T))),
               y = million(f.v * f.n * static_cast<Index>(sizeof(T))),
               cache = million(static_cast<Index>(device_l2_bytes())) * 0.6,
               from_memory = x > cache ? x * w.passes : x;
  return {true, {1, w.parts, w.chain, w.products, w.w + x * w.passes, y * w.of_y, from_memory, w.copies}};
}

/// Y = X W as gemm's ladder has it.
template <class T>
struct AsGemm {
  gemm::Problem<T> p{T(1), T(0)};
  gemm::In<T> in;
  gemm::Out<T> out;
  AsGemm(const In<T>& i, const Out<T>& o) : in{i.X, i.W}, out{o.Y} {}
};

/// A product with one column, as gemv's ladder has it: lanes share a row, each with up to four loads at once.
template <class T>
gemv::In<T> as_gemv(const In<T>& in) {
  return {in.X, {in.W.data, in.W.rows}};
}
template <class T>
int gemv_lanes(const In<T>& in) {
  return gemv::on_vectors(as_gemv(in)) ? gemv::lanes_of<gemv::Vector<T>>(in.X.cols, 4)
                                       : gemv::lanes_of<gemv::Vector<T, 1>>(in.X.cols, 4);
}
template <class T>
bool work_of_gemv(const Features& f, const In<T>& in, const Out<T>& out, Work& w) {
  if (f.n != 1 || (in.W.rows > 1 && in.W.ld != 1) || (out.Y.rows > 1 && out.Y.ld != 1)) return false;
  const int lanes = gemv_lanes(in);
  const Index blocks = ceil_div(f.v * lanes, gemv::kLanesThreads), busiest = busiest_of(blocks),
              rows = busiest * gemv::kLanesThreads / lanes;
  w = {static_cast<double>(ceil_div(f.k, lanes)), million(rows * f.k), million(rows * ceil_div(f.k, f.copy)),
       million(blocks * f.k * static_cast<Index>(sizeof(T)))};
  return true;
}
template <class T>
void run_as_gemv(const In<T>& in, const Out<T>& out, Context& context) {
  const gemv::In<T> of{as_gemv(in)};
  const gemv::Out<T> to{{out.Y.data, out.Y.rows}};
  const gemv::Problem<T> plain{T(1), T(0)};
  if (gemv::on_vectors(of)) return gemv::run_lanes<gemv::Vector<T>>(gemv_lanes(in), plain, of, to, context);
  gemv::run_lanes<gemv::Vector<T, 1>>(gemv_lanes(in), plain, of, to, context);
}

/// The kernels of a type: `work` says what candidate c would do, or that it does not fit; `run` does it.
template <class T>
struct Kernels;

template <>
struct Kernels<float> {
  static constexpr const char* kNames[kCandidates] = {"tiles of 256 rows in stages",
                                                      "tiles of 64 rows in stages",
                                                      "gemm's tiles of 32 x 32, depth in parts",
                                                      "warps' streams",
                                                      "bulk streams",
                                                      "gemm's tiles of 64 x 64",
                                                      "a thread per row",
                                                      "a thread per row, a column at a time",
                                                      "gemv's lanes",
                                                      "none"};
  static constexpr int kInParts = 2;

  static bool work(int c, const Features& f, const In<float>& in, const Out<float>& out, Index parts,
                   Work& w) {
    const Index size = sizeof(float);
    switch (c) {
      case 0:
        w = work_of_stages<Tile<float>, float>(f);
        return true;
      case 1:
        w = work_of_stages<LowTile<float>, float>(f);
        return true;
      case kInParts:
        w = work_of_tiles<float>(gemm::split_depth::kTile, gemm::split_depth::kTile,
                                 gemm::split_depth::kDepth, parts, f);
        return true;
      case 3: {
        w = work_of_passes({Streams::kWarps, Streams::kRows, Streams::kDepth, kCols, 0}, f, size);
        w.of_y = 2 * static_cast<double>(ceil_div(f.k, kPanel)) - 1;
        return true;
      }
      case 4:
        w = work_of_passes({BulkStages::kWarps, BulkStages::kRows, f.k <= 64 ? 64 : kPanel, kCols, 0}, f,
                           size);
        w.copies = 0;
        return rows_in_bulk(in);
      case 5:
        w = work_of_tiles<float>(gemm::Small::BM, gemm::Small::BN, gemm::Small::BK, 1, f);
        return out.Y.cols > 16;
      case 6:
        w = work_of_k_tile<float>(f);
        return true;
      case 7:
        w = work_of_register_sum(f, size);
        return true;
      case 8:
        return work_of_gemv(f, in, out, w);
      default:
        return false;
    }
  }
  static void run(int c, const In<float>& in, const Out<float>& out, Context& context) {
    const AsGemm<float> as(in, out);
    switch (c) {
      case 1:
        return run_stages<LowTile<float>>(in, out, context);
      case 3:
        return run_streams<Streams>(in, out, context);
      case 4:
        return run_bulk_streams(in, out, context);
      case 5:
        return gemm::run_multistage<float, gemm::Small>(as.p, as.in, as.out, context);
      case 6:
        return run_k_tile(in, out, context);
      case 7:
        return run_register_sum(in, out, context);
      case 8:
        return run_as_gemv(in, out, context);
      default:
        return run_stages<Tile<float>>(in, out, context);
    }
  }
};

template <>
struct Kernels<double> {
  static constexpr const char* kNames[kCandidates] = {"tiles of 128 rows in stages",
                                                      "tiles of 32 rows in stages",
                                                      "gemm's tiles of 32 x 32, depth in parts",
                                                      "fragments of W",
                                                      "fragments of W, X in stages",
                                                      "gemm's tiles of 128 x 32",
                                                      "gemm's tiles of 128 x 64",
                                                      "a thread per row",
                                                      "a thread per row, a column at a time",
                                                      "gemv's lanes"};
  static constexpr int kInParts = 2;
  using Low = gemm::TensorShape<double, 128, 32, 16, 4, 1, 1, 3>;

  static bool work(int c, const Features& f, const In<double>& in, const Out<double>& out, Index parts,
                   Work& w) {
    constexpr Index kSize = sizeof(double);
    using Staged = FragmentStages;
    switch (c) {
      case 0:
        w = work_of_stages<Tile<double>, double>(f);
        return true;
      case 1:
        w = work_of_stages<LowTile<double>, double>(f);
        return true;
      case kInParts:
        w = work_of_tiles<double>(gemm::split_depth::kTile, gemm::split_depth::kTile,
                                  gemm::split_depth::kDepth, parts, f);
        return true;
      case 3: {  // its panels are of 64 where that is all of a row, and 8 columns suffice where rows are whole panels
        const bool plain = f.copy == 2 && f.k % 64 == 0;
        const Index panel = plain && f.k % 128 != 0 ? 64 : 128;
        w = work_of_passes({fragments::kWarps, fragments::kRows, panel, plain && f.n <= 8 ? 8 : 16,
                            f.k > panel ? ceil_div(f.k, panel) : 0},
                           f, kSize);
        if (!plain) w.copies *= f.copy;  // loads of one element
        return true;
      }
      case 4:
        w = work_of_passes(
            {Staged::kWarps, Staged::kRows, kPanel, kCols, f.k > kPanel ? ceil_div(f.k, kPanel) : 0}, f,
            kSize);
        return true;
      case 5:
        w = work_of_tiles<double>(Low::BM, Low::BN, Low::BK, 1, f);
        return true;
      case 6:
        w = work_of_tiles<double>(gemm::Fp64Tile::BM, gemm::Fp64Tile::BN, gemm::Fp64Tile::BK, 1, f);
        return out.Y.cols > 16;
      case 7:
        w = work_of_k_tile<double>(f);
        return true;
      case 8:
        w = work_of_register_sum(f, kSize);
        return true;
      default:
        return work_of_gemv(f, in, out, w);
    }
  }
  static void run(int c, const In<double>& in, const Out<double>& out, Context& context) {
    const AsGemm<double> as(in, out);
    switch (c) {
      case 1:
        return run_stages<LowTile<double>>(in, out, context);
      case 3:
        return fragments::run_fragments(in, out, context);
      case 4:
        return run_streamed_fragments(in, out, context);
      case 5:
        return gemm::run_tensor<double, Low, gemm::Fp64Products<1>>(as.p, as.in, as.out, context);
      case 6:
        return gemm::run_tensor<double, gemm::Fp64Tile, gemm::Fp64Products<2>>(as.p, as.in, as.out, context);
      case 7:
        return run_k_tile(in, out, context);
      case 8:
        return run_register_sum(in, out, context);
      case 9:
        return run_as_gemv(in, out, context);
      default:
        return run_stages<Tile<double>>(in, out, context);
    }
  }
};

template <class T>
struct Candidates : CandidateList<SkinnyGemm, T> {
  static constexpr Traits kTraits = Traits{}.needs_sm(90);
  static constexpr auto& kNames = Kernels<T>::kNames;
  static constexpr auto& kModels = Costs<T>::model;
  using Kept = gemm::split_depth::Plan<T>;  // of the candidate in parts

  Candidates(const Problem<T>&, const In<T>& in_, const Out<T>& out_, Context&)
      : in(in_), out(out_), f{out.Y.rows, in.X.cols, out.Y.cols, copy_width(in)} {}
  Terms terms(int c) const {
    if (f.v == 0 || f.k == 0 || f.n == 0) return {};
    const Index parts =
        c == Kernels<T>::kInParts ? gemm::split_depth::parts_of(AsGemm<T>(in, out).out, f.k) : 1;
    Work w{};
    return Kernels<T>::work(c, f, in, out, parts, w) ? terms_of<T>(w, f) : Terms{};
  }
  Kept keep(int c, Context& context) const {
    const AsGemm<T> as(in, out);
    return c == Kernels<T>::kInParts ? gemm::split_depth::prepare_split_depth(as.in, as.out, context)
                                     : Kept{};
  }
  static void run(int c, const Kept& kept, const Problem<T>&, const In<T>& in, const Out<T>& out,
                  Context& context) {
    const AsGemm<T> as(in, out);
    if (c == Kernels<T>::kInParts)
      return gemm::split_depth::run_split_depth(kept, as.p, as.in, as.out, context);
    Kernels<T>::run(c, in, out, context);
  }

  const In<T>& in;
  const Out<T>& out;
  Features f;
};

}  // namespace skinny
}  // namespace plumb
