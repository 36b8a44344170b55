// Planted faults of sddmm: each is a right kernel with one thing changed. `verify --mutants` must kill every
// one of them.
#include <algorithm>

#include "reference/ops/sddmm.hpp"
#include "verify/mutants/host_mutant.hpp"
#include "verify/mutants/narrow_mutants.hpp"

namespace plumb {
namespace {

PLUMB_FAULTS_OF(Sddmm);

template <class T>
T product(const In<T>& in, std::int64_t x_row, std::int64_t y_row, std::int64_t length) {
  T sum = 0;
  for (std::int64_t k = 0; k < length; ++k) sum += in.X(x_row, k) * in.Y(y_row, k);
  return sum;
}

template <class T, class F>
void each_entry(const In<T>& in, F&& f) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    for (std::int32_t e = in.A.row_ptr[i]; e < in.A.row_ptr[i + 1]; ++e) f(i, e);
  }
}

PLUMB_FAULT(values_multiply, "values_of_the_mask_multiply", 33, "the mask's values are multiplied in",
            "the other of the two definitions in use", kNumeric) {
  each_entry(in, [&](std::int64_t i, std::int32_t e) {
    out.s[e] = in.A.val[e] * product(in, i, in.A.col[e], in.X.cols);
  });
}

PLUMB_FAULT(k_tail, "k_tail_dropped", 14, "terms beyond a multiple of 8 are not added",
            "vectorised products without a remainder", kNumeric) {
  each_entry(
      in, [&](std::int64_t i, std::int32_t e) { out.s[e] = product(in, i, in.A.col[e], in.X.cols / 8 * 8); });
}

PLUMB_FAULT(flush, "subnormal_sums_flushed", 0, "a subnormal sum becomes 0, and the variant does not say so",
            "fp32 atomicAdd in global memory; -ftz=true", kNumeric) {
  each_entry(in, [&](std::int64_t i, std::int32_t e) {
    out.s[e] = flushed(product(in, i, in.A.col[e], in.X.cols));
  });
}

PLUMB_FAULT(k_over_1000, "last_term_of_long_rows_dropped", 14,
            "one term of 300 is missing: within a tolerance of one per cent",
            "a tile loop that ends one step early", kNumeric) {
  each_entry(in, [&](std::int64_t i, std::int32_t e) {
    out.s[e] = product(in, i, in.A.col[e], in.X.cols > 256 ? in.X.cols - 1 : in.X.cols);
  });
}

PLUMB_FAULT(swapped, "mask_transposed", 0, "row and column of the mask are swapped",
            "CSC taken for CSR; right for symmetric masks and X = Y", kNumeric) {
  each_entry(in, [&](std::int64_t i, std::int32_t e) {
    out.s[e] = product(in, in.A.col[e] % in.X.rows, i % in.Y.rows, in.X.cols);
  });
}

PLUMB_FAULT(repeats_once, "repeated_columns_once", 0, "of repeated columns only the first gets the product",
            "kernels that merge duplicates while they sample", kNumeric) {
  each_entry(in, [&](std::int64_t i, std::int32_t e) {
    const bool repeated = e > in.A.row_ptr[i] && in.A.col[e] == in.A.col[e - 1];
    out.s[e] = repeated ? T(0) : product(in, i, in.A.col[e], in.X.cols);
  });
}

PLUMB_FAULT(nothing_for_zero, "zero_width_writes_nothing", 0,
            "k == 0 returns early and leaves the output as it was",
            "the early return that is right for empty outputs, taken for empty sums", kNumeric) {
  if (in.X.cols == 0) return;
  each_entry(in, [&](std::int64_t i, std::int32_t e) { out.s[e] = product(in, i, in.A.col[e], in.X.cols); });
}

