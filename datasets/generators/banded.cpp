#include "datasets/generators/banded.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "datasets/generators/row_builder.hpp"
#include "reference/cases/pattern_rows.hpp"

namespace plumb {
namespace {

void check_grid(const char* what, std::int64_t nx, std::int64_t ny, std::int64_t nz, std::int64_t unknowns) {
  // Divided rather than multiplied: the product may not fit.
  const bool fits = nx >= 1 && ny >= 1 && nz >= 1 && unknowns >= 1 && nx <= kMostCounted &&
                    ny <= kMostCounted / nx && nz <= kMostCounted / nx / ny &&
                    unknowns <= kMostCounted / nx / ny / nz;
  if (!fits) {
    throw input_error(what, 0, "grid sides must be at least 1 and give at most 2147483647 rows, are",
                      std::to_string(nx) + " x " + std::to_string(ny) + " x " + std::to_string(nz));
  }
}

}  // namespace

template <class T>
Csr<T> banded(const Banded& what) {
  check_shape("banded", what.rows, what.cols);
  if (what.lower < 0 || what.upper < 0 || what.lower > kMostCounted || what.upper > kMostCounted) {
    throw input_error("banded", 0, "band widths must be 0..2147483647, are",
                      std::to_string(what.lower) + ", " + std::to_string(what.upper));
  }
  if (!(what.density >= 0 && what.density <= 1)) {
    throw input_error("banded", 0, "density must be 0..1", std::to_string(what.density));
  }
  const auto each = [&what](std::int64_t i, auto&& take) {
    const std::int64_t last = std::min(what.cols - 1, i + what.upper);
    for (std::int64_t j = std::max<std::int64_t>(0, i - what.lower); j <= last; ++j) {
      const bool kept = i == j || what.density >= 1 ||
                        random_unit(what.seed, static_cast<std::uint64_t>(i) + 0x62616e64,
                                    static_cast<std::uint64_t>(j)) < what.density;
      if (kept) take(j);
    }
  };
  std::vector<std::int64_t> length(static_cast<std::size_t>(what.rows), 0);
#pragma omp parallel for schedule(dynamic, 256)
  for (std::int64_t i = 0; i < what.rows; ++i) {
    if (what.density >= 1) {
      length[static_cast<std::size_t>(i)] = std::max<std::int64_t>(
          0, std::min(what.cols - 1, i + what.upper) - std::max<std::int64_t>(0, i - what.lower) + 1);
    } else {
      each(i, [&](std::int64_t) { ++length[static_cast<std::size_t>(i)]; });
    }
  }
  return build_rows<T>(
      "banded", what.rows, what.cols, [&](std::int64_t i) { return length[static_cast<std::size_t>(i)]; },
      [&](std::int64_t i, std::int32_t* out, std::int64_t) {
        each(i, [&](std::int64_t j) { *out++ = static_cast<std::int32_t>(j); });
      },
      [&](std::int64_t i, std::int64_t j) { return entry_value(what.seed, i, j); });
}

template <class T>
Csr<T> stencil(std::int64_t nx, std::int64_t ny, std::int64_t nz) {
  check_grid("stencil", nx, ny, nz, 1);
  const std::int64_t rows = nx * ny * nz;
  const Grid grid{nx, nx * ny, rows};
  const double diagonal = nz > 1 ? 6 : 4;
  return build_rows<T>(
      "stencil", rows, rows,
      [&](std::int64_t i) {
        std::int64_t n = 0;
        each_neighbour(grid, i, [&n](std::int64_t) { ++n; });
        return n;
      },
      [&](std::int64_t i, std::int32_t* out, std::int64_t) {
        each_neighbour(grid, i, [&](std::int64_t j) { *out++ = static_cast<std::int32_t>(j); });
      },
      [&](std::int64_t i, std::int64_t j) { return i == j ? diagonal : -1.0; });
}

template <class T>
Csr<T> fem(std::int64_t nx, std::int64_t ny, std::int64_t nz, std::int64_t unknowns, std::uint64_t seed) {
  check_grid("fem", nx, ny, nz, unknowns);
  const std::int64_t rows = nx * ny * nz * unknowns;
  const auto span = [](std::int64_t at, std::int64_t n) {
    return std::array<std::int64_t, 2>{std::max<std::int64_t>(0, at - 1), std::min(n - 1, at + 1)};
  };
  return build_rows<T>(
      "fem", rows, rows,
      [&](std::int64_t i) {
        const std::int64_t node = i / unknowns;
        const auto x = span(node % nx, nx), y = span(node / nx % ny, ny), z = span(node / nx / ny, nz);
        return (x[1] - x[0] + 1) * (y[1] - y[0] + 1) * (z[1] - z[0] + 1) * unknowns;
      },
      [&](std::int64_t i, std::int32_t* out, std::int64_t) {
        const std::int64_t node = i / unknowns;
        const auto x = span(node % nx, nx), y = span(node / nx % ny, ny), z = span(node / nx / ny, nz);
        for (std::int64_t c = z[0]; c <= z[1]; ++c) {
          for (std::int64_t b = y[0]; b <= y[1]; ++b) {
            const std::int64_t first = ((c * ny + b) * nx + x[0]) * unknowns;
            const std::int64_t count = (x[1] - x[0] + 1) * unknowns;
            for (std::int64_t k = 0; k < count; ++k) *out++ = static_cast<std::int32_t>(first + k);
          }
        }
      },
      [&](std::int64_t i, std::int64_t j) {
        // 27 * unknowns others below 1 in magnitude: a diagonal of that size dominates them
        return i == j ? 27.0 * static_cast<double>(unknowns)
                      : entry_value(seed, std::min(i, j), std::max(i, j));
      });
}

template <class T>
Csr<T> uniform(std::int64_t rows, std::int64_t cols, std::int64_t per_row, std::uint64_t seed) {
  check_shape("uniform", rows, cols);
  if (per_row < 0 || per_row > cols) {
    throw input_error("uniform", 0, "entries per row must be 0..columns, are", std::to_string(per_row));
  }
  return build_rows<T>(
      "uniform", rows, cols, [per_row](std::int64_t) { return per_row; },
      [&](std::int64_t i, std::int32_t* out, std::int64_t n) {
        spread_columns(seed, static_cast<std::uint64_t>(i), 0, cols, n, out);
      },
      [&](std::int64_t i, std::int64_t j) { return entry_value(seed, i, j); });
}

template <class T>
Csr<T> arrow(std::int64_t n, std::int64_t width, std::uint64_t seed) {
  check_shape("arrow", n, n);
  if (width < 0 || width > n)
    throw input_error("arrow", 0, "the head's width must be 0..n, is", std::to_string(width));
  return build_rows<T>(
      "arrow", n, n, [&](std::int64_t i) { return i < width ? n : width + 1; },
      [&](std::int64_t i, std::int32_t* out, std::int64_t) {
        each_of_arrow(n, width, i, [&](std::int64_t j) { *out++ = static_cast<std::int32_t>(j); });
      },
      [&](std::int64_t i, std::int64_t j) { return entry_value(seed, i, j); });
}

#define PLUMB_INSTANTIATE(T)                                                                     \
  template Csr<T> banded<T>(const Banded&);                                                      \
  template Csr<T> stencil<T>(std::int64_t, std::int64_t, std::int64_t);                          \
  template Csr<T> fem<T>(std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::uint64_t); \
  template Csr<T> uniform<T>(std::int64_t, std::int64_t, std::int64_t, std::uint64_t);           \
  template Csr<T> arrow<T>(std::int64_t, std::int64_t, std::uint64_t);
PLUMB_INSTANTIATE(float)
PLUMB_INSTANTIATE(double)
#undef PLUMB_INSTANTIATE

}  // namespace plumb
