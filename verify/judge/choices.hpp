// Where an oracle leaves a choice, such as between equal elements (Candidates): the answer that a variant must be equal to, given what it chose.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reference/cases/operator.hpp"
#include "verify/image/image.hpp"
#include "verify/judge/compare.hpp"

namespace plumb {

/// An output, and the memory that its places are counted from.
struct WrittenOutput {
  const Segment* segment;
  const std::byte* image;
};

/// The oracle's answer with a variant's choices in the oracle's place, as far as they are legal. The elements that are left are wrong ones:
/// each gets a legal value that the variant did not take. All that is handed over outlives it.
class ChosenAnswer {
 public:
  /// `outputs`: all of them, in the order of the contract; none where nothing was written: the answer is the oracle's.
  ChosenAnswer(const Reference& reference, const std::vector<WrittenOutput>& outputs);
  /// The answer for output `o`; the oracle's own where it leaves no choice.
  [[nodiscard]] const ReferenceArray& output(std::size_t o) const;
  /// Says of each listed miss of output `o`, where there was a choice, why it is none of the legal ones.
  void explain(std::size_t o, std::vector<Miss>& misses) const;

 private:
  void take_places(std::size_t o);
  void take_values(std::size_t o);
  [[nodiscard]] std::string why_no_place(std::size_t o, const Miss&) const;
  [[nodiscard]] std::string why_no_value(std::size_t o, const Miss&) const;

  const Reference& reference_;
  const std::vector<WrittenOutput>& written_;
  std::map<std::size_t, ReferenceArray> chosen_;  // of the outputs that leave a choice
};

}  // namespace plumb
