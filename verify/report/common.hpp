// What failures have in common: a count over the parameters of the case ids.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "verify/judge/verdict.hpp"

namespace plumb {

/// Counts, for every variant, which parameters its failing and its passing cases have.
class CommonParameters {
 public:
  void count(const Record&);
  /// A line for every variant with at least two failures and one pass, where a parameter (its value, or a limit: "rows >= 257") is
  /// that of all failures and of at most a quarter of the passes: "10 of 10 failures and 0 of 128 passes of user/x have
  /// pattern=unsorted". The parameter with the fewest passes, values before limits. At most `most` lines.
  [[nodiscard]] std::vector<std::string> lines(std::size_t most = 5) const;

  struct Outcomes {
    std::int64_t failed = 0, passed = 0;
  };

 private:
  struct Variant {
    Outcomes all;
    std::map<std::string, std::map<std::string, Outcomes>> values;  // by parameter, by value
    std::map<std::string, Outcomes> data;                           // by what operands hold: Record::data
  };
  [[nodiscard]] static std::string best(const Variant&, std::int64_t& passes);
  std::map<std::string, Variant> variants_;
};

}  // namespace plumb
