// transpose: B = A^T for dense row-major matrices. Contract only; cases and oracle are in transpose.cpp.
#pragma once
#include "reference/core/contract.hpp"

namespace plumb {

/// B[j, i] = A[i, j].
///
/// Shapes    A (rows, cols);  B (cols, rows). Either of them may be 0.
/// Layout    row-major, each matrix with its own leading dimension ld >= cols. What lies between cols and ld
///           is not touched.
/// Aliasing  B does not overlap A: this is not the transpose in place. B is written and never read.
/// Values    every value arrives as it is: infinities and subnormals included, -0 as -0, a NaN as a NaN (its
///           payload is not judged).
/// Narrow    types: bits are moved; no value is flushed, and e4m3's NaN stays one.
/// Bound     0: nothing is computed.
/// Cost      0 flop;  2 v rows cols bytes (v = bytes of T).
/// Errors    shapes that do not fit are rejected by validate() before any variant runs; variants assume
///           fitting shapes.
/// Source    the definition.
struct Transpose : Contract<Transpose> {
  static constexpr const char* kName = "transpose";
  static constexpr const char* kSignature = "A: rows cols -> B: cols rows";
  static constexpr Dtype kDtypes[] = {Dtype::f32, Dtype::f64, Dtype::f16, Dtype::bf16, Dtype::e4m3};

  PLUMB_INPUTS(Matrix A;)
  PLUMB_OUTPUTS(Matrix B;)

  PLUMB_CONTRACT(Transpose)
};

}  // namespace plumb
