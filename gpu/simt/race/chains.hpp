// Groups of plain readers of words of global memory, those before a word's latest: as chains that many words share.
//
// Why chains: what a block loads together has been read by the same blocks before, in the same order. A list for each word costs 24 bytes for
// each of its readers; a chain costs a node for all words that a block loads in one generation, behind the same readers.
// What is lost: which thread of the block it was, or, of some words, which of the warp's lanes. Such a reader is known to whoever knows one of
// those that it may be, so that no order is missed. A write that knows some thread of the block, and not the one that read, may pass: beside
// words whose chains know warps it does not.
#pragma once
#include <cstdint>
#include <vector>

#include "gpu/simt/race/race.hpp"

namespace plumb::simt {

class ReaderChains {
 public:
  /// The number of the chain that ends in `reader` behind chain `before` (0: none). 0: that one is as long as one may be.
  /// `of_warps`: the chain tells the warps of a block apart.
  std::uint32_t behind(std::uint32_t before, const Mark& reader, bool of_warps);
  /// Adds the lanes of a plain read to the reader of its block, warp and epoch in the chain. False: there is none.
  bool join(std::uint32_t chain, const Mark& reader);
  /// The highest number of a block in the chain; 0: it was forgotten.
  [[nodiscard]] std::uint32_t newest_block(std::uint32_t chain) const {
    return is_kept(chain) ? node(chain).newest_block : 0;
  }
  /// Calls f with each reader, latest first, as long as it returns true.
  template <class F>
  void for_each(std::uint32_t chain, F&& f) const {
    for (; is_kept(chain); chain = node(chain).before)
      if (!f(node(chain).reader)) return;
  }
  [[nodiscard]] bool is_full(std::uint32_t chain) const {
    return is_kept(chain) && node(chain).length >= kLongest;
  }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  /// All there are: their numbers stay taken, and stand for no readers.
  void forget();

 private:
  static constexpr std::uint8_t kLongest = 32;
  struct Node {
    Mark reader;
    std::uint64_t warps = 0;  // a bit for each warp that may be in the chain
    std::uint32_t before = 0, newest_block = 0;
    std::uint8_t length = 1;
  };
  [[nodiscard]] bool is_kept(std::uint32_t chain) const { return chain > forgotten_; }
  [[nodiscard]] const Node& node(std::uint32_t chain) const { return nodes_[chain - forgotten_ - 1]; }
  Node& node(std::uint32_t chain) { return nodes_[chain - forgotten_ - 1]; }
  [[nodiscard]] std::uint32_t last() const { return forgotten_ + static_cast<std::uint32_t>(nodes_.size()); }
  void grow();
  [[nodiscard]] std::size_t place_of(std::uint32_t before, const Mark& reader) const;

  std::uint32_t forgotten_ = 0;       // chains up to this number
  std::vector<Node> nodes_;           // of the others, by number
  std::vector<std::uint32_t> table_;  // numbers by what their nodes hold, 0: none; a power of two long
};

}  // namespace plumb::simt
