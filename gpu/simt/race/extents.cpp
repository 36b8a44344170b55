#include "gpu/simt/race/extents.hpp"

#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

// The cells around the granule of a target.
class Around {
 public:
  explicit Around(const Target& target) : at_(address_of(target)) {
    if (target.home != nullptr) {
      shadow_ = target.home->shadow.get();
      offset_ = at_ - target.home->arena;
    } else if (const Array* const a = array_of(at_); a != nullptr) {
      shadow_ = a->shadow.get();
      offset_ = at_ - a->base;
    }
  }
  [[nodiscard]] bool known() const { return shadow_ != nullptr; }
  [[nodiscard]] std::int64_t granule() const { return static_cast<std::int64_t>(shadow_->granule()); }
  // Whether the granules of all bytes [begin, end), counted from the target, have the mark.
  [[nodiscard]] bool all_have(const Mark& mark, std::int64_t begin, std::int64_t end) const {
    if (offset_ + begin < 0 || offset_ + end > static_cast<std::int64_t>(shadow_->bytes())) return false;
    for (std::int64_t i = begin; i < end; i += granule()) {
      const Cell& cell = *shadow_->at(static_cast<std::size_t>(offset_ + i));
      if (cell.many_warps() || !same(mark, mark.writes != 0 ? write_of(cell) : other_of(cell))) return false;
    }
    return true;
  }
  [[nodiscard]] bool is_aligned(std::int64_t begin, std::int64_t bytes) const {
    return (reinterpret_cast<std::uintptr_t>(at_ + begin) & static_cast<std::uintptr_t>(bytes - 1)) == 0;
  }

 private:
  static const unsigned char* address_of(const Target& target) {
    return static_cast<const unsigned char*>(current().race.access_at) + target.into;
  }
  static bool same(const Mark& a, const Mark& b) {
    return a.block == b.block && a.epoch == b.epoch && a.warp == b.warp && (a.lanes & ~b.lanes) == 0 &&
           a.location == b.location;
  }
  const unsigned char* at_;
  Shadow* shadow_ = nullptr;
  std::int64_t offset_ = 0;
};

}  // namespace

ByteRange bytes_under_way(const Target& target) {
  const std::int64_t begin = target.offset - target.into;
  return {begin, begin + static_cast<std::int64_t>(current().race.access_bytes)};
}

std::optional<ByteRange> bytes_of(const Mark& then, const Target& target) {
  const Around around(target);
  const std::int64_t bytes = current().race.tables.bytes_at(then.location);
  if (bytes == 0 || !around.known()) return std::nullopt;
  // What of it lies before the target lies before all of the access under way: the target is the first granule of it that races.
  const std::int64_t least = target.into == 0 ? around.granule() - bytes : 0;
  const bool is_power = (bytes & (bytes - 1)) == 0;
  std::optional<ByteRange> found;
  for (std::int64_t begin = 0; begin >= least; begin -= around.granule()) {
    if (!around.all_have(then, begin, begin + bytes)) continue;
    const ByteRange range{target.offset + begin, target.offset + begin + bytes};
    if (is_power && around.is_aligned(begin, bytes)) return range;  // nearly all are
    if (found) return std::nullopt;                                 // one thread's, side by side
    found = range;
  }
  return found;
}

}  // namespace plumb::simt
