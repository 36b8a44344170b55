// Roofs: what a machine reaches at best, and the least time a case can take under them. Shares are of that time, and a result
// below it is refused.
#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "reference/cases/operator.hpp"
#include "verify/engine/operator/entry.hpp"

namespace plumb {

/// A figure as it is reported: {"gpu", "read", 4.56e12, "B/s"}.
struct Roof {
  std::string device, name;
  double value = 0;
  std::string unit;  // "B/s", "flop/s" or "s"
};

/// A level of memory: bytes it holds in all, bytes per second out of it. The last is memory itself and holds everything.
struct MemoryLevel {
  double capacity = std::numeric_limits<double>::infinity();
  double rate = 0;
};

/// What floor_seconds() needs of one device.
struct RoofSet {
  std::vector<MemoryLevel> levels;  // capacities ascending
  double fp32 = 0, fp64 = 0;        // flop/s, the fastest unit that computes in the type
  double reduced = 0;  // flop/s of tensor units on operands of two bytes, or tf32; 0: there are none
  /// flop/s of products of such operands, summed in this format, by the fastest unit; 0: not known.
  [[nodiscard]] double rate_of(Format operand, Format accumulate) const;
};

/// A result this much below its floor is impossible: what is left for the roofs' own error.
inline constexpr double kRoofAllowance = 1.1;

/// The least time of a run: max(bytes / roof, flop / roof). Warm, what fits a cache may come from there; cold, only outputs (which
/// need not reach memory in time) may. `output_bytes` is the part of cost.bytes that is written. 0 where a roof is not known.
[[nodiscard]] double floor_seconds(const RoofSet&, Dtype, Arithmetic, const Cost&, double output_bytes,
                                   bool cold);

/// Measures the roofs of a device; two to five seconds, on the host at most `most` for each measurement of one. Throws Error for a
/// device that is not there.
[[nodiscard]] std::vector<Roof> measure_roofs(Device, double most = 1);
/// Bytes of the second-level cache: a GPU's, or those of all host threads together. Throws Error for a device that is not there.
[[nodiscard]] double second_level_bytes(Device);
/// Reads them back from the list. Levels and rates that are not listed are left out.
[[nodiscard]] RoofSet roof_set(const std::vector<Roof>&, Device);
/// The better of two measurements of the same roofs: noise only ever lowers a roof.
[[nodiscard]] std::vector<Roof> better_of(std::vector<Roof> a, const std::vector<Roof>& b);

}  // namespace plumb
