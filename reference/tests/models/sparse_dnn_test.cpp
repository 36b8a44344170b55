#include "reference/models/sparse_dnn/sparse_dnn.hpp"
#include "reference/core/csr.hpp"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "reference/core/error.hpp"
#include "reference/tests/models/sparse_dnn_inputs.hpp"

namespace {

using plumb::Csr;
using plumb::SparseDnn;
using plumb::test::csr;
using plumb::test::identity;
using plumb::test::random_inputs;
using plumb::test::random_weights;

std::vector<float> dense(const Csr<float>& m) {
  std::vector<float> d(static_cast<std::size_t>(m.rows * m.cols), 0.0F);
  for (std::int64_t i = 0; i < m.rows; ++i) {
    for (std::int32_t k = m.row_ptr[i]; k < m.row_ptr[i + 1]; ++k)
      d[static_cast<std::size_t>(i * m.cols + m.col[k])] += m.val[k];
  }
  return d;
}

std::vector<const plumb::SdnnPipeline*> host_pipelines() {
  std::vector<const plumb::SdnnPipeline*> all;
  for (const plumb::SdnnPipeline* p : plumb::sdnn_pipelines()) {
    if (p->space == plumb::Space::host) all.push_back(p);
  }
  return all;
}

plumb::SdnnRun run(const plumb::SdnnPipeline& pipeline, const SparseDnn& net, const Csr<float>& y) {
  return pipeline.plan(net)->run(y, 0, net.layers());
}

}  // namespace

TEST_CASE("one layer by hand: sum, bias, ReLU and cap, in every pipeline") {
  // W(0,0)=2, W(1,0)=1, W(1,1)=-1, W(0,2)=20; neuron 3 has no inputs.  Row (1, 2, 0, 5).
  SparseDnn net{4, -0.5F, 32, {csr(4, {{{0, 2}, {1, 1}}, {{1, -1}}, {{0, 20}}, {}})}};
  const Csr<float> y = csr(4, {{{0, 1}, {1, 2}, {3, 5}}, {}, {{0, 2}}});
  for (const auto* pipeline : host_pipelines()) {
    CAPTURE(pipeline->name);
    const plumb::SdnnRun result = run(*pipeline, net, y);
    // Z = (4, -2, 20, none) and (4, 0, 40, none)
    CHECK(dense(result.y) == std::vector<float>{3.5F, 0, 19.5F, 0, 0, 0, 0, 0, 3.5F, 0, 32, 0});
    CHECK(result.active == std::vector<std::int64_t>{2, 2});
    CHECK(plumb::categories(result.y) == std::vector<std::int32_t>{1, 3});
  }
}

TEST_CASE(
    "a positive bias is added only where Z is not 0: not to empty columns, inactive rows or sums that "
    "cancel") {
  // neuron 0: y0 + y1; neuron 1: y0 - y1; neuron 2: nothing
  SparseDnn net{3, 0.25F, 32, {csr(3, {{{0, 1}, {1, 1}}, {{0, 1}, {1, -1}}, {}})}};
  const Csr<float> y = csr(3, {{{0, 1}, {1, 1}}, {}, {{1, 3}}, {{1, 0.125F}}});
  for (const auto* pipeline : host_pipelines()) {
    CAPTURE(pipeline->name);
    // row 3: Z = (0.125, -0.125): the bias lifts a negative sum above 0
    CHECK(dense(run(*pipeline, net, y).y) ==
          std::vector<float>{2.25F, 0, 0, 0, 0, 0, 3.25F, 0, 0, 0.375F, 0.125F, 0});
  }
}

TEST_CASE("NaN stays NaN and counts as a non-zero") {
  SparseDnn net{2, -1, 32, {identity(2), identity(2)}};
  const Csr<float> y = csr(2, {{{0, std::numeric_limits<float>::quiet_NaN()}}, {{1, 1}}});
  for (const auto* pipeline : host_pipelines()) {
    if (std::string(pipeline->name).rfind("dense", 0) == 0) continue;  // 0 * NaN spreads over a dense row
    CAPTURE(pipeline->name);
    const plumb::SdnnRun result = run(*pipeline, net, y);
    CHECK(plumb::categories(result.y) == std::vector<std::int32_t>{1});
    CHECK(std::isnan(dense(result.y)[0]));
  }
}

