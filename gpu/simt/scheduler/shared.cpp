// Shared memory of a block: pieces with gaps between them, which a write past a piece is seen by.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "gpu/simt/state.hpp"
#include "reference/core/error.hpp"

namespace plumb::simt {

namespace {

// Each copy doubles what there is: blocks are many, and their shared memory is large.
void fill_with_poison(unsigned char* data, std::size_t bytes) {
  std::size_t filled = std::min(bytes, sizeof current().run.options.poison);
  std::memcpy(data, &current().run.options.poison, filled);
  for (; filled < bytes; filled += std::min(filled, bytes - filled))
    std::memcpy(data + filled, data, std::min(filled, bytes - filled));
}

}  // namespace

unsigned char* place_piece(Block& b, const char* name, const void* slot, std::size_t bytes,
                           std::size_t alignment) {
  alignment = std::max<std::size_t>(alignment, 16);
  const std::size_t begin = (b.arena_used + alignment - 1) / alignment * alignment;
  const std::size_t end = begin + bytes;
  if (slot != &b) b.static_shared += bytes;
  if (b.static_shared > current().schedule.shape.static_shared) {
    // A device knows a kernel's static shared memory before it runs; the executor learns it here.
    current().schedule.shape.static_shared = b.static_shared;
    if (refuse_launch()) stop();
  }
  if (end + kGap > kArenaBytes) {
    run_short("gaps between the pieces of a block's shared memory");
    if (current().schedule.thread != nullptr) stop();
    return b.arena;
  }
  b.pieces.push_back({name, slot, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
  const auto id = static_cast<std::uint16_t>(b.pieces.size());
  std::fill(b.piece_of.begin() + static_cast<std::ptrdiff_t>(begin / 4),
            b.piece_of.begin() + static_cast<std::ptrdiff_t>((end + 3) / 4), id);
  std::memset(b.arena + b.arena_used, kGapByte, begin - b.arena_used);
  unsigned char* data = b.arena + begin;
  fill_with_poison(data, bytes);
  std::memset(data + bytes, kGapByte, kGap);
  b.arena_used = static_cast<std::uint32_t>((end + kGap + 15) / 16 * 16);
  return data;
}

// Without Options::check a write past a piece of shared memory shows only here.
void check_gaps(Block& b) {
  for (const SharedPiece& piece : b.pieces) {
    for (std::uint32_t i = 0; i < kGap; ++i) {
      if (b.arena[piece.end + i] == kGapByte) continue;
      RawFinding* f =
          note(FindingKind::out_of_bounds,
               fmt::format("block {} wrote past the end of shared '{}' ({} bytes), at byte {}", show(b.index),
                           piece.name, piece.end - piece.begin, piece.end - piece.begin + i),
               nullptr, 0);
      if (f != nullptr) {
        f->finding.thread.block = b.index;
        f->finding.array = piece.name;
        f->finding.offset = piece.end - piece.begin + i;
        if (!checking()) f->finding.hint = "with every access checked (--race) its line is named";
      }
      return;
    }
  }
}

void* SharedSlot::address(std::size_t bytes, std::size_t alignment) {
  Thread* t = current().schedule.thread;
  if (t == nullptr) throw input_error("gpu/simt", 0, "shared memory used outside of a kernel", name_);
  Block& b = *t->block;
  if (block_ == b.serial) return address_;
  block_ = b.serial;
  for (const SharedPiece& piece : b.pieces) {
    if (piece.slot == this) return address_ = b.arena + piece.begin;
  }
  // Blocks of a cluster have one layout: an address of one is mapped to another.
  for (Block* peer : blocks_beside(b)) {
    if (peer != &b) place_piece(*peer, name_, this, bytes, alignment);
  }
  return address_ = place_piece(b, name_, this, bytes, alignment);
}

void* dynamic_shared() {
  static unsigned char nothing[16];
  if (current().schedule.thread == nullptr)
    throw input_error("gpu/simt", 0, "dynamic shared memory used outside of a kernel");
  Block& b = *current().schedule.thread->block;
  // With no dynamic shared memory asked for, the first byte already lies outside.
  return b.dynamic != nullptr ? b.dynamic : checking() ? b.arena : nothing;
}

bool is_shared(const void* p) {
  if (current().schedule.thread == nullptr) return false;
  const Block& b = *current().schedule.thread->block;
  return static_cast<std::size_t>(static_cast<const unsigned char*>(p) - b.arena) < kArenaBytes;
}

}  // namespace plumb::simt
