// What a kernel stores of a variable that nothing has set: the bits that the variable was left with, found where they are copied to the
// host (language/unset_variables.hpp).
#include "gpu/simt/language/unset_variables.hpp"

#include <fmt/core.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

/// Bytes of the number at a place that holds what a variable was left with; 0: it holds something else.
struct Unset {
  std::size_t bytes = 0;
  bool of_vector = false;
};
Unset unset_at(const unsigned char* p, std::size_t left) {
  std::uint32_t word;
  std::memcpy(&word, p, sizeof word);
  if (word == kUnsetFloat || word == kUnsetPart) return {sizeof word, word == kUnsetPart};
  std::uint64_t both = 0;
  if (left < sizeof both || reinterpret_cast<std::uintptr_t>(p) % sizeof both != 0) return {};
  std::memcpy(&both, p, sizeof both);
  if (both == kUnsetDouble || both == kUnsetDoublePart) return {sizeof both, both == kUnsetDoublePart};
  return {};
}

bool same_store(const Cell& a, const Cell& b) {
  constexpr std::uint32_t kEpoch = Cell::kEpoch, kWriter = Cell::kWriter;
  return a.write_block == b.write_block && a.write_place == b.write_place &&
         ((a.write_state ^ b.write_state) & kEpoch) == 0 && ((a.who ^ b.who) & kWriter) == 0;
}

// A program may have unmapped what it has named: rows that are mapped far apart for one run.
bool is_mapped(const unsigned char* p) {
  constexpr std::uintptr_t kPageBytes = 4096;
  unsigned char in_memory = 0;
  return mincore(reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(p) / kPageBytes * kPageBytes), 1,
                 &in_memory) == 0;
}

// Whether the same store wrote other numbers beside this one: a vector's component that nobody uses is no mistake.
bool beside_others(Array& array, std::size_t at, std::size_t bytes) {
  const std::size_t first = at - std::min(at, 3 * bytes);
  const std::size_t last = std::min(array.bytes - bytes, at + 3 * bytes);
  for (std::size_t i = first; i <= last; i += bytes) {
    if (unset_at(array.base + i, array.bytes - i).bytes == 0 &&
        same_store(*array.shadow->at(i), *array.shadow->at(at)))
      return true;
  }
  return false;
}

}  // namespace

void look_for_unset(Array& array, std::size_t offset, std::size_t bytes) {
  if (bytes == 0 || !is_mapped(array.base + offset) || !is_mapped(array.base + offset + bytes - 1)) return;
  for (std::size_t i = (offset + 3) / 4 * 4; i + 4 <= offset + bytes; i += 4) {
    const Unset unset = unset_at(array.base + i, offset + bytes - i);
    if (unset.bytes == 0 || (unset.of_vector && beside_others(array, i, unset.bytes))) continue;
    const Mark stored = unpack(*array.shadow->at(i)).write;
    if (stored.block == 0) continue;
    const int launch = launch_of(stored.block);
    if (current().schedule.launches[static_cast<std::size_t>(launch)].host) continue;  // the host's own data
    RawFinding* f =
        note(FindingKind::uninitialised,
             fmt::format("'{}' at byte {} is stored from a variable that nothing has set, or from what was "
                         "computed with one",
                         array.name, i),
             nullptr, stored.location);
    if (f == nullptr) return;
    f->launch = f->other_launch = launch;
    f->finding.thread = thread_of(stored, launch);
    f->finding.array = array.name;
    f->finding.offset = static_cast<std::int64_t>(i);
    f->finding.hint =
        "a float or double that is declared without a value has none: set it before it is read or added to";
    return;
  }
}

}  // namespace plumb::simt
