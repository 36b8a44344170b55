// The accesses that are nearly all: plain, of whole granules, by a thread to its own block's shared memory or to an array. Looked
// at in place, where instrumented code calls.
#pragma once
#include "gpu/simt/race/touch.hpp"

namespace plumb::simt {

/// Whether an access of the block's shared memory lies in what it asked for.
inline bool in_a_piece(const Block& b, std::size_t offset, std::size_t bytes) {
  const std::uint16_t piece = b.piece_of[offset / 4];
  return piece != 0 && offset + bytes <= b.pieces[piece - 1u].end;
}

inline bool on_own_stack(const Thread& t, const void* p) {
  return static_cast<std::size_t>(static_cast<const unsigned char*>(p) - t.stack_low) < kStackBytes;
}

/// A plain access, beside the thread's stack, with which nothing can be wrong: leaves its marks. False: it is for access(), which leaves those once more that were
/// left here. One function of plain numbers: a structure between its steps would go through memory, at several times the cost.
template <std::size_t kBytes, bool kWrites>
[[gnu::always_inline]] inline bool access_quickly(Thread& t, unsigned char* at, Location location) {
  if constexpr (kWrites) {
    resolve_pending();
  } else {
    resolve_before_read(location);
  }
  const Block& b = *t.block;
  auto offset = static_cast<std::size_t>(at - b.arena);
  const bool shared = offset < kArenaBytes;
  if (!kWrites && is_argument(at)) return true;  // what each thread of a launch reads first
  const Array* const a = shared ? nullptr : array_of(at);
  if (!shared) {
    if (a == nullptr) return false;
    offset = static_cast<std::size_t>(at - a->base);
    if (offset + kBytes > a->bytes || a->needs_a_look(current().race.known_below)) return false;
    if (!a->writable) {  // nothing can be wrong with reading an input
      if (kWrites || !a->initialised) return false;
      ++current().run.counters.accesses;
      return true;
    }
  }
  Shadow* const shadow = (shared ? b.shadow : a->shadow).get();
  if (shadow == nullptr || !shadow->whole(offset, kBytes)) return false;
  Cell* c = shadow->at(offset);
  Cell* const end = shadow->at(offset + kBytes);
  const bool written =
      c + 1 == end && c->initialised();  // in this running of the block, so that it lies in a piece
  if (shared && !written && !in_a_piece(b, offset, kBytes)) return false;
  const bool check_initialised = !kWrites && (shared || !a->initialised);
  const Stamp stamp = stamp_of(t, location, kWrites, kBytes);
  for (; c != end; ++c) {
    if (!touch_fast(t, *c, stamp, shared, check_initialised)) return false;
  }
  ++current().run.counters.accesses;
  if (!kWrites) note_read(t, at, kBytes, location);
  return true;
}

}  // namespace plumb::simt
