// What the judge finds out once for all variants of a case. It changes no verdict: what is kept is what would be found again.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "verify/engine/operator/entry.hpp"
#include "verify/judge/compare.hpp"
#include "verify/judge/elements.hpp"

namespace plumb {

/// An output without a miss: another run that left the same bits is compared with the same outcome.
struct KnownAnswer {
  Contents contents;
  std::size_t output = 0;
  Arithmetic arithmetic = Arithmetic::native;
  bool tensor_cores = false;  // as in Tolerance
  Elements bits;
  Comparison comparison;
};

/// Of the case that was asked for last. Not thread-safe.
class KnownCase {
 public:
  struct Operands {
    std::vector<Segment> arrays;     // of the case, wherever they are placed
    std::vector<std::string> words;  // describe_operands()
  };
  [[nodiscard]] const Operands& operands_of(const PreparedCase& prepared);

  /// What is known of `like`, which has no bits, where segment `s` of `image` holds them; null: nothing. Valid until keep().
  [[nodiscard]] const KnownAnswer* find(const KnownAnswer& like, const Segment& s, const std::byte* image);
  void keep(KnownAnswer answer);

 private:
  void begin(const Contents& contents);

  std::uint64_t case_ = 0;
  bool has_operands_ = false;
  Operands operands_;
  std::vector<KnownAnswer> answers_;
  std::int64_t bytes_ = 0;  // of the answers
};

}  // namespace plumb
