// A big-endian Patricia tree by the numbers of blocks (Okasaki and Gill, Fast Mergeable Integer Maps, 1998).
#include "gpu/simt/race/known.hpp"

#include <algorithm>

namespace plumb::simt {

/// A block, or two branches that differ first in one bit of their blocks' numbers.
struct KnownBlocks::Node {
  std::uint32_t prefix = 0;  // the block's number, or the bits above `bit`, which are those of all below
  std::uint32_t bit = 0;     // 0: a block
  NodePtr zero, one;         // the branches
  Known known;               // of the block
};

namespace {

bool is_below(std::uint32_t prefix, const auto& branch) {
  return (prefix & ~(2 * branch.bit - 1)) == branch.prefix;
}

// Whether `b` says nothing beyond `a`, of the same block.
bool includes(const Known& a, const Known& b) {
  if (a.generation != b.generation) return a.generation > b.generation;
  auto i = a.threads.begin();
  return std::all_of(b.threads.begin(), b.threads.end(), [&](const auto& thread) {
    while (i != a.threads.end() && i->first < thread.first) ++i;
    return i != a.threads.end() && i->first == thread.first && i->second >= thread.second;
  });
}

// Of two of one block and generation.
Known merge(const Known& a, const Known& b) {
  Known out{a.block, a.generation, {}};
  out.threads.reserve(a.threads.size() + b.threads.size());
  auto i = a.threads.begin();
  auto j = b.threads.begin();
  while (i != a.threads.end() || j != b.threads.end()) {
    if (j == b.threads.end() || (i != a.threads.end() && i->first < j->first)) {
      out.threads.push_back(*i++);
    } else if (i == a.threads.end() || j->first < i->first) {
      out.threads.push_back(*j++);
    } else {
      out.threads.emplace_back(i->first, std::max(i->second, j->second));
      ++i;
      ++j;
    }
  }
  return out;
}

}  // namespace

KnownBlocks::KnownBlocks(Known known) {
  const std::uint32_t block = known.block;
  root_ = std::make_shared<const Node>(Node{block, 0, nullptr, nullptr, std::move(known)});
}

const Known* KnownBlocks::find(std::uint32_t block) const {
  const Node* n = root_.get();
  while (n != nullptr && n->bit != 0) n = ((block & n->bit) != 0 ? n->one : n->zero).get();
  return n != nullptr && n->prefix == block ? &n->known : nullptr;
}

KnownBlocks::NodePtr KnownBlocks::unite_leaves(const NodePtr& a, const NodePtr& b) {
  if (includes(a->known, b->known)) return a;
  if (includes(b->known, a->known)) return b;
  return std::make_shared<const Node>(Node{a->prefix, 0, nullptr, nullptr, merge(a->known, b->known)});
}

KnownBlocks::NodePtr KnownBlocks::with_children(const NodePtr& branch, NodePtr zero, NodePtr one) {
  if (zero == branch->zero && one == branch->one) return branch;
  return std::make_shared<const Node>(Node{branch->prefix, branch->bit, std::move(zero), std::move(one), {}});
}

// Of a branch, and of a node whose blocks all belong below one side of it.
KnownBlocks::NodePtr KnownBlocks::unite_below(const NodePtr& branch, const NodePtr& other) {
  if ((other->prefix & branch->bit) != 0)
    return with_children(branch, branch->zero, unite(branch->one, other));
  return with_children(branch, unite(branch->zero, other), branch->one);
}

KnownBlocks::NodePtr KnownBlocks::unite(const NodePtr& a, const NodePtr& b) {
  if (a == nullptr || a == b) return b;
  if (b == nullptr) return a;
  if (a->bit == b->bit && a->prefix == b->prefix) {
    if (a->bit == 0) return unite_leaves(a, b);
    NodePtr zero = unite(a->zero, b->zero), one = unite(a->one, b->one);
    const bool is_b = zero == b->zero && one == b->one && (zero != a->zero || one != a->one);
    return with_children(is_b ? b : a, std::move(zero), std::move(one));
  }
  if (a->bit > b->bit && is_below(b->prefix, *a)) return unite_below(a, b);
  if (b->bit > a->bit && is_below(a->prefix, *b)) return unite_below(b, a);
  const std::uint32_t bit = 1u << (31 - __builtin_clz(a->prefix ^ b->prefix));
  const bool a_is_one = (a->prefix & bit) != 0;
  return std::make_shared<const Node>(
      Node{a->prefix & ~(2 * bit - 1), bit, a_is_one ? b : a, a_is_one ? a : b, {}});
}

KnownBlocks join(const KnownBlocks& a, const KnownBlocks& b) {
  return KnownBlocks(KnownBlocks::unite(a.root_, b.root_));
}

}  // namespace plumb::simt
