// conv2d: a batch of images against a bank of filters, as convolutional layers have it. Contract only; cases,
// oracle and bound are in conv2d.cpp.
#pragma once
#include "reference/core/contract.hpp"

namespace plumb {

/// Y[i, f, y, x] = sum_{ch, a, b} F[f, ch, a, b] * X[i, ch, y stride_h + a dilation_h - pad_h,
///                                                          x stride_w + b dilation_w - pad_w]
/// for ch in [0, c), a in [0, r), b in [0, s): cross-correlation, the filter is not flipped. X is 0 outside.
///
/// Shapes    X (n, c, h, w);  F (k, c, r, s);  Y (n, k, oh, ow), oh = extent(h, r, stride_h, pad_h,
///           dilation_h), ow likewise. n, c, h, w, k may be 0; r, s, strides and dilations are at least 1,
///           pads at least 0.
/// Layout    planes as rows of a matrix: X is (n c, h w), F (k, c r s), Y (n k, oh ow), each with its own
///           leading dimension; a plane is contiguous. What lies between planes is not touched.
/// Aliasing  Y overlaps neither X nor F. Y is written and never read.
/// Values the zeros around an image are multiplied as its pixels are: where F holds NaN or Inf, a place in
///           the padding gives NaN. c == 0 yields 0. NaN and Inf otherwise propagate as in IEEE 754: no term
///           is skipped. The sign of a zero is free.
/// Narrow    types: fp32 sums rounded once, to nearest even. Beyond the largest number: infinity, NaN in e4m3;
///           subnormals are kept, NaN stays NaN (docs/bounds.md#narrow-outputs).
/// Bound     |Y - ref| <= sum_bound_of_many_scales(M, c r s), M = sum |F| |X|. Arithmetic::winograd, F(2x2, 3x3) on tiles of
///           2 x 2 outputs that begin at even places: with d the 4 x 4 inputs of a tile and g a filter, Y =
///           A^T (sum_ch (G g G^T) . (B^T d B)) A. Each sum in a transform of one dimension has at most two
///           additions in G and A^T, one in B^T, and factors of 1/2, which are exact: so the computed G g G^T
///           is within 4 u of |G| |g| |G^T|, B^T d B within 2 u of |B^T| |d| |B|, a product adds 1 u, the sum
///           over channels c - 1, the last transform 4: to first order
///             |Y - ref| <= (c + 10) u W,  W = |A^T| (sum_ch (|G| |g| |G^T|) . (|B^T| |d| |B|)) |A|,
///           the length of the longest chain of roundings times the terms' own magnitude. The judge compares
///           with sum_bound(W, c + 10), because chains of roundings add up here as they do in any sum. In
///           exact, wide and index fills every intermediate is a multiple of 1/4 below W: the comparison is
///           bitwise where 4 W <= 1 / u, and by that bound (with 4 sqrt(c + 10)) elsewhere. W is 7 M where
///           all data are equal, and larger where neighbours differ in scale. Filters whose quarters are
///           subnormal are excluded.
/// Cost      2 n k oh ow c r s flop, padding counted;  v (pixels used + k c r s + n k oh ow) bytes (v = bytes
///           of T).
/// Errors    shapes that do not fit, r, s, strides or dilations below 1, and negative pads are rejected by
///           validate() before any variant runs; variants assume a valid problem.
/// Source    Chellapilla, Puri and Simard, "High performance convolutional neural networks for document
///           processing" (2006); Lavin and Gray, "Fast algorithms for convolutional neural networks", CVPR
///           2016; Higham, Accuracy and Stability (2002), sections 3.1 and 23.2.
struct Conv2d : Contract<Conv2d> {
  static constexpr const char* kName = "conv2d";
  static constexpr const char* kSignature = "X: n c h w, F: k c r s -> Y: n k oh ow";
  static constexpr auto& kDtypes = kMatrixDtypes;
  static constexpr const char* kExtents[] = {"n", "c", "h", "w", "k"};  // parameters of a case

  /// Outputs along a dimension: the windows that fit, 0 where none does.
  static constexpr std::int64_t extent(std::int64_t size, std::int64_t window, std::int64_t stride,
                                       std::int64_t pad, std::int64_t dilation) {
    const std::int64_t room = size + 2 * pad - dilation * (window - 1) - 1;
    return room < 0 ? 0 : room / stride + 1;
  }

  template <class T>
  struct Problem {
    std::int32_t n, c, h, w;  // images, channels, rows and columns of an image
    std::int32_t k, r, s;     // filters, rows and columns of a filter
    std::int32_t oh, ow;      // rows and columns of an output
    std::int32_t stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
  };
  PLUMB_INPUTS(Matrix X; Matrix F;)
  PLUMB_OUTPUTS(Matrix Y;)

  template <class P, class F>
  static void each_scalar(P& p, F&& f) {
    f("n", p.n), f("c", p.c), f("h", p.h), f("w", p.w), f("k", p.k), f("r", p.r), f("s", p.s), f("oh", p.oh);
    f("ow", p.ow), f("stride_h", p.stride_h), f("stride_w", p.stride_w), f("pad_h", p.pad_h);
    f("pad_w", p.pad_w), f("dilation_h", p.dilation_h), f("dilation_w", p.dilation_w);
  }

  PLUMB_CONTRACT(Conv2d)
  /// Makes of a problem its n-th neighbour, over the same arrays of the same shapes; false: it has no more. Those
  /// behind the first differ from it in as few members as may be.
  template <class T>
  static bool make_other(Problem<T>&, int n);
};

/// Whether F(2x2, 3x3) applies: the oracle then gives its magnitude, and variants of that arithmetic accept
/// the problem.
template <class T>
constexpr bool winograd_applies(const Conv2d::Problem<T>& p) {
  return p.r == 3 && p.s == 3 && p.stride_h == 1 && p.stride_w == 1 && p.dilation_h == 1 && p.dilation_w == 1;
}

}  // namespace plumb
