// topk's oracle and host variants on data a person can check by hand.
#include "reference/ops/topk.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "reference/cases/operator.hpp"
#include "reference/core/error.hpp"
#include "reference/tests/variants.hpp"

using namespace plumb;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

Reference largest(const std::vector<double>& x, std::int64_t rows, std::int64_t k,
                  std::int64_t k_of_indices = 0) {
  const auto cols = static_cast<std::int64_t>(x.size()) / rows;
  const TopK::In<double, Space::host> in{{x.data(), rows, cols, cols}};
  const std::int64_t k2 = k_of_indices == 0 ? k : k_of_indices;
  const TopK::Out<double, Space::host> out{{nullptr, rows, k, k}, {nullptr, rows, k2, k2}};
  Reference reference;
  TopK::validate<double>({}, in, out);
  TopK::oracle<double>({}, in, out, reference);
  return reference;
}

// The positions at which a candidate may stand, as "first to last".
std::vector<std::pair<int, int>> windows(const Reference& r) {
  const Candidates& c = *r.outputs[1].candidates;
  std::vector<std::pair<int, int>> all;
  for (std::size_t i = 0; i < c.first.size(); ++i) all.emplace_back(c.first[i], c.last[i]);
  return all;
}

}  // namespace

TEST_CASE("topk lists the largest elements of each row in descending order, with their columns") {
  const Reference r = largest({3, 9, -1, 4, 0.5, -2, 8, 7}, 2, 2);
  CHECK(r.outputs.at(0).value == std::vector<double>{9, 4, 8, 7});
  CHECK(r.outputs.at(1).value == std::vector<double>{1, 3, 2, 3});
  CHECK(r.outputs[0].moved);
  CHECK(r.outputs[0].chosen_by == 1);
}

TEST_CASE("equal elements may stand at each other's positions, those beyond k too") {
  const std::pair<int, int> none{0, -1};
  CHECK(windows(largest({5, 7, 5, 1, 5}, 1, 3)) ==
        std::vector<std::pair<int, int>>{{1, 2}, {0, 0}, {1, 2}, none, {1, 2}});
  CHECK(windows(largest({0.0, -0.0, -1}, 1, 1)) == std::vector<std::pair<int, int>>{{0, 0}, {0, 0}, none});
}

TEST_CASE("NaN is larger than infinity, whatever its sign, and NaN are equal") {
  const Reference r = largest({kInf, kNan, -kInf, -kNan}, 1, 4);
  CHECK(std::isnan(r.outputs[0].value[0]));
  CHECK(std::isnan(r.outputs[0].value[1]));
  CHECK(r.outputs[0].value[2] == kInf);
  CHECK(windows(r) == std::vector<std::pair<int, int>>{{2, 2}, {0, 1}, {3, 3}, {0, 1}});
}

TEST_CASE("a k that no row has, and outputs that differ in it, are refused with both numbers") {
  CHECK_THROWS_WITH_AS((void)largest({1, 2, 3}, 1, 4),
                       "topk: k is 4, and x has 3 columns: 1 to that many can be the largest", Error);
  CHECK_THROWS_AS((void)largest({1, 2, 3}, 1, 0), Error);
  CHECK_THROWS_WITH_AS((void)largest({1, 2, 3}, 1, 2, 1), "topk: indices has 1 columns, values 2", Error);
}

TEST_CASE("every host variant of topk finds the two largest of each row, NaN first") {
  testing::for_each_variant<TopK, float>([](const auto& variant) {
    const std::vector<float> x = {3, 9, -1, 4, 0.5F, -2, static_cast<float>(kNan), 7};
    std::vector<float> values(4);
    std::vector<std::int32_t> indices(4);
    testing::HostContext context;
    variant.run({}, {{x.data(), 2, 4, 4}}, {{values.data(), 2, 2, 2}, {indices.data(), 2, 2, 2}}, context);
    CHECK(indices == std::vector<std::int32_t>{1, 3, 2, 3});
    CHECK(values[0] == 9);
    CHECK(values[1] == 4);
    CHECK(std::isnan(values[2]));
    CHECK(values[3] == 7);
  });
}
