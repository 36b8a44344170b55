// Fills operands. Shared by every operator's make(), so that "exact" or "hostile" means the same everywhere.
#pragma once
#include <cstdint>

#include "reference/core/case_id.hpp"

namespace plumb {

/// Which side of a product an operand stands on: fills treat the two sides differently (wide, index, scaled, hostile).
enum class Role : std::uint8_t { left, right, addend };

/// Fills `data` (rows, cols), ld == cols, with f(fill, role, seed, stream, element). `stream` tells operands of one case apart.
///   exact     integers in [-8, 8], so that sums of up to 262,144 products are exact in fp32
///   wide      left: odd integers of 13 bits; right and addend: -1, 0, 1
///   index     left: one 1 per row, else 0; right: 1 + position code, below 2^23; addend: 0
///   real      uniform (-1, 1);  positive  uniform (0, 1)
///   scaled    real times 2^e, e in [-12, 12] drawn per row (left, addend) or per column (right)
///   hostile   real, with NaN, +Inf, -Inf, -0, subnormals and tiny values in single places, and one row of infinities;
///             huge values on the left side only, so that no product of finite operands overflows
template <class T>
void fill_values(T* data, std::int64_t rows, std::int64_t cols, Fill fill, Role role, std::uint64_t seed,
                 std::uint64_t stream);

}  // namespace plumb
