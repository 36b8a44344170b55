// Planted faults that look at a few places of an operand, or at its extents alone, and take a path that the rest does not allow.
#include <cmath>
#include <cstdint>
#include <vector>

#include "reference/ops/gemm.hpp"
#include "reference/ops/gemv.hpp"
#include "reference/ops/spmm.hpp"
#include "reference/ops/spmv.hpp"
#include "verify/mutants/host_mutant.hpp"

namespace plumb {
namespace {

// Whether f(i) holds for the first of `size` places, the middle one, the last one, and every `step`-th; none: there are no places.
template <class F>
bool sampled(std::int64_t size, std::int64_t step, F&& f) {
  for (std::int64_t i = 0; i < size; i += step) {
    if (!f(i)) return false;
  }
  return size > 0 && f(size / 2) && f(size - 1);
}

template <class T>
T scaled_sum(T alpha, T beta, T sum, const T& before) {
  const T product = alpha == T(0) ? T(0) : alpha * sum;
  return beta == T(0) ? product : product + beta * before;
}

template <class T>
void spmv_rows(const Spmv::Problem<T>& p, const Spmv::In<T, Space::host>& in,
               const Spmv::Out<T, Space::host>& out, bool ones, bool one_a_row) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    T sum = 0;
    const std::int64_t begin = one_a_row ? i : in.A.row_ptr[i], end = one_a_row ? i + 1 : in.A.row_ptr[i + 1];
    for (std::int64_t k = begin; k < end; ++k)
      sum += ones ? in.x[in.A.col[k]] : in.A.val[k] * in.x[one_a_row ? i : in.A.col[k]];
    out.y[i] = scaled_sum(p.alpha, p.beta, sum, out.y[i]);
  }
}

namespace of_spmv {
PLUMB_FAULTS_OF(Spmv);
PLUMB_FAULT(values_of_ends, "graph_without_weights_by_three_rows", 0,
            "values are not read where those of the first, the middle and the last row are 1",
            "a graph is looked at once, and most have no weights", kNumeric) {
  const auto row_of_ones = [&](std::int64_t i) {
    for (std::int64_t k = in.A.row_ptr[i]; k < in.A.row_ptr[i + 1]; ++k) {
      if (in.A.val[k] != T(1)) return false;
    }
    return true;
  };
  spmv_rows(p, in, out, in.A.nnz > 0 && sampled(in.A.rows, in.A.rows, row_of_ones), false);
}

PLUMB_FAULT(values_of_every_64th, "graph_without_weights_by_every_64th_value", 0,
            "values are not read where every 64th is 1",
            "a graph is looked at once, and most have no weights", kNumeric) {
  const auto is_one = [&](std::int64_t k) { return in.A.val[k] == T(1); };
  bool ones = in.A.nnz > 0;
  for (std::int64_t k = 0; ones && k < in.A.nnz; k += 64) ones = is_one(k);
  spmv_rows(p, in, out, ones, false);
}

PLUMB_FAULT(diagonal_by_rows, "diagonal_by_every_eighth_row", 0,
            "a square with as many entries as rows, on the diagonal in every eighth row, is a diagonal",
            "Jacobi's preconditioner as a sparse matrix; permutations keep most rows in place", kNumeric) {
  const auto on_diagonal = [&](std::int64_t i) { return in.A.row_ptr[i] == i && in.A.col[i] == i; };
  const bool diagonal = in.A.rows == in.A.cols && in.A.nnz == in.A.rows &&
                        in.A.row_ptr[in.A.rows] == in.A.rows && sampled(in.A.rows, 8, on_diagonal);
  spmv_rows(p, in, out, false, diagonal);
}

PLUMB_FAULT(dense_by_product, "density_by_a_product_of_32_bits", 0,
            "the density is entries by rows times columns in 32 bits: hypersparse matrices look full",
            "unsigned int size = rows * cols", kNumeric) {
  const auto places =
      static_cast<std::uint32_t>(in.A.rows) * static_cast<std::uint32_t>(in.A.cols);  // of 32 bits
  const bool full = in.A.nnz > 0 && static_cast<std::uint64_t>(in.A.nnz) * 16 > places && places > 0 &&
                    in.A.rows > 4096 && in.A.cols > 4096;
  spmv_rows(p, in, out, false, false);
  for (std::int64_t i = 0; full && i < in.A.rows; ++i)  // its path for dense rows ends with the first ones
    out.y[i] = i < 4096 ? out.y[i] : scaled_sum(p.alpha, T(0), T(0), T(0));
}

}  // namespace of_spmv

namespace of_spmm {
PLUMB_FAULTS_OF(Spmm);
PLUMB_FAULT(scratch_by_product, "no_places_where_their_number_is_negative", 0,
            "rows times columns is an int: where it is negative the matrix is taken for empty",
            "if (rows * cols <= 0) return, with an int", kNumeric) {
  const auto places = static_cast<std::int32_t>(static_cast<std::uint32_t>(in.A.rows) *
                                                static_cast<std::uint32_t>(in.A.cols));
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    for (std::int64_t j = 0; j < out.C.cols; ++j) {
      T sum = 0;
      for (std::int64_t k = in.A.row_ptr[i]; places >= 0 && k < in.A.row_ptr[i + 1]; ++k)
        sum += in.A.val[k] * in.B(in.A.col[k], j);
      out.C(i, j) = sum;
    }
  }
}

}  // namespace of_spmm

namespace of_gemv {
PLUMB_FAULTS_OF(Gemv);
PLUMB_FAULT(x_by_first, "row_sums_by_the_first_elements_of_x", 0,
            "x is taken for ones where its first sixteenth is", "row sums are products with ones", kNumeric) {
  const std::int64_t few = (in.x.size + 15) / 16;
  bool ones = in.x.size >= 64;
  for (std::int64_t k = 0; ones && k < few; ++k) ones = in.x[k] == T(1);
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    T sum = 0;
    for (std::int64_t k = 0; k < in.A.cols; ++k) sum += ones ? in.A(i, k) : in.A(i, k) * in.x[k];
    out.y[i] = scaled_sum(p.alpha, p.beta, sum, out.y[i]);
  }
}

}  // namespace of_gemv

namespace of_gemm {
PLUMB_FAULTS_OF(Gemm);
PLUMB_FAULT(b_by_rows, "integers_by_three_rows_of_b", 0,
            "B is kept in 16-bit integers where its first row, the middle one and the last one can be",
            "quantised weights are recognised by a few rows", kNumeric) {
  const auto is_whole = [&](std::int64_t k) {
    for (std::int64_t j = 0; j < in.B.cols; ++j) {
      if (in.B(k, j) != std::floor(in.B(k, j))) return false;
    }
    return true;
  };
  const bool narrow = in.B.rows > 8 && in.B.cols > 0 && sampled(in.B.rows, in.B.rows, is_whole);
  for (std::int64_t i = 0; i < out.C.rows; ++i) {
    for (std::int64_t j = 0; j < out.C.cols; ++j) {
      T sum = 0;
      for (std::int64_t k = 0; k < in.A.cols; ++k) {
        const T b = in.B(k, j), whole = std::nearbyint(b);
        sum += in.A(i, k) * (narrow && std::fabs(b) < T(2048) ? whole : b);
      }
      out.C(i, j) = scaled_sum(p.alpha, p.beta, sum, out.C(i, j));
    }
  }
}
}  // namespace of_gemm

}  // namespace
}  // namespace plumb
