// By what adaptive rungs choose: the model of cost, and what is counted of a matrix for its terms.
#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gpu/common/adaptive.hpp"
#include "gpu/common/matrix_work.hpp"
#include "reference/ops/gemv.hpp"

namespace plumb::simt_test {
namespace {

/// row_ptr of rows of these lengths.
struct Rows : HostArray<std::int32_t> {
  explicit Rows(const std::vector<int>& lengths)
      : HostArray<std::int32_t>(static_cast<std::int64_t>(lengths.size()) + 1) {
    (*this)[0] = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      (*this)[at + 1] = (*this)[at] + lengths[i];
    }
  }
};

Terms terms(double launches, double chain, double bytes) {
  return {true, {1, launches, chain, 0, bytes, 0, 0, 0}};
}

constexpr CostModel kModels[2] = {{2, {3, 1, 1, 0, 1, 0, 0, 0}}, {1, {4, 1, 1, 0, 1, 0, 0, 0}}};
constexpr const char* kNames[2] = {"first", "second"};

TEST_CASE("what nothing overlaps is added, the rest joined by a norm of the model's sharpness") {
  CHECK(predicted_us(kModels[0], terms(2, 3, 4)) == doctest::Approx(3 + 2 + 5));
  CHECK(predicted_us(kModels[1], terms(2, 3, 4)) == doctest::Approx(4 + 2 + 7));
}

TEST_CASE("the candidate of least time is chosen among those that fit, and the text names it and the next") {
  char text[128];
  Terms of[2] = {terms(0, 30, 0), terms(0, 2, 1)};
  CHECK(take_terms(-1, kModels, of, kNames, text, sizeof text) == 1);
  CHECK(std::string(text) == "second: 7 us by the model; first: 33 us");
  of[1].fits = false;
  CHECK(take_terms(-1, kModels, of, kNames, text, sizeof text) == 0);
  CHECK(std::string(text) == "first: no other fits");
  of[0].fits = false;
  CHECK(take_terms(-1, kModels, of, kNames, text, sizeof text) == 0);
}

TEST_CASE(
    "a candidate that is measured is taken against its model, and says its terms as tools/fit reads them") {
  char text[128];
  Terms of[2] = {terms(0, 30, 0), terms(0, 2, 1)};
  CHECK(take_terms(0, kModels, of, kNames, text, sizeof text) == 0);
  CHECK(std::string(text) == "terms 1 0 30 0 0 0 0 0");
  of[1].fits = false;
  CHECK(take_terms(1, kModels, of, kNames, text, sizeof text) == 0);
  CHECK(std::string(text).substr(0, 5) == "unfit");
}

TEST_CASE(
    "of few uses each bears its share of the preparation, of many none; a measured one says its terms too") {
  constexpr CostModel kBefore[2] = {{1, {1, 0, 0, 0, 0, 0, 0, 0}}, {1, {100, 0, 0, 0, 0, 0, 0, 0}}};
  const Terms of[2] = {terms(0, 30, 0), terms(0, 2, 1)};  // 33 us and 7 us
  Preparation<2> preparation{&kBefore, {terms(0, 0, 0), terms(0, 0, 0)}, 1};
  char text[256];
  CHECK(take_terms(-1, kModels, of, kNames, text, sizeof text, preparation) == 0);
  CHECK(std::string(text) == "first: 33 us by the model after 1 us; second: 7 us after 100 us; uses: 1");
  preparation.uses = 4;  // 33.25 us and 32 us
  CHECK(take_terms(-1, kModels, of, kNames, text, sizeof text, preparation) == 1);
  preparation.uses = 0;
  CHECK(take_terms(-1, kModels, of, kNames, text, sizeof text, preparation) == 1);
  CHECK(std::string(text) == "second: 7 us by the model; first: 33 us");
  CHECK(take_terms(1, kModels, of, kNames, text, sizeof text, preparation) == 1);
  CHECK(std::string(text) == "terms 1 0 2 0 1 0 0 0 prepare 1 0 0 0 0 0 0 0");
}

/// An operator, and a list of two candidates for it: the first always fits, the second where the problem is large.
struct Counting {
  template <class T>
  struct Problem {
    int size;
    mutable int ran;
  };
  template <class T, Space>
  struct In {};
  template <class T, Space>
  struct Out {};
  template <class Views, class F>
  static void each_output(Views&, F&&) {}
};
template <class T>
struct TwoWays : CandidateList<Counting, T> {
  using Base = CandidateList<Counting, T>;
  static constexpr auto& kNames = simt_test::kNames;
  static constexpr auto& kModels = simt_test::kModels;
  using Kept = int;
  TwoWays(const typename Base::Problem& p, const typename Base::In&, const typename Base::Out&, Context&)
      : size(p.size) {}
  Terms terms(int c) const {
    Terms of = c == 0 ? simt_test::terms(0, size, 0) : simt_test::terms(0, 2, 1);
    of.fits = c == 0 || size > 20;
    return of;
  }
  Kept keep(int c, Context&) const { return 100 * size + c; }
  static void run(int c, const Kept& kept, const typename Base::Problem& p, const typename Base::In&,
                  const typename Base::Out&, Context&) {
    p.ran = 10 * kept + c;
  }
  int size;
};

template <int C>
int ran(int size, std::string& text) {
  using Rung = Adaptive<TwoWays, float, C>;
  const typename Rung::Problem p{size, 0};
  Context context;
  context.owner = &text;
  context.say = [](Context& c, const char* said) { *static_cast<std::string*>(c.owner) = said; };
  context.plan = Rung::prepare(p, {}, {}, context);
  Rung::run(p, {}, {}, context);
  Rung::release(context.plan);
  return p.ran;
}

TEST_CASE("an adaptive rung runs the candidate of least time with what it keeps, or the one to measure") {
  std::string text;
  CHECK(ran<-1>(30, text) == 30011);
  CHECK(text == "second: 7 us by the model; first: 33 us");
  CHECK(ran<0>(30, text) == 30000);
  CHECK(text == "terms 1 0 30 0 0 0 0 0");
  CHECK(ran<-1>(10, text) == 10000);
  CHECK(ran<1>(10, text) == 10000);  // it does not fit: the first runs, and says so
  CHECK(text.substr(0, 5) == "unfit");
}

TEST_CASE(
    "a warp waits for the longest of the rows that it takes together; longer ones than the cut are left "
    "out") {
  const Rows rows({1, 8, 1, 1, 100, 1});
  CHECK(warp_batches(rows, 2, 1, 1000) == doctest::Approx(8 + 1 + 100));
  CHECK(warp_batches(rows, 2, 4, 1000) == doctest::Approx(2 + 1 + 25));
  CHECK(warp_batches(rows, 2, 1, 8) == doctest::Approx(8 + 1 + 1));
  CHECK(warp_batches(Rows({}), 2, 1, 8) == 0);
}

TEST_CASE("batches of many rows are counted in a sample, and stand for all of them") {
  const Rows rows(std::vector<int>(1000000, 4));
  CHECK(warp_batches(rows, 8, 4, 1000) == doctest::Approx(125000));
}

TEST_CASE("rows are cut into even parts, of one row no more than the most") {
  const Rows rows({5, 100, 10, 30});
  const Cutting c = cutting_of(rows, 10, 25, 1000);
  CHECK(c.parts == 4 + 2);
  CHECK(c.cut_rows == 2);
  CHECK(c.entries == 130);
  CHECK(c.most == 4);
  CHECK(c.longest == 10);
  CHECK(c.longest_part == 25);
  CHECK(cutting_of(rows, 10, 25, 2).parts == 2 + 2);
}

// A list of two, for Tried: the first waits, the second does not, and both write their outputs.
template <class T>
struct Two : CandidateList<Gemv, T> {
  using Base = CandidateList<Gemv, T>;
  struct Kept {
    void* memory = nullptr;
  };
  static constexpr const char* kNames[2] = {"waits", "at once"};
  static constexpr const auto& kModels = plumb::simt_test::kModels;
  static inline std::vector<T*> written;

