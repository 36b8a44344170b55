#include "gpu/simt/race/chains.hpp"

#include <algorithm>

#include "gpu/simt/race/lists.hpp"

namespace plumb::simt {

namespace {

std::uint64_t mix(std::uint64_t h) {
  h ^= h >> 31;
  h *= 0x9e3779b97f4a7c15u;
  return h ^ h >> 29;
}

std::uint64_t hash_of(std::uint32_t before, const Mark& m) {
  const std::uint64_t where = std::uint64_t{before} << 32 | m.block;
  return mix(mix(where) + m.epoch * 64 + m.warp + std::uint64_t{m.location} * 0x2545f4914f6cdd1du);
}

bool is_same_group(const Mark& a, const Mark& b) {
  return a.block == b.block && a.epoch == b.epoch && a.warp == b.warp && a.location == b.location &&
         a.any_warp == b.any_warp;
}

// A block's readers of one generation are one.
Mark coarsened(Mark m) {
  m.any_warp = 1;
  m.warp = 0;
  m.lanes = 1;
  m.epoch = m.epoch >> 32 << 32;
  return m;
}

bool stands_for(const Mark& m, const Mark& reader) {
  if (m.block != reader.block) return false;
  return m.any_warp != 0 ? m.epoch >> 32 == reader.epoch >> 32
                         : m.epoch == reader.epoch && m.warp == reader.warp;
}

}  // namespace

std::size_t ReaderChains::place_of(std::uint32_t before, const Mark& reader) const {
  const std::size_t mask = table_.size() - 1;
  std::size_t at = hash_of(before, reader) & mask;
  while (table_[at] != 0) {
    const Node& n = node(table_[at]);
    if (n.before == before && is_same_group(n.reader, reader)) break;
    at = (at + 1) & mask;
  }
  return at;
}

void ReaderChains::grow() {
  constexpr std::size_t kFirst = 1024;
  table_.assign(std::max(kFirst, 2 * table_.size()), 0);
  for (std::uint32_t n = forgotten_ + 1; n <= last(); ++n)
    table_[place_of(node(n).before, node(n).reader)] = n;
}

std::uint32_t ReaderChains::behind(std::uint32_t before, const Mark& reader, bool of_warps) {
  constexpr std::uint32_t kMostNumbers = 0x7fffffffu;
  if (!is_kept(before)) before = 0;
  const std::uint8_t length = before != 0 ? node(before).length : 0;
  if (length >= kLongest || last() == kMostNumbers) return 0;
  if (!of_warps && length > 0 && stands_for(node(before).reader, reader)) return before;
  if (2 * nodes_.size() >= table_.size()) grow();
  Mark m = of_warps ? reader : coarsened(reader);
  m.any_lane = 1;
  std::uint32_t& found = table_[place_of(before, m)];
  if (found != 0) {
    node(found).reader.lanes |= m.lanes;
    return found;
  }
  Node n;
  n.reader = m;
  n.before = before;
  n.newest_block = before != 0 ? std::max(m.block, node(before).newest_block) : m.block;
  n.warps = (before != 0 ? node(before).warps : 0) | warp_bit(reader);
  n.length = static_cast<std::uint8_t>(length + 1);
  nodes_.push_back(n);
  return found = last();
}

bool ReaderChains::join(std::uint32_t chain, const Mark& reader) {
  if (!is_kept(chain) || (node(chain).warps & warp_bit(reader)) == 0) return false;
  for (std::uint32_t n = chain; n != 0; n = node(n).before) {
    Mark& m = node(n).reader;
    if (!stands_for(m, reader)) continue;
    if (m.any_warp == 0) m.lanes |= reader.lanes;
    return true;
  }
  return false;
}

void ReaderChains::forget() {
  forgotten_ = last();
  nodes_.clear();
  table_.clear();
}

}  // namespace plumb::simt
