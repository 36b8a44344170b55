// The GCN within bounded device memory: which parts of the operands are there at a time. Found from shapes and row pointers alone.
//
// Each layer is A S with an operand S of all vertices: X W or H W, or X or H itself. S is made from pieces of rows that come from the host, and
// stays on the device while pieces of A are multiplied by it. Where all of its columns do not fit, blocks of its columns follow each other, and
// the host's rows and A come once for each. Rows of a layer go back to the host, unless the next operand is made of them at once.
#pragma once
#include <array>
#include <vector>

#include "gpu/models/gcn/column_scales.hpp"
#include "gpu/models/gcn/rows.hpp"
#include "reference/models/gcn/gcn.hpp"
#include "reference/parallel/ranks.hpp"

namespace plumb {
namespace gcn {

struct StreamPlan {
  Cuts cuts;             // piece p has rows [cuts[p], cuts[p + 1])
  bool holds_a = false;  // all pieces of A stay on the device; else two at a time
  std::vector<GcnStreamedLayer> layers;
  std::vector<int>
      place;         // of each layer's operand: one of two arrays; a direct layer's is not the one before's
  Index widest = 0;  // columns of a block, the most
  Index part_length = 0;  // entries of a long row for a warp

  // Bytes of device memory, at most: of the two operands, of pieces of rows from the host, of A, of rows computed (two of each), of partial sums.
  std::array<Index, 2> operands = {};
  Index inputs = 0, a = 0, out = 0, answer = 0, partial = 0, arrived = 0;
  Index fixed = 0;    // weights, biases, scales
  Index traffic = 0;  // bytes between host and device in one inference, at most

  [[nodiscard]] Index pieces() const { return static_cast<Index>(cuts.size()) - 1; }
  [[nodiscard]] Index rows(Index p) const {
    return cuts[static_cast<std::size_t>(p) + 1] - cuts[static_cast<std::size_t>(p)];
  }
  [[nodiscard]] Index bytes() const {
    return operands[0] + operands[1] + inputs + a + out + answer + partial + arrived + fixed;
  }
};

/// The plan with the least traffic that takes at most `memory` bytes. A layer is (A X) W only where that is asked for, its X is dense, and
/// all columns of X and W fit; else A (X W). `columns`: net's. Errors: `memory` is too little; the message says how much is needed.
template <class T>
[[nodiscard]] StreamPlan plan_stream(const Gcn<T>& net, const ColumnScales<T>& columns, GcnOrder order,
                                     Index memory);

}  // namespace gcn
}  // namespace plumb
