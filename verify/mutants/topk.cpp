// Planted faults of topk: each is a right kernel with one thing changed. `verify --mutants` must kill every one.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "reference/ops/topk.hpp"
#include "verify/mutants/host_mutant.hpp"

namespace plumb {
namespace {

PLUMB_FAULTS_OF(TopK);

using Columns = std::vector<std::int32_t>;

template <class T>
bool is_larger(T a, T b) {
  return std::isnan(a) ? !std::isnan(b) : a > b;
}

// The first `cols` columns of a row, in the order of their elements.
template <class T, class Before>
Columns sorted(const T* x, std::int64_t cols, Before&& before) {
  Columns columns(static_cast<std::size_t>(cols));
  std::iota(columns.begin(), columns.end(), 0);
  std::stable_sort(columns.begin(), columns.end(),
                   [&](std::int32_t a, std::int32_t b) { return before(x[a], x[b]); });
  return columns;
}

// The right kernel, with its parts open to change: which columns a row's answer names, and what is written of one.
template <class T, class Order, class Write>
void by_columns(const In<T>& in, const Out<T>& out, Order&& order, Write&& write) {
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    const T* const x = in.x.data + i * in.x.ld;
    const Columns columns = order(x);
    for (std::int64_t p = 0; p < out.values.cols; ++p) write(i, p, x, columns);
  }
}
// What is written where that is as it should be.
template <class T>
auto as_it_is(const Out<T>& out) {
  return [&out](std::int64_t i, std::int64_t p, const T* x, const Columns& columns) {
    const std::int32_t column = columns[static_cast<std::size_t>(p)];
    out.values(i, p) = x[column], out.indices(i, p) = column;
  };
}
// All columns in the right order.
template <class T>
auto descending(const In<T>& in) {
  return [cols = in.x.cols](const T* x) { return sorted(x, cols, is_larger<T>); };
}

PLUMB_FAULT(named_twice, "column_of_the_first_equal", 0,
            "the column is searched by its value: of equal elements the first is named each time",
            "indices found behind a sort of values alone", kNumeric) {
  by_columns<T>(in, out, descending(in),
                [&](std::int64_t i, std::int64_t n, const T* x, const Columns& columns) {
                  const std::int32_t column = columns[static_cast<std::size_t>(n)];
                  out.values(i, n) = x[column];
                  const T* const found = std::find(x, x + in.x.cols, x[column]);
                  out.indices(i, n) = found == x + in.x.cols ? column : static_cast<std::int32_t>(found - x);
                });
}

PLUMB_FAULT(ascends, "ascending_order", 0, "the k largest, from the smallest of them to the largest",
            "what a heap gives as it is emptied", kNumeric) {
  by_columns<T>(
      in, out,
      [&](const T* x) {
        Columns columns = sorted(x, in.x.cols, is_larger<T>);
        std::reverse(columns.begin(), columns.begin() + out.values.cols);
        return columns;
      },
      as_it_is<T>(out));
}

PLUMB_FAULT(unsorted, "in_the_order_of_columns", 0,
            "the k largest, in the order in which they stand in the row",
            "a selection without the sort behind it: sorted=False", kNumeric) {
  by_columns<T>(
      in, out,
      [&](const T* x) {
        Columns columns = sorted(x, in.x.cols, is_larger<T>);
        std::sort(columns.begin(), columns.begin() + out.values.cols);
        return columns;
      },
      as_it_is<T>(out));
}

PLUMB_FAULT(smallest, "the_smallest", 0, "the k smallest elements", "largest=False", kNumeric) {
  by_columns<T>(
      in, out, [&](const T* x) { return sorted(x, in.x.cols, [](T a, T b) { return is_larger(b, a); }); },
      as_it_is<T>(out));
}

PLUMB_FAULT(one_less, "one_less_than_k", 0, "the last of the k is the one before it once more",
            "an off-by-one in the threshold", kNumeric) {
  by_columns<T>(
      in, out,
      [&](const T* x) {
        Columns columns = sorted(x, in.x.cols, is_larger<T>);
        const auto last = static_cast<std::size_t>(out.values.cols) - 1;
        if (last > 0) columns[last] = columns[last - 1];
        return columns;
      },
      as_it_is<T>(out));
}

PLUMB_FAULT(begins_with_second, "begins_with_the_second", 0,
            "places 1 to k of the order instead of 0 to k - 1, where a row has as many",
            "ranks counted from 1", kNumeric) {
  by_columns<T>(
      in, out,
      [&](const T* x) {
        Columns columns = sorted(x, in.x.cols, is_larger<T>);
        if (out.values.cols < in.x.cols) columns.erase(columns.begin());
        return columns;
      },
      as_it_is<T>(out));
}

PLUMB_FAULT(nan_smallest, "nan_is_the_smallest", 25, "NaN behind all numbers", "maxima that pass NaN by",
            kNumeric) {
  by_columns<T>(
      in, out,
      [&](const T* x) {
        return sorted(x, in.x.cols, [](T a, T b) { return std::isnan(b) ? !std::isnan(a) : a > b; });
      },
      as_it_is<T>(out));
}

PLUMB_FAULT(by_size, "by_absolute_value", 0, "elements are ordered by their size, whatever their sign",
            "pruning by magnitude, taken for routing", kNumeric) {
  by_columns<T>(
      in, out,
      [&](const T* x) {
        return sorted(x, in.x.cols, [](T a, T b) { return is_larger(std::fabs(a), std::fabs(b)); });
      },
      as_it_is<T>(out));
}

PLUMB_FAULT(by_bits, "by_bits_as_signed_integers", 0,
            "negative elements are ordered by their bits, which is the wrong way round",
            "keys of a radix sort without the flip of negative numbers", kNumeric) {
  using Bits = BitsOf<T>;
  const auto key = [](T v) {
    return std::isnan(v) ? std::numeric_limits<std::make_signed_t<Bits>>::max()
                         : std::bit_cast<std::make_signed_t<Bits>>(v);
  };
  by_columns<T>(
      in, out, [&](const T* x) { return sorted(x, in.x.cols, [&](T a, T b) { return key(a) > key(b); }); },
      as_it_is<T>(out));
}

PLUMB_FAULT(values_alone, "values_sorted_without_their_columns", 0,
            "values in the right order, the columns in that of the row",
            "a sort of keys that leaves the payload", kNumeric) {
  by_columns<T>(in, out, descending(in),
                [&](std::int64_t i, std::int64_t n, const T* x, const Columns& columns) {
                  Columns of_answer(columns.begin(), columns.begin() + out.values.cols);
                  std::sort(of_answer.begin(), of_answer.end());
                  const auto at = static_cast<std::size_t>(n);
                  out.values(i, n) = x[columns[at]], out.indices(i, n) = of_answer[at];
                });
}

PLUMB_FAULT(last_unread, "last_column_never_read", 14,
            "the last column is no candidate where there are others", "a loop's bound", kNumeric) {
  by_columns<T>(
      in, out,
      [&](const T* x) {
        return sorted(x, out.values.cols < in.x.cols ? in.x.cols - 1 : in.x.cols, is_larger<T>);
      },
      as_it_is<T>(out));
}

PLUMB_FAULT(tail_unread, "column_tail_never_read", 14, "columns beyond a multiple of 32 are no candidates",
            "whole warps only", kNumeric) {
  by_columns<T>(
      in, out,
      [&](const T* x) {
        const std::int64_t whole = in.x.cols / 32 * 32;
        return sorted(x, whole < out.values.cols ? in.x.cols : whole, is_larger<T>);
      },
      as_it_is<T>(out));
}

// The column is written as `changed` has it.
template <class T, class Changed>
auto with_column(const Out<T>& out, Changed&& changed) {
  return [&out, changed](std::int64_t i, std::int64_t n, const T* x, const Columns& columns) {
    const std::int32_t column = columns[static_cast<std::size_t>(n)];
    out.values(i, n) = x[column], out.indices(i, n) = changed(column);
  };
}

PLUMB_FAULT(local_index, "column_within_its_tile", 0,
            "a column is counted from the beginning of its tile of 64", "a tile's offset that is not added",
            kNumeric) {
  by_columns<T>(in, out, descending(in), with_column(out, [](std::int32_t column) { return column % 64; }));
}

PLUMB_FAULT(from_one, "columns_counted_from_one", 0, "columns are counted from 1",
            "Fortran's and MATLAB's habit", kNumeric) {
  by_columns<T>(in, out, descending(in), with_column(out, [](std::int32_t column) { return column + 1; }));
}

PLUMB_FAULT(sixteen_bits, "columns_in_16_bits", 0, "columns are kept in 16 bits",
            "packed pairs of value and column", kNumeric) {
  by_columns<T>(in, out, descending(in),
                with_column(out, [](std::int32_t column) { return column & 0xffff; }));
}

PLUMB_FAULT(sign_of_zero, "sign_of_zero_lost", 0, "a value of -0 becomes +0",
            "values made from keys in which zeros are equal", kNumeric) {
  by_columns<T>(in, out, descending(in),
                [&](std::int64_t i, std::int64_t n, const T* x, const Columns& columns) {
                  const std::int32_t column = columns[static_cast<std::size_t>(n)];
                  out.values(i, n) = x[column] + T(0), out.indices(i, n) = column;
                });
}

PLUMB_FAULT(subnormals, "subnormals_are_zeros", 0, "subnormal elements are equal to 0 in the order",
            "builds that flush subnormals to zero", kNumeric) {
  by_columns<T>(
      in, out,
      [&](const T* x) {
        return sorted(x, in.x.cols, [](T a, T b) { return is_larger(flushed(a), flushed(b)); });
      },
      as_it_is<T>(out));
}

PLUMB_FAULT(nearly_equal, "nearly_equal_is_equal", 0,
            "elements that differ by one part in 256 are equal in the order", "keys kept in bf16", kNumeric) {
  const auto rounded = [](T v) {
    return std::isfinite(v) ? std::ldexp(std::round(std::ldexp(v, 8)), -8) : v;
  };
  by_columns<T>(
      in, out,
      [&](const T* x) {
        return sorted(x, in.x.cols, [&](T a, T b) { return is_larger(rounded(a), rounded(b)); });
      },
      as_it_is<T>(out));
}

PLUMB_FAULT(above_alone, "elements_above_the_threshold_alone", 0,
            "elements equal to the k-th are written only where none is above it",
            "a selection that takes the threshold for exclusive", kNumeric) {
  by_columns<T>(
      in, out, descending(in), [&](std::int64_t i, std::int64_t n, const T* x, const Columns& columns) {
        const auto at = [&](std::int64_t place) { return x[columns[static_cast<std::size_t>(place)]]; };
        const T last = at(out.values.cols - 1);
        if (is_larger(at(0), last) && !is_larger(at(n), last)) return;
        as_it_is<T>(out)(i, n, x, columns);
      });
}

PLUMB_FAULT(packed, "leading_dimension_ignored", 18, "the outputs are taken to be packed",
            "kernels tested on packed matrices only", kNumeric) {
  Out<T> as_packed = out;
  as_packed.values.ld = as_packed.indices.ld = out.values.cols;
  by_columns<T>(in, as_packed, descending(in), as_it_is<T>(as_packed));
}

PLUMB_FAULT(remembers, "columns_of_the_row_before", 0,
            "a row whose first element is that of the row before gets its columns", "a cache by one element",
            kNumeric) {
  Columns before;
  T first = 0;
  by_columns<T>(
      in, out,
      [&](const T* x) {
        if (before.empty() || x[0] != first) before = sorted(x, in.x.cols, is_larger<T>);
        first = x[0];
        return before;
      },
      as_it_is<T>(out));
}

}  // namespace
}  // namespace plumb
