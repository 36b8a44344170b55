// The numbers of docs/bounds.md, recomputed: a page that explains the bounds must not differ from them.
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "reference/core/operator.hpp"
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
    } else if (inside && line.rfind("| f", 0) == 0) {
      std::vector<std::string> cells;
      for (const std::string& cell : split(line, '|'))
        if (const auto first = cell.find_first_not_of(' '); first != std::string::npos)
          cells.push_back(cell.substr(first, cell.find_last_not_of(' ') - first + 1));
      rows.push_back(cells);
    }
  }
  return rows;
}

template <class Enum>
Enum named(const std::string& word, int values) {
  for (int i = 0; i < values; ++i)
    if (name(static_cast<Enum>(i)) == word) return static_cast<Enum>(i);
  FAIL("docs/bounds.md has an unknown word: " << word);
  return Enum{};
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
    const Tolerance tolerance{named<Fill>(row[2], 8), named<Arithmetic>(row[1], 9), named<Dtype>(row[0], 2)};
    const double bound = sum_bound(tolerance, std::stod(row[5]), std::stod(row[4]), std::stoll(row[3]));
    const double printed = std::stod(row[6]);
    CHECK(std::fabs(bound - printed) <= 1e-4 * std::fabs(bound));
  }
}
