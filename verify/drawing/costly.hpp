// Tuples of classes that no case within a limit has, because such a case costs too much. Larger sizes cost no less.
#pragma once
#include <cstdint>
#include <vector>

#include "verify/drawing/cover.hpp"

namespace plumb {

/// Remembers tuples that were searched for, so that larger ones need no search.
class CostlyTuples {
 public:
  /// Finds at drawn points which extents never make a case cheaper by growing: a stride does.
  CostlyTuples(const CaseSpace& space, std::uint64_t seed);
  /// `tuple` was searched for: it has cases, and all that were drawn cost more than the limit.
  void add(const ClassTuple& tuple);
  /// Whether every case of `tuple` costs at least as much as every case of one that was added.
  [[nodiscard]] bool has_below(const ClassTuple& tuple) const;

 private:
  [[nodiscard]] bool no_cheaper(const ClassTuple& tuple, const ClassTuple& known) const;
  const CaseSpace& space_;
  std::vector<bool> ascends_;  // of each parameter
  std::vector<ClassTuple> known_;
};

}  // namespace plumb
