// The oracle of a dense product alpha A B + beta C. Stands apart because gemm and skinny_gemm share it, and
// because it is blocked: a cubic oracle written as one dot product per element would dominate every run of
// verify.
#pragma once
#include "reference/cases/operator.hpp"

namespace plumb {

/// Fills `c`, packed (m, n), with value, magnitude |alpha| sum |a b| + |beta c| and number of terms.
/// A (m, k), B (k, n), C (m, n) or null where beta == 0. fp32 operands are summed in fp64, where their
/// products are exact; fp64 operands by Dot2. alpha == 0 reads neither A nor B; beta == 0 does not read C.
/// OpenMP over blocks of C.
template <class T>
void oracle_dense_product(T alpha, const DenseView<const T, Space::host>& A,
                          const DenseView<const T, Space::host>& B, T beta,
                          const DenseView<T, Space::host>& C, ReferenceArray& c);

}  // namespace plumb
