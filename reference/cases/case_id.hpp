// A case: which operator, which data. Its printed id is its filter, its repro line, and what a report is keyed by:
//   spmv.f32(rows=65536,cols=65536,density=0.001,fill=real,seed=7)
// A parameter's value may be a file's name. Bytes that mean something in an id, a glob or a list of cases ( , ( ) * ? % and
// control characters) are printed as %XX, two hexadecimal digits. parse_case(c.id()) == c, and is tested.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/core/abi.hpp"
#include "reference/core/dtype.hpp"

namespace plumb {

/// How operands are filled; describe(Fill) says which faults each of them alone can show.
enum class Fill : std::uint8_t { exact, wide, index, real, positive, scaled, hostile, few, own };

enum class Tier : std::uint8_t { smoke, full, stress };

inline constexpr Fill kAllFills[] = {Fill::exact,  Fill::wide,    Fill::index, Fill::real, Fill::positive,
                                     Fill::scaled, Fill::hostile, Fill::few,   Fill::own};

[[nodiscard]] std::string_view name(Dtype);
[[nodiscard]] std::string_view name(Fill);
[[nodiscard]] std::string_view name(Tier);
[[nodiscard]] std::string_view name(Arithmetic);
[[nodiscard]] std::string_view describe(Fill);  // one sentence
/// Throw Error with "did you mean" on an unknown word; `what` names the option it came from.
[[nodiscard]] Fill parse_fill(std::string_view word, std::string_view what);
[[nodiscard]] Tier parse_tier(std::string_view word, std::string_view what);
/// The type that an id calls so; nothing where there is none.
[[nodiscard]] std::optional<Dtype> dtype_named(std::string_view word);
/// The arithmetic of that name (kArithmetics); nothing where there is none.
[[nodiscard]] std::optional<Arithmetic> arithmetic_named(std::string_view word);
/// "f32 nor f64": every word, for messages.
[[nodiscard]] std::string dtype_words(std::string_view between);

struct Case {
  std::string op;
  Dtype dtype = Dtype::f32;
  std::vector<std::pair<std::string, std::string>> params;  // in the order the operator prints them
  Fill fill = Fill::real;
  std::uint64_t seed = 1;
  Tier tier = Tier::smoke;  // where it is run; not part of the identity
  std::string why;          // the reason it exists; not part of the identity
  bool drawn = false;       // made from a description, not listed; not part of the identity

  [[nodiscard]] std::string id() const;
  [[nodiscard]] bool has(std::string_view key) const;
  /// The parameter's value; throws Error naming the case and the key when it is missing or not of the type.
  [[nodiscard]] std::string text(std::string_view key) const;
  [[nodiscard]] std::int64_t integer(std::string_view key) const;  // >= 0
  [[nodiscard]] double number(std::string_view key) const;         // finite
  [[nodiscard]] std::string text_or(std::string_view key, std::string_view fallback) const;
  [[nodiscard]] std::int64_t integer_or(std::string_view key, std::int64_t fallback) const;
  [[nodiscard]] double number_or(std::string_view key, double fallback) const;
  friend bool operator==(const Case& a, const Case& b) {
    return a.op == b.op && a.dtype == b.dtype && a.params == b.params && a.fill == b.fill && a.seed == b.seed;
  }
};

/// Reads a whole id as printed. Throws Error saying where it went wrong. The operator's name is not checked here.
[[nodiscard]] Case parse_case(std::string_view id);

/// What --case takes: "all", or globs separated by commas outside parentheses. A glob is OP[.DTYPE][(KEY=PATTERN,...)];
/// OP and DTYPE are shell globs; a PATTERN is a glob, or a range "a..b" of numbers with '*' for an open end.
/// @FILE stands for the globs of a file, on lines of their own or separated by commas; '#' begins a
/// comment, first of its line or after a blank. Errors: a file that cannot be read or names nothing; what is no glob, with
/// file and line.
class CaseFilter {
 public:
  explicit CaseFilter(std::string_view text);
  [[nodiscard]] bool matches(const Case&) const;
  /// The operator globs, one per part, for "matches no operator" messages.
  [[nodiscard]] const std::vector<std::string>& operator_globs() const { return operator_globs_; }
  /// Why `cases`, the list of one operator, holds no match although a part names the operator: a type that does not exist, a
  /// parameter the operator does not have, an empty range, a missing seed. "" where nothing of that kind is wrong.
  [[nodiscard]] std::string why_none(const std::vector<Case>& cases) const;
  /// Parts that are whole ids (no wildcard, with fill and seed): run even if no operator lists them.
  [[nodiscard]] const std::vector<Case>& whole_ids() const { return whole_ids_; }

 private:
  struct Part {
    std::string op, dtype;
    std::vector<std::pair<std::string, std::string>> params;
  };
  void take(const std::string& item);
  std::vector<Part> parts_;
  std::vector<std::string> operator_globs_;
  std::vector<Case> whole_ids_;
};

}  // namespace plumb
