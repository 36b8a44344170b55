// Answers of which several are legal: each of them passes, nothing else does, and runs may differ in them.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "reference/ops/topk.hpp"
#include "verify/engine/operator/adapter.hpp"
#include "verify/engine/operator/operators.hpp"
#include "verify/judge/choices.hpp"
#include "verify/judge/given.hpp"
#include "verify/judge/runner.hpp"

namespace plumb {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

using Values = std::vector<float>;
using Indices = std::vector<std::int32_t>;

// One row of x, and its outputs for k.
struct Row {
  Row(Values row, std::int64_t k)
      : x(std::move(row)), values(static_cast<std::size_t>(k)), indices(values.size()) {}
  [[nodiscard]] GivenCall call() {
    const auto cols = static_cast<std::int64_t>(x.size()), k = static_cast<std::int64_t>(values.size());
    return {Dtype::f32,
            {{"x", Format::f32, false, false, 1, cols, cols, x.data()},
             {"values", Format::f32, true, false, 1, k, k, nullptr},
             {"indices", Format::i32, true, false, 1, k, k, nullptr}},
            {}};
  }
  [[nodiscard]] std::vector<GivenOutput> judged() {
    return judge_given(find_operator("topk"), call(), {values.data(), indices.data()}, Arithmetic::native);
  }
  Values x, values;
  Indices indices;
};

bool is_larger(float a, float b) { return std::isnan(a) ? !std::isnan(b) : a > b; }
bool is_same(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

// The contract word by word.
bool is_legal(const Row& row) {
  std::vector<bool> named(row.x.size());
  for (std::size_t p = 0; p < row.indices.size(); ++p) {
    const std::int32_t column = row.indices[p];
    if (column < 0 || column >= static_cast<std::int32_t>(row.x.size())) return false;
    const auto at = static_cast<std::size_t>(column);
    if (named[at] || !is_same(row.values[p], row.x[at])) return false;
    named[at] = true;
    if (p > 0 && is_larger(row.values[p], row.values[p - 1])) return false;
  }
  for (std::size_t j = 0; j < row.x.size(); ++j) {
    if (!named[j] && is_larger(row.x[j], row.values.back())) return false;
  }
  return true;
}

std::int64_t misses(PreparedCase& prepared, const Row& row) {
  Segment values, indices;
  values.kind = Format::f32, indices.kind = Format::i32;
  values.rows = indices.rows = 1, values.cols = values.ld = static_cast<std::int64_t>(row.values.size());
  indices.cols = indices.ld = values.cols;
  const std::vector<WrittenOutput> written = {
      {&values, reinterpret_cast<const std::byte*>(row.values.data())},
      {&indices, reinterpret_cast<const std::byte*>(row.indices.data())}};
  const ChosenAnswer answer(prepared.reference(), written);
  std::int64_t all = 0;
  for (std::size_t o = 0; o < 2; ++o) {
    const Expected expected{&answer.output(o), &prepared.bounds(static_cast<int>(o), Arithmetic::native)};
    all += compare(*written[o].segment, written[o].image, expected, Poison::nan_payload).misses;
  }
  return all;
}

struct Counts {
  int legal = 0, wrong = 0;
};

// Every list of columns, one below and one above those that there are too; with the values that are there, and with one of them changed.
Counts try_all(const Values& x, std::int64_t k) {
  Row row(x, k);
  const auto prepared = find_operator("topk").prepare(row.call());
  const auto choices = static_cast<std::int32_t>(x.size()) + 2;
  std::int64_t lists = 1;
  for (std::int64_t p = 0; p < k; ++p) lists *= choices;
  Counts counts;
  for (std::int64_t list = 0; list < lists; ++list) {
    std::int64_t rest = list;
    for (std::size_t p = 0; p < row.indices.size(); ++p, rest /= choices) {
      row.indices[p] = static_cast<std::int32_t>(rest % choices) - 1;
      const auto at = static_cast<std::size_t>(std::clamp(row.indices[p], 0, choices - 3));
      row.values[p] = row.x[at];
    }
    for (const bool changed : {false, true}) {
      float& value = row.values[static_cast<std::size_t>(list % k)];
      if (changed) value = value == 0 ? -value : value == 1 ? 2.0F : 1.0F;
      const bool legal = is_legal(row);
      ++(legal ? counts.legal : counts.wrong);
      if (legal != (misses(*prepared, row) == 0)) {
        CAPTURE(list);
        CAPTURE(changed);
        FAIL_CHECK("judged otherwise than the contract says: ", (legal ? "legal" : "wrong"));
      }
    }
  }
  return counts;
}

TEST_CASE("every legal choice among equal elements passes, and no other answer does") {
  const std::vector<Values> rows = {{1, 2, 2, 1},           {3, 3, 3, 3},        {0.0F, -0.0F, -1, -0.0F},
                                    {kNan, 1, -kNan, kInf}, {-kInf, 5, kInf, 5}, {1, 2, 3, 4},
                                    {-1, 0.0F, 1, -0.0F}};
  Counts all;
  for (const Values& x : rows) {
    for (std::int64_t k = 1; k <= 4; ++k) {
      CAPTURE(k);
      const Counts counts = try_all(x, k);
      CHECK(counts.legal > 0);
      all.legal += counts.legal, all.wrong += counts.wrong;
    }
  }
  CHECK(all.legal > 100);
  CHECK(all.wrong > 10000);
}

TEST_CASE("a wrong choice is told with its row, position, value, and what is wrong with it") {
  const auto told = [](Indices indices, Values values) {
    Row row({7, 5, 9, 5, 1}, 3);
    row.indices = std::move(indices), row.values = std::move(values);
    std::vector<std::string> all;
    for (const GivenOutput& o : row.judged()) all.insert(all.end(), o.misses.begin(), o.misses.end());
    return all;
  };
  using Lines = std::vector<std::string>;
  CHECK(told({2, 0, 1}, {9, 7, 5}).empty());
  CHECK(told({2, 0, 3}, {9, 7, 5}).empty());
  CHECK(told({2, 0, 4}, {9, 7, 5}) == Lines{"indices[2]: got 4, whose value is 1 and may stand at no "
                                            "position of the row's 3; legal is 1, whose "
                                            "value is 5"});
  CHECK(
      told({2, 1, 0}, {9, 7, 5}) ==
      Lines{
          "indices[1]: got 1, whose value is 5 and may stand at position 2 alone of the row's 3; legal is 0, "
          "whose value is 7",
          "indices[2]: got 0, whose value is 7 and may stand at position 1 alone of the row's 3; legal is 1, "
          "whose value is 5"});
  CHECK(
      told({2, 2, 1}, {9, 7, 5}) ==
      Lines{
          "indices[1]: got 2, whose value is 9 and may stand at position 0 alone of the row's 3; legal is 0, "
          "whose value is 7"});
  CHECK(told({2, 5, 1}, {9, 7, 5}) ==
        Lines{"indices[1]: got 5, which is no place: a row has 0 to 4; legal is 0, whose value is 7"});
  CHECK(told({2, 0, 3}, {9, 6, 5}) ==
        Lines{"values[1]: got 6, want 7: the value at place 0, which indices[1] names"});
  // values may be those of the places that were named, or the legal ones
  CHECK(told({2, 0, 4}, {9, 7, 1}).size() == 1);
  CHECK(told({2, 0, 4}, {9, 7, 3}) ==
        Lines{"values[2]: got 3, want 5: the value at place 1, where indices[2] has no legal one",
              "indices[2]: got 4, whose value is 1 and may stand at no position of the row's 3; legal is 1, "
              "whose value is 5"});
  Row twice({5, 5, 5}, 2);
  twice.indices = {1, 1}, twice.values = {5, 5};
  const std::vector<GivenOutput> judged = twice.judged();
  CHECK(judged[1].misses ==
        Lines{"indices[1]: got 1, which stands at indices[0] too: each place stands once in a row; "
              "legal is 0, whose value is 5"});
  CHECK(judged[0].misses.empty());
}

TEST_CASE("a zero has the sign of the zero that its index names") {
  Row row({-1, 0.0F, -0.0F}, 2);
  row.indices = {2, 1}, row.values = {-0.0F, 0.0F};
  for (const GivenOutput& o : row.judged()) CHECK(o.misses.empty());
  row.values = {0.0F, -0.0F};
  CHECK(row.judged()[0].comparison.misses == 2);
  CHECK(row.judged()[1].comparison.misses == 0);
}

TEST_CASE("candidates may stand where an order is left open in part") {
  // the first and second may change places, and the second and third
  Reference reference;
  ReferenceArray& places = reference.outputs.emplace_back();
  places.resize(3);
  places.value[1] = 1, places.value[2] = 2;
  const auto candidates = std::make_shared<Candidates>(1, 3);
  candidates->allow(0, 0, 0, 1), candidates->allow(0, 1, 0, 2), candidates->allow(0, 2, 1, 2);
  places.candidates = candidates;
  Segment s;
  s.kind = Format::i32, s.rows = 1, s.cols = s.ld = 3;
  const auto left = [&](const Indices& got) {
    const std::vector<WrittenOutput> written = {{&s, reinterpret_cast<const std::byte*>(got.data())}};
    const ChosenAnswer answer(reference, written);
    int wrong = 0;
    for (std::size_t p = 0; p < 3; ++p) wrong += answer.output(0).value[p] != got[p] ? 1 : 0;
    return wrong;
  };
  CHECK(left({0, 1, 2}) == 0);
  CHECK(left({1, 0, 2}) == 0);
  CHECK(left({0, 2, 1}) == 0);
  CHECK(left({2, 1, 0}) == 2);
  CHECK(left({1, 1, 2}) == 1);
}

// topk beside the program's own, with variants of this test alone.
struct Chooser : TopK {
  static constexpr const char* kName = "chooser";
  template <class T>
  static void make(const Case& c, Instance<Chooser, T>& instance) {
    Instance<TopK, T> made;
    TopK::make<T>(c, made);
    instance.problem = made.problem, instance.in = made.in, instance.out = made.out;
    instance.arena = std::move(made.arena), instance.degenerate = made.degenerate;
  }
};

// Of equal elements the last columns in every third call; and what it should not do.
template <bool kWrong>
void choose(const Chooser::Problem<float>&, const Chooser::In<float, Space::host>& in,
            const Chooser::Out<float, Space::host>& out, Context&) {
  static int calls = 0;
  const bool backwards = ++calls % 3 == 0;
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    std::vector<std::int32_t> columns;
    for (std::int64_t j = 0; j < in.x.cols; ++j)
      columns.push_back(static_cast<std::int32_t>(backwards ? in.x.cols - 1 - j : j));
    std::stable_sort(columns.begin(), columns.end(),
                     [&](std::int32_t a, std::int32_t b) { return in.x(i, a) > in.x(i, b); });
    for (std::int64_t p = 0; p < out.values.cols; ++p) {
      const std::int32_t column = columns[static_cast<std::size_t>(p)];
      out.values(i, p) = in.x(i, column), out.indices(i, p) = column;
    }
    if (kWrong && backwards) std::swap(out.indices(i, 0), out.indices(i, out.values.cols - 1));
  }
}
const Register<Chooser, float, Space::host> r_right{"right", choose<false>}, r_wrong{"wrong", choose<true>};

Record judged(const std::string& variant) {
  static const OperatorAdapter<Chooser> adapter;
  RunOptions options;
  options.isolation = Isolation::none;
  options.repeat = 6;
  Runner runner(options);
  runner.use(adapter);
  const Case c = parse_case("chooser.f32(rows=9,cols=200,k=40,fill=exact,seed=3)");
  const auto prepared = adapter.prepare(c);
  for (const VariantInfo& v : adapter.variants(Device::gpu)) {
    if (v.name == "cpu/" + variant) return runner.judge(c, *prepared, v);
  }
  FAIL("no such variant");
  return {};
}

TEST_CASE("runs that choose otherwise among equal elements pass, and one that chooses wrongly does not") {
  const Record right = judged("right");
  CHECK(right.verdict == Verdict::pass);
  CHECK(right.differs);
  CHECK_FALSE(is_passed(judged("wrong").verdict));
}

}  // namespace
}  // namespace plumb
