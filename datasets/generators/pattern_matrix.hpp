// The sparse operand of a case, without the case: `dataset generate pattern`.
#pragma once
#include "reference/cases/case_id.hpp"
#include "reference/cases/patterns.hpp"
#include "reference/core/matrix.hpp"

namespace plumb {

/// What spmv, spmm, sddmm and dense_to_csr take as A in a case of these parameters, bit for bit. T is float or double.
/// Errors: as place(). `what.stream` is not looked at.
template <class T>
[[nodiscard]] Csr<T> pattern_matrix(const Pattern& what, Fill fill);

}  // namespace plumb
