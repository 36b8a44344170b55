// The first read of a loop around atomicCAS is plain in most CUDA code. It races with other threads' updates, and does no harm where
// its value goes into the compare-and-exchange alone, which checks it. Where values go cannot be seen from accesses; what can be
// seen is whether each such read was followed by a compare-and-exchange, by that thread, of that element, with that value.
#include <cstring>

#include "gpu/simt/state.hpp"

namespace plumb::simt {

void count_read(PastRead& read) {
  const auto it = current().race.attempts.find(read.location);
  if (it == current().race.attempts.end()) return;
  ++it->second.reads;
  read.counted = true;
}

void note_attempt(Thread& t, const void* p, std::size_t bytes, const void* expected) {
  for (PastRead& r : t.past_reads) {
    const auto offset = static_cast<std::size_t>(r.at - static_cast<const unsigned char*>(p));
    if (r.at == nullptr || offset >= bytes || offset + r.bytes > bytes)
      continue;  // a pair of halves is read one by one
    if (std::memcmp(static_cast<const unsigned char*>(expected) + offset, &r.value, r.bytes) != 0) continue;
    RaceState& race = current().race;
    race.tried_somewhere.set(r.location % race.tried_somewhere.size());
    Attempts& place = race.attempts[r.location];
    if (r.counted) ++place.tried;
    r = PastRead{};
  }
}

bool only_tried(Location read) {
  const auto it = current().race.attempts.find(read);
  return it != current().race.attempts.end() && it->second.reads == it->second.tried;
}

}  // namespace plumb::simt