TEST_CASE(
    "rows become inactive in different layers: row i with input v loses 1 per layer, so it is active for v "
    "layers") {
  constexpr std::int64_t kLayers = 90;  // beyond two of the stages after which survivors share new chunks
  SparseDnn net{5, -1, 200, {}};
  for (std::int64_t l = 0; l < kLayers; ++l) net.gather.push_back(identity(5));
  for (const std::int64_t rows : {1, 15, 16, 17, 63, 64, 65, 1300}) {
    Csr<float> y;
    y.rows = rows;
    y.cols = 5;
    std::vector<float> want(static_cast<std::size_t>(rows * 5), 0.0F);
    std::vector<std::int64_t> active(kLayers + 1, 0);
    for (std::int64_t i = 0; i < rows; ++i) {
      const std::int64_t value = i * 37 % 101;  // 0..100, scattered
      if (value > 0) {
        y.col.push_back(static_cast<std::int32_t>(i % 5));
        y.val.push_back(static_cast<float>(value));
      }
      y.row_ptr.push_back(static_cast<std::int32_t>(y.col.size()));
      for (std::int64_t l = 0; l <= kLayers; ++l) active[static_cast<std::size_t>(l)] += value > l;
      if (value > kLayers)
        want[static_cast<std::size_t>(i * 5 + i % 5)] = static_cast<float>(value - kLayers);
    }
    for (const auto* pipeline : host_pipelines()) {
      CAPTURE(pipeline->name);
      CAPTURE(rows);
      const plumb::SdnnRun result = run(*pipeline, net, y);
      CHECK(dense(result.y) == want);
      CHECK(result.active == active);
    }
  }
}

TEST_CASE("wide layers, whose tiles hold 32 or 16 rows, give the same answers") {
  for (const std::int64_t n : {3000, 5000, 40000}) {
    SparseDnn net{n, -1, 32, {}};
    Csr<float> shift = identity(n);  // neuron j gathers from j + 1, the last from 0
    for (std::int64_t j = 0; j < n; ++j)
      shift.col[static_cast<std::size_t>(j)] = static_cast<std::int32_t>((j + 1) % n);
    for (int l = 0; l < 3; ++l) net.gather.push_back(shift);
    Csr<float> y;
    y.rows = 70;
    y.cols = n;
    for (std::int32_t i = 0; i < 70; ++i) {
      y.col.push_back(i * 41 % static_cast<std::int32_t>(n));
      y.val.push_back(static_cast<float>(i % 6));
      y.row_ptr.push_back(i + 1);
    }
    const plumb::SdnnRun result = run(plumb::kSdnnCacheBlocked, net, y);
    std::vector<std::int32_t> want;
    for (std::int32_t i = 0; i < 70; ++i) {
      if (i % 6 > 3) want.push_back(i + 1);
    }
    CHECK(plumb::categories(result.y) == want);
    REQUIRE(result.y.nnz() == static_cast<std::int64_t>(want.size()));
    CHECK(result.y.col[0] == (4 * 41 - 3 + n) % n);  // input 5: value 4, moved three places down
    CHECK(result.y.val[0] == 1);
  }
}

TEST_CASE(
    "random networks, biases of either sign, any cap: every layer of every pipeline is within its bound") {
  constexpr float kNoCap = std::numeric_limits<float>::infinity();
  for (const auto& settings : {std::pair{-0.05F, 32.0F}, {0.1F, 1.5F}, {0.0F, kNoCap}}) {
    const float bias = settings.first, cap = settings.second;  // clang 14 captures no structured bindings
    SparseDnn net{37, bias, cap, {}};
    for (std::uint64_t l = 0; l < 5; ++l) net.gather.push_back(random_weights(37, 9, 100 + l));
    plumb::validate(net);
    const Csr<float> y = random_inputs(131, 37, 7);
    for (const auto* pipeline : host_pipelines()) {
      CAPTURE(pipeline->name);
      CAPTURE(bias);
      const auto plan = pipeline->plan(net);
      const plumb::SdnnCheck check = plumb::check_run(net, *plan, y);
      for (const auto& layer : check.layers) {
        CHECK(layer.compared == 131 * 37);
        CHECK(layer.misses == 0);
      }
      CHECK(check.ids == plumb::categories(plan->run(y, 0, net.layers()).y));
    }
  }
}

TEST_CASE(
    "the judge notices a lost edge, a bias everywhere, a cap before the bias, swapped rows, NaN, and a "
    "negative value") {
  SparseDnn net{37, 0.1F, 1.5F, {random_weights(37, 9, 100)}};
  const Csr<float> y = random_inputs(40, 37, 7);
  const Csr<float> right = run(plumb::kSdnnCacheBlocked, net, y).y;
  REQUIRE(plumb::judge_layer(net, 0, y, right, 0, 40).misses == 0);
  const auto judge = [&](const Csr<float>& wrong) { return plumb::judge_layer(net, 0, y, wrong, 0, 40); };

  SparseDnn fault = net;
  fault.gather[0].val[20] = 0;
  CHECK(judge(run(plumb::kSdnnCacheBlocked, fault, y).y).misses > 0);

  Csr<float> everywhere = right;  // the bias also where there is nothing: an empty row gets values
  everywhere.col.insert(everywhere.col.begin() + everywhere.row_ptr[3], 5);
  everywhere.val.insert(everywhere.val.begin() + everywhere.row_ptr[3], 0.1F);
  for (std::size_t i = 4; i < everywhere.row_ptr.size(); ++i) ++everywhere.row_ptr[i];
  CHECK(judge(everywhere).misses == 1);

  Csr<float> cap_first = right;
  bool changed = false;
  for (float& v : cap_first.val) {
    if (v == 1.5F) v = 1.6F, changed = true;
  }
  REQUIRE(changed);
  CHECK(judge(cap_first).misses > 0);

  Csr<float> nan = right;
  nan.val[10] = std::numeric_limits<float>::quiet_NaN();
  CHECK(judge(nan).misses == 1);
  CHECK(std::isinf(judge(nan).worst));

  Csr<float> negative = right;
  negative.val[10] = -negative.val[10];
  CHECK(judge(negative).misses == 1);

  Csr<float> moved = plumb::slice_rows(right, 1, 40);  // a stale map: every row one too early
  moved.row_ptr.push_back(moved.row_ptr.back());
  ++moved.rows;
  CHECK(judge(moved).misses > 20);
}

