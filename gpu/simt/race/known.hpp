// What is known of other blocks' threads: a set of blocks that never changes, of which others are made.
//
// Why a tree: each acquire, release and fence of a thread makes a new clock of an old one, and an old clock may name every block of the
// launch. Two clocks share the branches in which they are alike. So a clock with one more thread costs as many new nodes as the tree is
// deep, and joining two of which one was made of the other costs what was added since.
#pragma once
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace plumb::simt {

/// What is known of the threads of a block.
struct Known {
  std::uint32_t block = 0;
  std::uint32_t generation = 0;                                  // all of its earlier generations are known
  std::vector<std::pair<std::uint16_t, std::uint32_t>> threads;  // and of this one: (thread, step), by thread
};

class KnownBlocks {
 public:
  KnownBlocks() = default;
  /// Of one block.
  explicit KnownBlocks(Known known);
  /// What is known of the block; null: nothing.
  [[nodiscard]] const Known* find(std::uint32_t block) const;
  /// What one of the two knows. It is `a` itself where that knows all of it, else `b` where that does.
  friend KnownBlocks join(const KnownBlocks& a, const KnownBlocks& b);
  /// Whether the two are one, not only alike.
  bool operator==(const KnownBlocks&) const = default;

 private:
  struct Node;
  using NodePtr = std::shared_ptr<const Node>;
  explicit KnownBlocks(NodePtr root) : root_(std::move(root)) {}
  static NodePtr unite(const NodePtr& a, const NodePtr& b);
  static NodePtr unite_leaves(const NodePtr& a, const NodePtr& b);
  static NodePtr unite_below(const NodePtr& branch, const NodePtr& other);
  static NodePtr with_children(const NodePtr& branch, NodePtr zero, NodePtr one);

  NodePtr root_;  // null: none
};

}  // namespace plumb::simt
