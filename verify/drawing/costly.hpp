// Tuples of classes that no case within a limit has, because such a case costs too much. Larger sizes cost no less.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "verify/drawing/cover.hpp"

namespace plumb {

/// Remembers tuples that were searched for, so that larger ones need no search.
class CostlyTuples {
 public:
  /// Finds, at drawn points, which extents never make a case cheaper when they grow. A stride makes it cheaper.
  CostlyTuples(const CaseSpace& space, std::uint64_t seed);
  /// `tuple` was searched for: it has cases, and all that were drawn cost more than the limit.
  void add(const ClassTuple& tuple);
  /// Whether every case of `tuple` costs at least as much as every case of one that was added.
  [[nodiscard]] bool has_below(const ClassTuple& tuple) const;

 private:
  [[nodiscard]] bool no_cheaper(const ClassTuple& tuple, const ClassTuple& known) const;
  // The least and the greatest value of each class, of each parameter; of those that make a case cheaper none.
  std::vector<std::vector<std::pair<double, double>>> ends_;
  std::vector<ClassTuple> known_;
};

}  // namespace plumb