PLUMB_FAULT(wrong_first_row, "block_begins_in_an_empty_row", 32,
            "the row of a block's first entry is found by lower_bound: an empty row where one starts there",
            "non-zero splits tested on matrices without empty rows", kNumeric) {
  constexpr std::int64_t kBlock = 64;
  const auto A = in.A;
  for (std::int64_t begin = 0; begin < A.nnz; begin += kBlock) {
    // lower_bound finds the first row that starts at `begin`, which is an empty one where several start there
    std::int64_t i = std::lower_bound(A.row_ptr, A.row_ptr + A.rows + 1, begin) - A.row_ptr;
    if (A.row_ptr[i] > begin) --i;
    for (std::int64_t e = begin; e < std::min(A.nnz, begin + kBlock); ++e) {
      if (A.row_ptr[i + 1] <= e && e > begin) {  // the row of the block's first entry is trusted to have one
        while (A.row_ptr[i + 1] <= e) ++i;
      }
      out.s[e] = product(in, i, A.col[e], in.X.cols);
    }
  }
}

// Where X and Y are one array, a product below the diagonal is taken from above it, where the pattern has it.
PLUMB_FAULT(as_symmetric, "pattern_taken_for_symmetric", 0,
            "where X and Y are one array, half of the products are taken from "
            "the other half, as if all had a place there",
            "attention over an undirected graph, half the work saved", kNumeric) {
  const bool same = in.X.data == in.Y.data && in.X.cols > 0;
  each_entry(in, [&](std::int64_t i, std::int32_t e) {
    const std::int32_t j = in.A.col[e];
    out.s[e] = same && j < i ? T(0) : product(in, i, j, in.X.cols);
    if (!same || j >= i) return;
    for (std::int32_t f = in.A.row_ptr[j]; f < in.A.row_ptr[j + 1]; ++f) {
      if (in.A.col[f] == i) out.s[e] = out.s[f];
    }
  });
}

// 512 terms are held, and the others are read again; the loop over those is asked for from a warp's worth of them on.
PLUMB_FAULT(rest_of_held, "less_than_a_warp_beyond_512_terms_lost", 14,
            "of 513 to 543 terms the first 512 are added, which registers hold",
            "a loop over the rest that is entered for whole rounds alone", kNumeric) {
  constexpr std::int64_t kHeld = 512, kWarp = 32;
  const std::int64_t depth = in.X.cols, rest = depth - kHeld;
  each_entry(in, [&](std::int64_t i, std::int32_t e) {
    out.s[e] = product(in, i, in.A.col[e], rest > 0 && rest < kWarp ? kHeld : depth);
  });
}

// Terms in panels of 256, entries of a row in groups of 64: a group's sums are set back in the first panel alone.
PLUMB_FAULT(groups_by_panels, "sums_stay_from_group_to_group_in_later_panels", 0,
            "beyond 256 terms, entries of a row behind the 64th begin with the sum of another entry",
            "two loops in pieces, of which one was ever longer than a piece", kNumeric) {
  constexpr std::int64_t kPanel = 256, kGroup = 64;
  std::fill_n(out.s.data, out.s.size, T(0));
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    const std::int64_t begin = in.A.row_ptr[i], end = in.A.row_ptr[i + 1];
    for (std::int64_t k0 = 0; k0 < in.X.cols; k0 += kPanel) {
      T sums[kGroup] = {};
      for (std::int64_t e = begin; e < end; ++e) {
        T& sum = sums[(e - begin) % kGroup];
        if (k0 == 0) sum = 0;
        for (std::int64_t k = k0; k < std::min(in.X.cols, k0 + kPanel); ++k)
          sum += in.X(i, k) * in.Y(in.A.col[e], k);
        out.s[e] += sum;
      }
    }
  }
}

template <class T, class Fault>
struct Narrow {
  static void run(const P<T>&, const In<T>& in, const Out<T>& out, Context&) {
    for (std::int64_t i = 0; i < in.A.rows; ++i) {
      for (std::int64_t e = in.A.row_ptr[i]; e < in.A.row_ptr[i + 1]; ++e) {
        float sum = 0;
        for (std::int64_t k = 0; k < in.X.cols; ++k) {
          if (Fault::takes(k, in.X.cols))
            sum = Fault::kept(sum + Fault::read(in.X(i, k)) * Fault::read(in.Y(in.A.col[e], k)));
        }
        out.s[e] = Fault::template write<out_t<T>>(sum);
      }
    }
  }
};
// No case has sums beyond the largest number.
const NarrowMutants<Sddmm, Narrow, narrow_faults::Usual::With<narrow_faults::RoundsTwice>, f16, bf16>
    narrow_types_m;

}  // namespace
}  // namespace plumb
