// Which bytes two accesses that race have taken: where one takes others too than the other does, that tells more than that nothing orders them.
#pragma once
#include <cstdint>
#include <optional>

#include "gpu/simt/race/race.hpp"

namespace plumb::simt {

/// Bytes of an array, [begin, end).
struct ByteRange {
  std::int64_t begin = 0, end = 0;
  bool operator==(const ByteRange&) const = default;
  [[nodiscard]] bool holds(const ByteRange& other) const { return begin <= other.begin && other.end <= end; }
};

/// Those of the access under way, of which `target` is the first granule that races.
[[nodiscard]] ByteRange bytes_under_way(const Target& target);

/// Those that a plain access has taken, of which the granule of `target` has the mark `then`. By the size of the accesses at its place in the
/// code and by the granules beside it that have the mark too. Nothing where these leave it open.
[[nodiscard]] std::optional<ByteRange> bytes_of(const Mark& then, const Target& target);

}  // namespace plumb::simt
