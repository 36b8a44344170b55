// The failures of a run by variant: the smallest, and what all of one variant have in common.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reference/cases/case_id.hpp"
#include "verify/judge/verdict.hpp"

namespace plumb {

/// Counts which parameters the failing and the passing cases of one variant have.
class CommonParameters {
 public:
  void count(const Record&, const Case&);
  /// What all failures have in common, a phrase each: "fill=real", "rows >= 257". A value that all cases have is none. Last, the
  /// parameter, its limit or a property of the data that fewest passes have, where at most a quarter of them do: "rows >= 257 (as 3
  /// of 128 that pass)".
  [[nodiscard]] std::vector<std::string> shared() const;
  /// The values that occur in failures, where others do not: "rows 3 to 512"; type and fill always: "3 of 6 values of type".
  [[nodiscard]] std::vector<std::string> range() const;

  struct Outcomes {
    std::int64_t failed = 0, passed = 0;
  };
  using Values = std::map<std::string, Outcomes>;

 private:
  [[nodiscard]] std::string telling(std::int64_t& passes) const;

  Outcomes all_;
  std::map<std::string, Values> values_;  // by parameter, by value
  Values data_;                           // by what operands hold: Record::data
};

/// The failures of one variant of one operator.
struct FailedVariant {
  std::string op, variant;
  std::int64_t failed = 0, passed = 0;
  std::map<Verdict, std::int64_t> verdicts;  // of the failures
  CommonParameters common;
  std::multimap<double, Record> records;  // by the size of the case; of very many, the smallest
  /// "2209 of 2689 cases of user/mine (spmv) fail".
  [[nodiscard]] std::string headline() const;
  /// What all failures have in common, a line each.
  [[nodiscard]] std::vector<std::string> lines() const;
  /// At most `most` failures that tell something new, smallest first: one of each verdict, then other cases for other reasons.
  [[nodiscard]] std::vector<const Record*> smallest(std::size_t most) const;
};

class Failures {
 public:
  void count(const Record&);
  /// Those with a failure, in the order of their first records.
  [[nodiscard]] std::vector<const FailedVariant*> variants() const;

 private:
  std::map<std::string, std::size_t> at_;  // by operator and variant
  std::vector<FailedVariant> variants_;
};

}  // namespace plumb
