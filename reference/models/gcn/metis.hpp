// METIS, where it is built in. One file calls it, and another takes that file's place where there is none.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace plumb {

/// "5.1.0"; "" where it is not built in.
[[nodiscard]] std::string metis_version();

/// The part, from 0, of each vertex of a graph without loops in which every edge stands at both of its ends. Parts have about equal sums of
/// `weights`; the same graph has the same parts in every run.
///
/// Shapes    begin (n + 1), neighbours (begin[n]), weights (n), as a CSR's row pointers and columns; parts >= 2.
/// Errors    throws Error where METIS is not built in, or says that it failed.
[[nodiscard]] std::vector<std::int32_t> metis_parts(std::vector<std::int32_t> begin,
                                                    std::vector<std::int32_t> neighbours,
                                                    std::vector<std::int32_t> weights, int parts);

}  // namespace plumb
