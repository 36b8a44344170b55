#include "datasets/generators/lookalikes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "datasets/generators/row_builder.hpp"
#include "reference/core/text.hpp"

namespace plumb {
namespace {

// Longest and shortest rows and the sum they must come to.
struct Lengths {
  std::int64_t shortest, longest, sum;
};

// Row i of a lower triangle holds at most i + 1 entries.
std::int64_t cap(const Lengths& want, bool lower, std::int64_t i) {
  return lower ? std::min(want.longest, i + 1) : want.longest;
}

std::vector<std::int32_t> draw_lengths(const LookalikeProfile& of, const Lengths& want, std::int64_t rows,
                                       const LookalikeOptions& options) {
  const double mean = static_cast<double>(want.sum) / static_cast<double>(rows);
  const double spread = static_cast<double>(want.longest - want.shortest);
  // E[u^k] = 1 / (k + 1)
  const double above = std::max(mean - static_cast<double>(want.shortest), 1e-9);
  const double power = std::max(0.0, spread / above - 1.0);
  std::vector<std::int32_t> length(static_cast<std::size_t>(rows));
  std::int64_t peak = rows - 1, sum = 0;
  double highest = -1;
  for (std::int64_t i = 0; i < rows; ++i) {
    const double u = random_unit(options.seed, 0x6c656e, static_cast<std::uint64_t>(i / of.group));
    const double n = static_cast<double>(want.shortest) + spread * std::pow(u, power);
    const std::int64_t taken =
        std::clamp<std::int64_t>(static_cast<std::int64_t>(n + 0.5), 1, cap(want, options.lower, i));
    length[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(taken);
    sum += taken;
    if (u > highest && cap(want, options.lower, i) == want.longest) {
      highest = u;
      peak = i;
    }
  }
  sum += want.longest - length[static_cast<std::size_t>(peak)];
  length[static_cast<std::size_t>(peak)] = static_cast<std::int32_t>(want.longest);

  // The drawn lengths miss the sum by a little: rows gain or lose one entry each, in an order that is spread over the
  // matrix.
  std::int64_t stride =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(rows) * 0.6180339887));
  while (std::gcd(stride, rows) != 1) ++stride;
  std::int64_t unchanged = 0;
  for (std::int64_t i = 0; sum != want.sum; i = (i + stride) % rows) {
    std::int32_t& n = length[static_cast<std::size_t>(i)];
    if (i != peak && sum < want.sum && n < cap(want, options.lower, i)) {
      ++n, ++sum;
      unchanged = 0;
    } else if (i != peak && sum > want.sum && n > 1) {
      --n, --sum;
      unchanged = 0;
    } else if (++unchanged > rows) {
      throw input_error("lookalike", 0, "no row lengths give this many entries", std::to_string(want.sum));
    }
  }
  return length;
}

}  // namespace

const std::vector<LookalikeProfile>& lookalike_profiles() {
  // name, kind, rows, cols, nnz, longest, symmetric, shortest, run, group, band
  static const std::vector<LookalikeProfile> kProfiles{
      {"boneS10", "trabecular bone, 3 unknowns per node", 914898, 914898, 55468422, 81, true, 12, 9, 3,
       0.015},
      {"Bump_2911", "reservoir mechanics, 3 unknowns per node", 2911419, 2911419, 127729899, 195, true, 6, 6,
       3, 0.01},
      {"Cube_Coup_dt6", "coupled consolidation", 2164760, 2164760, 127206144, 68, true, 20, 12, 4, 0.02},
      {"dielFilterV3real", "edge elements of electromagnetics", 1102824, 1102824, 89306020, 270, true, 9, 3,
       2, 0.5},
      {"Ga41As41H72", "real-space density functional", 268096, 268096, 18488476, 702, true, 18, 5, 8, 0.15},
      {"Hardesty3", "surface fitting, tall", 8217820, 7591564, 40451632, 5, false, 1, 2, 1, 0.001},
      {"largebasis", "optimisation, narrow blocks", 440020, 440020, 5560100, 14, false, 4, 4, 2, 0.001},
      {"RM07R", "compressible flow, 7 unknowns per cell", 381689, 381689, 37464962, 295, false, 7, 7, 7,
       0.02},
      {"TSOPF_RS_b2383", "power flow, dense blocks", 38120, 38120, 16171169, 983, false, 2, 32, 4, 0.5},
      {"vas_stokes_2M", "Stokes flow in a vascular network", 2146677, 2146677, 65129037, 637, false, 1, 3, 1,
       0.1},
      {"mip1", "optimisation, one row nearly full", 66463, 66463, 10352819, 66395, true, 4, 8, 4, 0.5},
      {"webbase-1M", "links of the web", 1000005, 1000005, 3105536, 4700, false, 1, 1, 1, 0.5},
  };
  return kProfiles;
}