TEST_CASE("an input on an unstable fixed point is undecidable, its neighbours are not") {
  // y -> 2 y - 0.25: 0.25 stays 0.25, everything else runs to 0 or to the cap
  SparseDnn net{1, -0.25F, 32, {}};
  for (int l = 0; l < 40; ++l) net.gather.push_back(csr(1, {{{0, 2}}}));
  const Csr<float> y = csr(1, {{{0, 0.25F}}, {{0, 0.249F}}, {{0, 0.251F}}, {}});
  const plumb::SdnnAnswer answer = plumb::reference_run(net, y);
  CHECK(answer.ids == std::vector<std::int32_t>{1, 3});
  CHECK(answer.undecidable == std::vector<std::int32_t>{1});
}

TEST_CASE("the reference and the pipelines give the same answer where nothing is undecidable") {
  SparseDnn net{37, -0.05F, 32, {}};
  for (std::uint64_t l = 0; l < 8; ++l) net.gather.push_back(random_weights(37, 9, 300 + l));
  const Csr<float> y = random_inputs(600, 37, 9);
  const plumb::SdnnAnswer answer = plumb::reference_run(net, y);
  REQUIRE(answer.undecidable.empty());
  CHECK(answer.ids.size() > 100);
  CHECK(answer.ids.size() < 600);
  for (const auto* pipeline : host_pipelines()) {
    CAPTURE(pipeline->name);
    CHECK(plumb::categories(run(*pipeline, net, y).y) == answer.ids);
  }
}

TEST_CASE("networks without rows, without neurons and without layers run") {
  const SparseDnn empty{0, -1, 32, {csr(0, {})}};
  const SparseDnn shallow{2, -1, 32, {}};
  const SparseDnn one{2, -1, 32, {identity(2)}};
  for (const auto* pipeline : host_pipelines()) {
    CAPTURE(pipeline->name);
    CHECK(run(*pipeline, empty, csr(0, {{}, {}})).y.rows == 2);
    CHECK(dense(run(*pipeline, shallow, csr(2, {{{1, 7}}})).y) == std::vector<float>{0, 7});
    CHECK(run(*pipeline, one, csr(2, {})).y.rows == 0);
  }
}

TEST_CASE("a row whose values sum to less than 1 is a category, and ids count from 1") {
  CHECK(plumb::categories(csr(2, {{{0, 0.25F}}, {}, {{0, 0.5F}, {1, -0.5F}}, {{1, 0.0F}}})) ==
        std::vector<std::int32_t>{1, 3});
}

TEST_CASE("validate names what is wrong") {
  SparseDnn net{2, -1, 32, {identity(2)}};
  CHECK_NOTHROW(plumb::validate(net));
  SparseDnn wrong = net;
  wrong.cap = -1;
  CHECK_THROWS_WITH_AS(plumb::validate(wrong), "sparse DNN: cap must not be negative: -1", plumb::Error);
  wrong = net;
  wrong.gather[0].col[1] = 2;
  CHECK_THROWS_WITH_AS(plumb::validate(wrong), "sparse DNN, layer 1: column 2 of entry 1 lies outside 0..1",
                       plumb::Error);
  wrong = net;
  wrong.gather[0].val[0] = std::numeric_limits<float>::infinity();
  CHECK_THROWS_AS(plumb::validate(wrong), plumb::Error);
  CHECK_THROWS_WITH_AS(plumb::validate_inputs(net, csr(3, {{}})),
                       "sparse DNN: inputs have 3 features, the network 2 neurons", plumb::Error);
}

TEST_CASE("transpose twice is the same matrix") {
  const Csr<float> m = csr(3, {{{0, 1}, {2, 2}}, {{1, 3}}});
  const Csr<float> t = plumb::transposed(m);
  CHECK(t.rows == 3);
  CHECK(dense(t) == std::vector<float>{1, 0, 0, 3, 2, 0});
  CHECK(dense(plumb::transposed(t)) == dense(m));
}
