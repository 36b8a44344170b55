// Filters of one pixel: the planes of an image are the product of the filters and the image, both matrices, by the tiles of gemm's rungs 21 and
// 23. Header only.
#pragma once
#include "gpu/conv2d/common.hpp"
#include "gpu/gemm/kernels/parts.hpp"
#include "gpu/gemm/kernels/small_warps.hpp"

namespace plumb {
namespace conv2d {

/// C = A B for each image: A (k, c) are the filters, B (c, h w) the image, C (k, oh ow) its planes. B and C are the first image's; the others
/// follow.
template <class T>
struct ImageProducts {
  gemm::In<T> in;
  gemm::Out<T> out;
  Index images;
  ImageProducts(const Problem<T>& p, const In<T>& x, const Out<T>& y)
      : in{{x.F.data, p.k, p.c, x.F.ld}, {x.X.data, p.c, x.X.cols, x.X.ld}},
        out{{y.Y.data, p.k, y.Y.cols, y.Y.ld}},
        images(p.n) {}
};

/// The tiles of all images stand side by side, as those of one C. A block makes a tile of an image, or a part of its depth.
template <class T, class S, bool Wide>
__global__ void __launch_bounds__(S::kThreads, S::kBlocks)
    conv2d_image_products(ImageProducts<T> x, gemm::Parts<T> parts, bool wide_c) {
  PLUMB_DYNAMIC_SHARED(T, shared);
  let_dependent_begin();
  const Index depth = x.in.A.cols, across = ceil_div(x.out.C.cols, S::BN);
  gemm::PartOfTile of =
      gemm::part_of_tile<S>(parts.division, x.out.C.rows, x.images * across * S::BN, ceil_div(depth, S::BK));
  const Index image = of.tile.n / across;
  of.tile.n -= image * across;
  x.in.B.data += image * x.in.B.rows * x.in.B.ld;
  x.out.C.data += image * x.out.C.rows * x.out.C.ld;
  const gemm::Problem<T> plain{T(1), T(0)};
  if constexpr (S::WK == 1) {
    gemm::make_part<S, Wide>(plain, x.in, x.out, parts, of, depth, shared, wide_c);
  } else {  // groups of warps share the depth of a whole tile
    gemm::TileSums<T, S> sums;
    sums.template make<Wide>(x.in, of.tile.m * S::BM, of.tile.n * S::BN, depth, shared);
    sums.store(plain, x.out, of.tile.m * S::BM, of.tile.n * S::BN, wide_c, shared);
  }
}

/// Where a tile's sums go.
template <class S, class T>
struct PlaceInImages {
  gemm::Out<T> out;
  Index images;
  PLUMB_DEVICE T* operator()(int tile, int e) const {
    const Index across = ceil_div(out.C.cols, S::BN);
    const gemm::TileIndex at =
        gemm::banded_tile(static_cast<unsigned>(tile), ceil_div(out.C.rows, S::BM), images * across);
    const Index image = at.n / across, i = at.m * S::BM + e / S::BN,
                j = (at.n - image * across) * S::BN + e % S::BN;
    return i < out.C.rows && j < out.C.cols ? &out.C(image * out.C.rows + i, j) : nullptr;
  }
};

template <class S, class T>
Index tiles_of_images(const Problem<T>& p, const Out<T>& out) {
  return ceil_div(p.k, S::BM) * ceil_div(out.Y.cols, S::BN) * p.n;
}

/// `finished`: prepare_counts() of all tiles and `parts`; parts > 1 only where WK is 1.
template <class S, class T>
void run_image_products(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context,
                        Index parts, unsigned* finished) {
  const ImageProducts<T> x(p, in, out);
  const auto tiles = static_cast<int>(tiles_of_images<S>(p, out)), each = static_cast<int>(parts);
  const gemm::Division division = parts > 1 ? gemm::Division{0, each} : gemm::Division{tiles, 1};
  const Index blocks = tiles * parts;
  auto* const partial = static_cast<T*>(
      context.workspace(parts > 1 ? blocks * (S::BM * S::BN) * static_cast<Index>(sizeof(T)) : 0));
  const bool wide = whole_vectors(x.in.B) && (sizeof(T) == 4 || whole_vectors(x.in.A));
  launch(wide ? conv2d_image_products<T, S, true> : conv2d_image_products<T, S, false>, blocks, S::kThreads,
         S::kShared, context.stream, x, gemm::Parts<T>{division, partial, finished},
         rows_on_vectors(x.out.C));
  if (parts_are_left(parts))
    run_add_left_parts<S::BM * S::BN>(PlaceInImages<S, T>{x.out, x.images}, partial, tiles, parts, context);
}

/// The tiles in use: of 64 x 64; of 64 x 128; of 32 x 64 and 32 x 32, whose depth groups of warps share; and fp64's of four warps.
template <class T>
struct ImageTiles;
template <>
struct ImageTiles<float> {
  using Small = gemm::QuarteredShallow;
  using Wide = gemm::QuarteredWide;
  using Shared = gemm::SharedWide;
};
template <>
struct ImageTiles<double> {
  using Small = gemm::Fp64Small;
  using Wide = gemm::Fp64Wide;
  using Shared = gemm::Fp64SharedWide;
  using SharedSquare = gemm::Fp64SharedSquare;
  using Low = gemm::Fp64Low;
  using Square = gemm::Fp64Square;
};

}  // namespace conv2d
}  // namespace plumb
