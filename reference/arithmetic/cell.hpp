// An output in a narrow format stands for a cell: all numbers that round to it. The kernel's sum, before its last rounding, was one of them,
// so what the kernel erred by is the distance of the exact value from the cell. docs/bounds.md: "Narrow outputs".
#pragma once
#include "reference/core/format.hpp"

namespace plumb {

/// How far the exact finite `value` is from the numbers that round to `got`, nearest even, both ends of the cell included: 0 where it is one
/// of them. `got` is a number of `format`. An infinity, and NaN in a format without infinities, stand for what is beyond the largest
/// number; another NaN is infinitely far.
[[nodiscard]] double distance_from_cell(Format format, double got, double value);

}  // namespace plumb
