#include "reference/core/error.hpp"

#include <doctest/doctest.h>

TEST_CASE("an input error names file, line, what and value on one line") {
  const plumb::Error e = plumb::input_error("a.mtx", 7, "column index out of range", "12\n34");
  CHECK(std::string(e.what()) == "a.mtx:7: column index out of range: 12\\x0a34");
}