const LookalikeProfile& lookalike_profile(const std::string& name) {
  std::vector<std::string> names;
  for (const LookalikeProfile& profile : lookalike_profiles()) {
    if (profile.name == name) return profile;
    names.emplace_back(profile.name);
  }
  throw input_error("lookalike", 0, "no matrix of this name has a look-alike" + did_you_mean(name, names),
                    name);
}

template <class T>
Csr<T> lookalike(const LookalikeProfile& of, const LookalikeOptions& options) {
  if (!(options.scale > 0 && options.scale <= 1)) {
    throw input_error("lookalike", 0, "the scale must be above 0 and at most 1",
                      std::to_string(options.scale));
  }
  if (options.lower && !of.symmetric) {
    throw input_error("lookalike", 0, "only symmetric matrices are stored as a lower triangle", of.name);
  }
  const auto scaled = [&](std::int64_t n) {
    return static_cast<std::int64_t>(std::llround(static_cast<double>(n) * options.scale));
  };
  const std::int64_t rows = scaled(of.rows), cols = scaled(of.cols);
  Lengths want{of.min_row, of.max_row, scaled(of.nnz)};
  if (options.lower) want = {(of.min_row + 1) / 2, (of.max_row + 1) / 2, (scaled(of.nnz) + rows) / 2};
  if (rows < 1 || cols < want.longest || (options.lower && rows < want.longest)) {
    throw input_error("lookalike", 0, std::string("the scale is too small for the longest row of ") + of.name,
                      std::to_string(want.longest) + " entries in " + std::to_string(cols) + " columns");
  }
  const std::vector<std::int32_t> length = draw_lengths(of, want, rows, options);

  const auto half = static_cast<std::int64_t>(of.band * static_cast<double>(cols));
  const bool square = of.rows == of.cols;
  const auto columns = [&](std::int64_t i, std::int32_t* out, std::int64_t n) {
    // The window of columns this row may use, moved inside the matrix rather than cut at its edges.
    const std::int64_t first_of_group = i / of.group * of.group;
    const std::int64_t width =
        std::clamp(options.lower ? half : 2 * half + 1, n, options.lower ? i + 1 : cols);
    const std::int64_t centre = static_cast<std::int64_t>(
        static_cast<double>(first_of_group) * static_cast<double>(cols) / static_cast<double>(rows));
    const std::int64_t low =
        options.lower ? i + 1 - width : std::clamp<std::int64_t>(centre - width / 2, 0, cols - width);
    // Equal parts of the window hold one run of consecutive columns each.
    std::int64_t runs = (n + of.run - 1) / of.run;
    if (width / runs < (n + runs - 1) / runs) runs = 1;
    const std::int64_t part = width / runs;
    for (std::int64_t r = 0; r < runs; ++r) {
      const std::int64_t count = n * (r + 1) / runs - n * r / runs;
      const std::int64_t from = low + r * part;
      const std::int64_t to = r + 1 == runs ? low + width : from + part;  // the last part has the remainder
      std::int64_t start =
          from + static_cast<std::int64_t>(random_below(
                     options.seed, 0x72756e00 + static_cast<std::uint64_t>(i / of.group),
                     static_cast<std::uint64_t>(r), static_cast<std::uint64_t>(to - from - count + 1)));
      if (square && i >= from && i < to && (i < start || i >= start + count)) {
        start = std::clamp(i - count / 2, from, to - count);  // the run over the diagonal covers it
      }
      for (std::int64_t k = 0; k < count; ++k) *out++ = static_cast<std::int32_t>(start + k);
    }
  };
  return build_rows<T>(
      of.name, rows, cols,
      [&](std::int64_t i) { return static_cast<std::int64_t>(length[static_cast<std::size_t>(i)]); }, columns,
      [&](std::int64_t i, std::int64_t j) { return entry_value(options.seed, i, j); });
}

template Csr<float> lookalike<float>(const LookalikeProfile&, const LookalikeOptions&);
template Csr<double> lookalike<double>(const LookalikeProfile&, const LookalikeOptions&);

}  // namespace plumb
