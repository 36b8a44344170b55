// What words of case ids are worth as numbers.
#include "reference/cases/case_words.hpp"

#include <cmath>
#include <string>

#include <doctest/doctest.h>

namespace plumb {
namespace {

TEST_CASE("a word is the number that it spells, whole or not, and 0 where it spells none") {
  CHECK(number_of("70001") == 70001);
  CHECK(number_of("007") == 7);
  CHECK(number_of("123456789012") == 123456789012.0);
  CHECK(number_of("0.3") == 0.3);
  CHECK(number_of("-2051") == -2051);
  CHECK(number_of("1.2345679e-200") == 1.2345679e-200);
  CHECK(std::signbit(number_of("-0")));
  CHECK(std::isinf(number_of("inf")));
  for (const char* const none : {"", "uniform", "only_1", "index", "none", "12 ", "3x", "+1"})
    CHECK(number_of(none) == 0);
}

}  // namespace
}  // namespace plumb
