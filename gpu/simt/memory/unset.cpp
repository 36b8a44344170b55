// What a kernel stores of a variable that nothing has set: the bits that the variable was left with, found where they are copied to the
// host (language/unset_variables.hpp).
#include "gpu/simt/language/unset_variables.hpp"

#include <fmt/core.h>

#include <cstring>

#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

bool is_unset(const unsigned char* p, std::size_t left) {
  std::uint32_t word;
  std::memcpy(&word, p, sizeof word);
  if (word == kUnsetFloat) return true;
  std::uint64_t both = 0;
  if (left < sizeof both || reinterpret_cast<std::uintptr_t>(p) % sizeof both != 0) return false;
  std::memcpy(&both, p, sizeof both);
  return both == kUnsetDouble;
}

}  // namespace

void look_for_unset(Array& array, std::size_t offset, std::size_t bytes) {
  for (std::size_t i = (offset + 3) / 4 * 4; i + 4 <= offset + bytes; i += 4) {
    if (!is_unset(array.base + i, offset + bytes - i)) continue;
    const Mark stored = unpack(*array.shadow->at(i)).write;
    if (stored.block == 0) continue;
    const int launch = launch_of(stored.block);
    if (current().schedule.launches[static_cast<std::size_t>(launch)].host) continue;  // the host's own data
    RawFinding* f =
        note(FindingKind::uninitialised,
             fmt::format("'{}' at byte {} is stored from a variable that nothing has set, or from "
                         "what was computed with one",
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
