// The numbers of docs/bounds.md, recomputed: a page that explains the bounds must not differ from them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "reference/cases/operator.hpp"
#include "reference/core/text.hpp"

using namespace plumb;

namespace {

/// The cells of the table whose header begins with "| type | arithmetic |", without the header.
std::vector<std::vector<std::string>> numbers_of_page() {
  std::ifstream page(PLUMB_DOCS_DIR "/bounds.md");
  REQUIRE_MESSAGE(page, "docs/bounds.md cannot be read");
  std::vector<std::vector<std::string>> rows;
  std::string line;
  bool inside = false;
  while (std::getline(page, line)) {
    if (line.rfind("| type | arithmetic |", 0) == 0) {
      inside = true;
    } else if (inside && line.rfind("| ", 0) == 0) {
      std::vector<std::string> cells;
      for (const std::string& cell : split(line, '|'))
        if (const auto first = cell.find_first_not_of(' '); first != std::string::npos)
          cells.push_back(cell.substr(first, cell.find_last_not_of(' ') - first + 1));
      rows.push_back(cells);
    }
  }
  return rows;
}

// What a cell's word names, of the list that the program has of such words.
template <class T>
T known(const std::optional<T>& named, const std::string& word) {
  REQUIRE_MESSAGE(named, "docs/bounds.md has an unknown word: ", word);
  return *named;
}

}  // namespace

TEST_CASE("the numbers of docs/bounds.md are those of sum_bound, to four digits") {
  const auto rows = numbers_of_page();
  REQUIRE(rows.size() >= 10);
  for (const auto& row : rows) {
    REQUIRE(row.size() == 7);
    CAPTURE(row[1]);
    CAPTURE(row[2]);
    CAPTURE(row[3]);
    const Tolerance tolerance{parse_fill(row[2], "docs/bounds.md"), known(arithmetic_named(row[1]), row[1]),
                              known(dtype_named(row[0]), row[0])};
    const double bound = sum_bound(tolerance, std::stod(row[5]), std::stod(row[4]), std::stoll(row[3]));
    const double printed = std::stod(row[6]);
    CHECK(std::fabs(bound - printed) <= 1e-4 * std::fabs(bound));
  }
}

TEST_CASE("docs/bounds.md has a line of numbers for every arithmetic that has a name, and for every type") {
  const auto rows = numbers_of_page();
  const auto has = [&](std::size_t column, const std::string& word) {
    return std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return row.at(column) == word; });
  };
  for (const NamedArithmetic& a : kArithmetics) CHECK_MESSAGE(has(1, a.name), a.name);
  for (const DtypeFacts& d : kDtypes) CHECK_MESSAGE(has(0, d.name), d.name);
}

TEST_CASE("the parts of an arithmetic add up: what has no name has a bound as well") {
  // fp16 operands, summed pairwise, flushed: the roundings of the operands, of the order, and what is flushed
  Arithmetic mixed = Arithmetic::fp16;
  mixed.order = Arithmetic::Order::pairwise;
  mixed.flushes = true;
  const auto bound = [](const Arithmetic& a) {
    return sum_bound({Fill::positive, a, Dtype::f32}, 10, 10, 1000);
  };
  const double native = bound(Arithmetic::native);
  const double parts =
      bound(Arithmetic::fp16) - native + bound(Arithmetic::pairwise) + bound(Arithmetic::flushed) - native;
  CHECK(std::fabs(bound(mixed) - parts) <= 1e-9 * parts);
  // sums kept in fp16 round with its unit
  Arithmetic narrow;
  narrow.accumulate = Format::f16;
  CHECK(bound(narrow) == doctest::Approx(native * 0x1p13).epsilon(1e-3));
  for (const Arithmetic& a :
       {mixed, narrow, Arithmetic::tf32x3, Arithmetic::winograd, Arithmetic::by_lse, Arithmetic::one_pass})
    CHECK(Arithmetic::of_code(a.code()) == a);
  CHECK(bound(Arithmetic::winograd) == native);  // the operator passes the transform's magnitude
}
