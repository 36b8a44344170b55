// What rung 10 chooses from, and what each would do for a problem, in the terms of its model of cost. tools/fit measures the same list.
#pragma once
#include "gpu/common/adaptive.hpp"
#include "gpu/conv2d/costs.hpp"
#include "gpu/conv2d/families/few_filters_family.hpp"
#include "gpu/conv2d/families/image_products_family.hpp"
#include "gpu/conv2d/families/register_tile_family.hpp"
#include "gpu/conv2d/families/tiles_family.hpp"

namespace plumb {
namespace conv2d {

template <class T>
constexpr int kCandidates = sizeof(T) == 4 ? 14 : 16;

/// What a candidate's blocks do: the terms are made of it.
struct Work {
  Index blocks, parts;  // of all tiles; of a tile's sums
  double depth;         // terms of a block
  double products;      // millions of a block
  double loaded,
      gathered;  // megabytes of a block; millions of elements that are copied one at a time, each with its own place
  double part_bytes;  // megabytes that a block leaves where there are several parts
};

template <class S, class T>
Work work_of(Index tiles, Index parts, Index terms, bool matrices) {
  constexpr double kMega = 1e6, kSize = sizeof(T);
  const auto depth = static_cast<double>(ceil_div(ceil_div(terms, S::BK), parts) * S::BK);
  return {tiles * parts,
          parts,
          depth,
          depth * S::BM * S::BN / kMega,
          depth * (S::BM + S::BN) * kSize / kMega,
          matrices ? 0 : depth * S::BN / kMega,
          parts > 1 ? S::BM * S::BN * kSize / kMega : 0};
}

/// Rung 3 stages pixels once for all windows of a tile, and 32 filters.
template <class T>
Work work_of_register_tile(const Problem<T>& p) {
  using namespace register_tile;
  constexpr double kMega = 1e6;
  const TileGrid grid = tile_grid(p, kRows, kCols);
  const double channels = p.c, taps = static_cast<double>(p.r) * p.s,
               pixels =
                   channels * static_cast<double>(halo_of(p, kRows, kCols).template bytes<T>()) / sizeof(T),
               weights = channels * taps * kFilters;
  return {p.n * ceil_div(p.k, kFilters) * grid.down * grid.across,
          1,
          channels * taps,
          channels * taps * kRows * kCols * kFilters / kMega,
          (pixels + weights) * sizeof(T) / kMega,
          (pixels + weights) / kMega,
          0};
}

/// The terms: a start; megabytes of parts that are added; the depth of a block; millions of multiply-adds of the
/// busiest multiprocessor; megabytes from the second-level cache; megabytes of Y and of the parts; megabytes of X and F; millions of
/// elements that the busiest multiprocessor copies one at a time.
template <class T>
Terms terms_of(const Work& w, const In<T>& in, const Out<T>& out) {
  constexpr double kMega = 1e6;
  const auto bytes = [](const auto& m) {
    return static_cast<double>(m.rows) * static_cast<double>(m.cols) * sizeof(T) / kMega;
  };
  const auto blocks = static_cast<double>(w.blocks),
             busiest = static_cast<double>(ceil_div(w.blocks, device_multiprocessors()));
  return {true,
          {1, w.part_bytes * static_cast<double>(additions_of(w.parts)), w.depth, busiest * w.products,
           blocks * w.loaded, bytes(out.Y) + 2 * blocks * w.part_bytes, bytes(in.X) + bytes(in.F),
           busiest * w.gathered}};
}

/// One tile, in one part or in as many as take the least time.
template <class S, bool kDivided>
struct Tiled {
  template <class T>
  static bool work(const Problem<T>& p, const In<T>& in, const Out<T>& out, Work& w) {
    const Index tiles = tiles_of<S>(p, out), parts = kDivided ? parts_of<S, T>(tiles, in.F.cols) : 1;
    w = work_of<S, T>(tiles, parts, in.F.cols, images_are_matrices(p, in, out));
    return parts > 1 || !kDivided;
  }
  template <class T>
  static void run(Index parts, unsigned* finished, const Problem<T>& p, const In<T>& in, const Out<T>& out,
                  Context& context) {
    if (images_are_matrices(p, in, out))
      run_tiles<S, ImagesAsMatrices, kDivided>(p, in, out, context, parts, finished);
    else
      run_tiles<S, GatheredWindows, kDivided>(p, in, out, context, parts, finished);
  }
};

/// gemm's tile for filters of one pixel, in as many parts as take the least time.
template <class S>
struct ByImages {
  template <class T>
  static bool work(const Problem<T>& p, const In<T>& in, const Out<T>& out, Work& w) {
    if (!filters_are_pixels(p)) return false;
    const Index tiles = tiles_of_images<S>(p, out), parts = S::WK == 1 ? parts_of<S, T>(tiles, in.F.cols) : 1;
    w = work_of<S, T>(tiles, parts, in.F.cols, images_are_matrices(p, in, out));
    return true;
  }
  template <class T>
  static void run(Index parts, unsigned* finished, const Problem<T>& p, const In<T>& in, const Out<T>& out,
                  Context& context) {
    run_image_products<S>(p, in, out, context, parts, finished);
  }
};

/// Rung 12, where a few passes make all filters.
struct FewFilters {
  template <class T>
  static bool work(const Problem<T>& p, const In<T>& in, const Out<T>& out, Work& w) {
    constexpr Index kMost = 64;
    constexpr double kMega = 1e6;
    if (!filters_are_pixels(p) || p.k > kMost) return false;
    w = few_filters::with_shape(p, in, out, [&](auto shape) {
      using S = decltype(shape);
      const auto channels = static_cast<double>(p.c);
      return Work{p.n * ceil_div(out.Y.cols, S::kOutputs) * ceil_div(p.k, S::K),
                  1,
                  channels / few_filters::kWarps,
                  channels * S::K * S::kOutputs / kMega,
                  channels * (S::K + S::kOutputs) * sizeof(T) / kMega,
                  0,
                  0};
    });
    return true;
  }
  template <class T>
  static void run(Index, unsigned*, const Problem<T>& p, const In<T>& in, const Out<T>& out,
                  Context& context) {
    few_filters::run_few_filters(p, in, out, context);
  }
};

struct RegisterTiled {
  template <class T>
  static bool work(const Problem<T>& p, const In<T>& in, const Out<T>& out, Work& w) {
    if (register_tile::supports_register_tile(p, in, out) != nullptr) return false;
    w = work_of_register_tile(p);
    return true;
  }
  template <class T>
  static void run(Index, unsigned*, const Problem<T>& p, const In<T>& in, const Out<T>& out,
                  Context& context) {
    register_tile::run_register_tile(p, in, out, context);
  }
};

/// The candidates of a type in their order: `use` is called with the one of number c.
template <class T>
struct Tiles;

template <>
struct Tiles<float> : Shapes<float> {
  static constexpr const char* kNames[kCandidates<float>] = {"64 x 64 tiles",
                                                             "64 x 64 tiles, sums in parts",
                                                             "64 x 128 tiles",
                                                             "128 x 128 tiles",
                                                             "128 x 128 tiles, sums in parts",
                                                             "32 x 128 tiles",
                                                             "32 x 128 tiles, sums in parts",
                                                             "16 x 128 tiles",
                                                             "16 x 128 tiles, sums in parts",
                                                             "32 filters by 8 x 32 outputs",
                                                             "64 x 64 tiles of images",
                                                             "64 x 128 tiles of images",
                                                             "32 x 64 tiles of images, depth shared",
                                                             "few filters"};
  template <class Use>
  static bool with(int c, Use&& use) {
    switch (c) {
      case 0:
        return use(Tiled<Small, false>{});
      case 1:
        return use(Tiled<Small, true>{});
      case 2:
        return use(Tiled<Middle, false>{});
      case 3:
        return use(Tiled<Large, false>{});
      case 4:
        return use(Tiled<Large, true>{});
      case 5:
        return use(Tiled<Half, false>{});
      case 6:
        return use(Tiled<Half, true>{});
      case 7:
        return use(Tiled<Thin, false>{});
      case 8:
        return use(Tiled<Thin, true>{});
      case 9:
        return use(RegisterTiled{});
      case 10:
        return use(ByImages<ImageTiles<float>::Small>{});
      case 11:
        return use(ByImages<ImageTiles<float>::Wide>{});
      case 12:
        return use(ByImages<ImageTiles<float>::Shared>{});
      default:
        return use(FewFilters{});
    }
  }
};

template <>
struct Tiles<double> : Shapes<double> {
  static constexpr const char* kNames[kCandidates<double>] = {"64 x 64 tiles",
                                                              "64 x 64 tiles, sums in parts",
                                                              "64 x 128 tiles",
                                                              "64 x 128 tiles, sums in parts",
                                                              "32 x 64 tiles",
                                                              "32 x 64 tiles, sums in parts",
                                                              "16 x 64 tiles",
                                                              "16 x 64 tiles, sums in parts",
                                                              "32 filters by 8 x 32 outputs",
                                                              "64 x 64 tiles of images",
                                                              "64 x 128 tiles of images",
                                                              "32 x 64 tiles of images, depth shared",
                                                              "32 x 32 tiles of images, depth shared",
                                                              "32 x 64 tiles of images",
                                                              "32 x 32 tiles of images",
                                                              "few filters"};
  template <class Use>
  static bool with(int c, Use&& use) {
    switch (c) {
      case 0:
        return use(Tiled<Small, false>{});
      case 1:
        return use(Tiled<Small, true>{});
      case 2:
        return use(Tiled<Middle, false>{});
      case 3:
        return use(Tiled<Middle, true>{});
      case 4:
        return use(Tiled<Half, false>{});
      case 5:
        return use(Tiled<Half, true>{});
      case 6:
        return use(Tiled<Thin, false>{});
      case 7:
        return use(Tiled<Thin, true>{});
      case 8:
        return use(RegisterTiled{});
      case 9:
        return use(ByImages<ImageTiles<double>::Small>{});
      case 10:
        return use(ByImages<ImageTiles<double>::Wide>{});
      case 11:
        return use(ByImages<ImageTiles<double>::Shared>{});
      case 12:
        return use(ByImages<ImageTiles<double>::SharedSquare>{});
      case 13:
        return use(ByImages<ImageTiles<double>::Low>{});
      case 14:
        return use(ByImages<ImageTiles<double>::Square>{});
      default:
        return use(FewFilters{});
    }
  }
};

template <class T>
struct Candidates : CandidateList<Conv2d, T> {
  static constexpr Traits kTraits = Traits{}.needs_sm(90);
  static constexpr auto& kNames = Tiles<T>::kNames;
  static constexpr auto& kModels = Costs<T>::model;
  struct Kept {
    Index parts = 1;
    unsigned* finished = nullptr;  // a count of each tile's parts
  };

  Candidates(const Problem<T>& p, const In<T>& in_, const Out<T>& out_, Context&) : in(in_), out(out_) {
    for (int c = 0; c < kCandidates<T>; ++c)
      fits[c] = in.F.cols > 0 && Tiles<T>::with(c, [&](auto one) { return one.work(p, in, out, work[c]); });
  }
  static const char* supports(const Problem<T>& p, const In<T>& in, const Out<T>& out) {
    return supports_gemm(p, in, out);
  }
  Terms terms(int c) const { return fits[c] ? terms_of(work[c], in, out) : Terms{}; }
  Kept keep(int c, Context& context) const {
    if (!fits[c] || work[c].parts == 1) return {};
    return {work[c].parts, prepare_counts(work[c].blocks / work[c].parts, work[c].parts, context)};
  }
  static void run(int c, const Kept& kept, const Problem<T>& p, const In<T>& in, const Out<T>& out,
                  Context& context) {
    Tiles<T>::with(c,
                   [&](auto one) { return one.run(kept.parts, kept.finished, p, in, out, context), true; });
  }

  const In<T>& in;
  const Out<T>& out;
  Work work[kCandidates<T>]{};
  bool fits[kCandidates<T>]{};
};

}  // namespace conv2d
}  // namespace plumb
