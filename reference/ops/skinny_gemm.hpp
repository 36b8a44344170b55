// skinny_gemm: Y = X W for a tall X and a small W, as in a graph network's layer. Contract only; the rest is
// in skinny_gemm.cpp. It is separate from gemm because the ladders differ: W stays in registers or shared
// memory, and X is read once.
#pragma once
#include "reference/core/contract.hpp"

namespace plumb {

/// Y[i, j] = sum_k X[i, k] * W[k, j]  for k in [0, X.cols).
///
/// Shapes    X (v, k);  W (k, n);  Y (v, n). Typically v = 281,903, k = 128, n = 16; any of them may be 0.
/// Layout    row-major, each matrix with its own leading dimension ld >= cols. What lies between cols and ld
///           is not touched.
/// Aliasing  Y overlaps neither X nor W, which may be one array. Y is written and never read.
/// Values    k == 0 gives 0. NaN and Inf propagate as in IEEE 754: 0 * Inf is NaN, no term is skipped.
///           The sign of a zero is free.
/// Narrow    types: fp32 sums rounded once, to nearest even. Beyond the largest number: infinity, NaN in e4m3;
///           subnormals are kept, NaN stays NaN (docs/bounds.md#narrow-outputs).
/// Bound     |Y[i, j] - ref| <= sum_bound(M, k), M = sum |X[i, k] W[k, j]|.
/// Cost      2 v k n flop;  b (v k + k n + v n) bytes (b = bytes of T): bound by the stream of X below n =
///           100 or so.
/// Errors    shapes that do not fit are rejected by validate() before any variant runs; variants assume
///           fitting shapes.
/// Source    N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed. (2002), section 3.5.
struct SkinnyGemm : Contract<SkinnyGemm> {
  static constexpr const char* kName = "skinny_gemm";
  static constexpr const char* kSignature = "X: v k, W: k n -> Y: v n";
  static constexpr auto& kDtypes = kMatrixDtypes;

  PLUMB_INPUTS(Matrix X; Matrix W;)
  PLUMB_OUTPUTS(Matrix Y;)

  PLUMB_CONTRACT(SkinnyGemm)
};

}  // namespace plumb
