// Every file in datasets/malformed/ is refused with exactly the message that expected.txt gives it.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "datasets/formats/load_matrix.hpp"
#include "datasets/tests/scratch.hpp"

using namespace plumb;
using namespace plumb::test;

TEST_CASE("every malformed file is refused with its message, and none lacks one") {
  const std::string folder = std::string(PLUMB_DATASETS_DIR) + "/malformed/";
  std::map<std::string, std::string> expected;
  std::ifstream in(folder + "expected.txt");
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(':');
    if (!line.empty() && line[0] != '#') expected[line.substr(0, colon)] = line;
  }
  REQUIRE(expected.size() >= 10);
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name == "expected.txt") continue;
    CAPTURE(name);
    CHECK(expected.count(name) == 1);
  }
  for (const auto& line : expected) {
    const auto& name = line.first;  // clang 14 captures no structured bindings
    const auto& message = line.second;
    CAPTURE(name);
    CHECK(error_of([&] { return load_matrix<double>(folder + name); }) == folder + message);
  }
}