  Two(const typename Base::Problem&, const typename Base::In&, const typename Base::Out&, Context&) {}
  Kept keep(int, Context& context) const { return {context.workspace(16)}; }
  static void run(int c, const Kept& kept, const typename Base::Problem&, const typename Base::In&,
                  const typename Base::Out& out, Context& context) {
    CHECK(context.workspace(8) != kept.memory);
    if (c == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    for (std::int64_t i = 0; i < out.y.size; ++i) out.y.data[i] = T(1);
    written.push_back(out.y.data);
  }
};

/// What a plan of so many uses takes where the model takes the first. `chain` tells one test's trials from another's.
std::pair<int, std::string> tried(double chain, std::int64_t uses, std::vector<float>& y, double& spent) {
  Context context;
  context.uses = uses, context.owner = &spent;
  context.spend = [](Context& c, double seconds) { *static_cast<double*>(c.owner) += seconds; };
  const Gemv::Problem<float> p{};
  const Gemv::In<float, Space::device> in{};
  const Gemv::Out<float, Space::device> out{{y.data() + 1, static_cast<std::int64_t>(y.size()) - 1}};
  int candidate = 0;
  Text text{};
  Tried<Two, float>(p, in, out, context)
      .take({terms(0, chain, 0), terms(0, chain + 2, 1)}, {}, candidate, text);
  return {candidate, text.of};
}

TEST_CASE(
    "a plan of many runs takes the candidate that is fastest when measured, on outputs of the trial's own") {
  std::vector<float> y(9, 7.0F);
  double spent = 0;
  Two<float>::written.clear();
  const auto [candidate, text] = tried(3, kManyUses, y, spent);
  CHECK(candidate == 1);
  CHECK(text.find("at once: ") == 0);
  CHECK(text.find("us measured; waits: ") != std::string::npos);
  CHECK(y == std::vector<float>(9, 7.0F));
  CHECK(Two<float>::written.size() > 10);
  for (const float* at : Two<float>::written) {
    CHECK(at != y.data() + 1);
    CHECK(reinterpret_cast<std::uintptr_t>(at) % 256 == reinterpret_cast<std::uintptr_t>(y.data() + 1) % 256);
  }
  CHECK(spent == 0);

  Two<float>::written.clear();
  CHECK(tried(3, kManyUses, y, spent).first == 1);
  CHECK(Two<float>::written.empty());  // known already
  CHECK(spent > 0.1);                  // at least five runs that wait
}

TEST_CASE("a plan of few runs takes what the model says, unmeasured") {
  std::vector<float> y(9);
  double spent = 0;
  Two<float>::written.clear();
  CHECK(tried(4, 10, y, spent).first == 0);
  CHECK(Two<float>::written.empty());
}

}  // namespace
}  // namespace plumb::simt_test
