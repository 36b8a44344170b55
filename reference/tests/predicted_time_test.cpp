// The model of the time on several GPUs: its limits, what must not grow, and the page that shows its figures.
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "reference/models/predicted_time.hpp"
#include "reference/tests/random_gcn.hpp"

using namespace plumb;

namespace {

/// Two layers of 8 and 4 edges.
SparseDnn two_layers() {
  SparseDnn net;
  net.neurons = 4;
  net.gather = {{4, 4, {0, 2, 4, 6, 8}, std::vector<std::int32_t>(8), std::vector<float>(8, 1)},
                {4, 4, {0, 1, 2, 3, 4}, std::vector<std::int32_t>(4), std::vector<float>(4, 1)}};
  return net;
}

SdnnWork official_like() { return {60000, 120, 2.2e5, 6.6e5, 3.9e6}; }

/// A ring: row i gathers i, i + 1 and i + 2, so that every part but the last of several gathers two rows of the next.
Gcn<float> ring(std::int64_t n, std::int64_t width) {
  Gcn<float> net;
  net.a.rows = net.a.cols = n;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t d = 0; d < 3; ++d) net.a.col.push_back(static_cast<std::int32_t>((i + d) % n));
    net.a.row_ptr.push_back(static_cast<std::int32_t>(net.a.col.size()));
  }
  net.a.val.assign(net.a.col.size(), 1);
  net.x_dense = {n, width, std::vector<float>(static_cast<std::size_t>(n * width))};
  net.weights = {{width, width, std::vector<float>(static_cast<std::size_t>(width * width))}};
  net.biases = {{}};
  return net;
}

}  // namespace

TEST_CASE("predicted time: edges of an input have the mean and the deviation of what a sample computed") {
  SdnnRun sample;
  sample.active = {10, 4, 3};
  const SdnnWork work = work_of(two_layers(), sample, 1000);
  CHECK(work.inputs == 1000);
  CHECK(work.layers == 2);
  CHECK(work.most == 12);
  CHECK(work.mean == doctest::Approx(8 + 0.4 * 4));
  CHECK(work.deviation == doctest::Approx(std::sqrt(0.4 * 0.6) * 4));
  sample.absorbed = {0, 4, 4};
  const SdnnWork left = work_of(two_layers(), sample, 1000);
  CHECK(left.layers == 1);
  CHECK(left.mean == 8);
  CHECK(left.deviation == 0);
  sample.active = {0, 0, 0};
  CHECK(predict(find_chip("H200"), work_of(two_layers(), sample, 0), 3).seconds() == 0);
}

TEST_CASE(
    "predicted time of a sparse DNN: on one GPU all edges at its rate, beside a launch for each layer") {
  const Chip& chip = find_chip("H200");
  const SdnnWork work = official_like();
  const PredictedTime one = predict(chip, work, 1);
  CHECK(one.launches == doctest::Approx(120 * chip.launch.value));
  CHECK(one.compute == doctest::Approx(60000 * work.mean / chip.edges.value));
  CHECK(one.exchange == 0);
  CHECK(one.balance == 1);
}

TEST_CASE(
    "predicted time of a sparse DNN: falls with every GPU, less than by its share, and the balance with it") {
  const SdnnWork work = official_like();
  PredictedTime before = predict(find_chip("H100"), work, 1);
  const PredictedTime one = before;
  for (int gpus = 2; gpus <= 64; ++gpus) {
    CAPTURE(gpus);
    const PredictedTime now = predict(find_chip("H100"), work, gpus);
    CHECK(now.seconds() < before.seconds());
    CHECK(now.balance < before.balance);
    CHECK(now.compute == doctest::Approx(one.compute / gpus / now.balance));
    before = now;
  }
  SdnnWork equal = work;
  equal.deviation = 0;
  CHECK(predict(find_chip("H100"), equal, 16).balance == 1);
  SdnnWork few = work;  // an input each at most: none costs more than one that stays active throughout
  few.inputs = 3;
  CHECK(predict(find_chip("H100"), few, 64).compute <= few.most / find_chip("H100").edges.value);
}

TEST_CASE(
    "predicted time of a GCN: nothing is exchanged on one GPU, each on several sends what others gather") {
  const Chip& chip = find_chip("H100");
  const Gcn<float> net = ring(4096, 32);
  const PredictedTime one = predict(chip, net, 1), two = predict(chip, net, 2), four = predict(chip, net, 4);
  CHECK(one.exchange == 0);
  CHECK(one.balance == 1);
  CHECK(two.compute == doctest::Approx(one.compute / 2));
  CHECK(four.compute == doctest::Approx(one.compute / 4));
  // two rows of 32 values to one other, and eight launches for each other
  const double bytes = 2 * 32 * 4;
  CHECK(two.exchange ==
        doctest::Approx(chip.exchange_waiting.value + 8 * chip.launch.value + bytes / chip.link.value));
  CHECK(four.exchange - two.exchange == doctest::Approx(16 * chip.launch.value));
}

TEST_CASE("predicted time of a GCN: rows that the cache does not hold take longer") {
  Chip small = find_chip("H100");
  const Gcn<float> net = ring(4096, 32);
  const double cached = predict(small, net, 1).compute;
  small.cache.value = 2048.0 * 32 * 4;  // half of the operand's rows
  const double half = predict(small, net, 1).compute;
  small.cache.value = 0;
  const double none = predict(small, net, 1).compute;
  CHECK(half == doctest::Approx((cached + none) / 2));
  CHECK(none - cached ==
        doctest::Approx(3 * 4096.0 * 128 * (1 / small.gather_memory.value - 1 / small.gather_cached.value)));
}

TEST_CASE("predicted time of a GCN: any network on more GPUs than vertices, X in CSR and fp64") {
  const Gcn<double> net = plumb::test::random_network(20, 4);
  for (const Gcn<double>& n : {net, plumb::test::with_sparse_features(net)}) {
    const double one = predict(find_chip("H200"), n, 1).compute;
    for (const int gpus : {2, 7, 64}) {
      const PredictedTime time = predict(find_chip("H200"), n, gpus);
      CHECK(time.compute <= one);
      CHECK(time.balance <= 1);
      CHECK(time.exchange > 0);
    }
  }
}

TEST_CASE("a chip that the model does not know is refused with those that it knows") {
  CHECK_THROWS_WITH_AS(static_cast<void>(find_chip("H20")),
                       doctest::Contains("chip 'H20' is none of H200, H100; did you mean"), Error);
}

TEST_CASE("docs/results/scaling.md has the figures of every chip") {
  std::ifstream file(PLUMB_DOCS_DIR "/results/scaling.md");
  REQUIRE_MESSAGE(file, "docs/results/scaling.md cannot be read");
  std::stringstream page;
  page << file.rdbuf();
  for (const Chip& chip : chips()) {
    each_figure(chip, [&](const char* name, const ChipFigure& f) {
      const std::string row =
          fmt::format("| {} | {} | {:.4g} | {} | {} |", chip.name, name, f.value, f.unit, f.source);
      CHECK_MESSAGE(page.str().find(row) != std::string::npos, "not there: " << row);
    });
  }
}
