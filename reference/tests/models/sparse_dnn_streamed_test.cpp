// The sparse DNN within bounded memory on the host: layers made one by one, inputs in batches, the same bits.
#include "reference/models/sparse_dnn/streamed.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "reference/core/error.hpp"
#include "reference/core/memory.hpp"
#include "reference/core/row_source.hpp"
#include "reference/models/sparse_dnn/judge.hpp"
#include "reference/models/sparse_dnn/packed_layers.hpp"
#include "reference/tests/allocated_bytes.hpp"
#include "reference/tests/models/copied_layers.hpp"
#include "reference/tests/models/sparse_dnn_inputs.hpp"

namespace {

using plumb::Csr;
using plumb::SparseDnn;
using plumb::test::CopiedLayers;
using plumb::test::csr;
using plumb::test::random_inputs;
using plumb::test::random_weights;

constexpr std::int64_t kMiB = 1 << 20;

/// The bias keeps rows active to the last layer.
SparseDnn random_network(std::int64_t neurons, std::int64_t layers) {
  SparseDnn net{neurons, 0.25F, 4, {}};
  for (std::int64_t l = 0; l < layers; ++l)
    net.gather.push_back(random_weights(neurons, 8, 40 + static_cast<std::uint64_t>(l)));
  return net;
}

bool same_answer(const plumb::SdnnRun& a, const plumb::SdnnRun& b) {
  return a.y.rows == b.y.rows && a.y.row_ptr == b.y.row_ptr && a.y.col == b.y.col && a.y.val == b.y.val &&
         a.active == b.active;
}

/// Bytes that a plan takes for layers that are held.
std::int64_t packed_bytes(const SparseDnn& net) {
  std::int64_t sum = 0;
  for (std::int64_t l = 0; l < net.layers(); ++l)
    sum += plumb::PackedLayers::bytes_of_layer(net.neurons, net.edges(l, l + 1));
  return sum;
}

/// Bytes that the tiles of all threads take at so many neurons, and packing a layer: a bound below is refused.
std::int64_t tiles(std::int64_t neurons) { return omp_get_max_threads() * (18 * 64 * 4 + 64) * neurons; }

std::string refusal(const SparseDnn& net, std::int64_t memory) {
  try {
    (void)plumb::kSdnnCacheBlocked.plan_streamed(net, memory);
  } catch (const plumb::Error& e) { return e.what(); }
  return "";
}

}  // namespace

TEST_CASE("layers made one by one and inputs in batches give the bits of a network that is held") {
  const SparseDnn net = random_network(96, 40);
  const Csr<float> y = random_inputs(70, 96, 5);
  const plumb::SdnnRun want = plumb::kSdnnCacheBlocked.plan(net)->run(y, 0, 40);
  REQUIRE(want.active.back() > 30);
  SparseDnn streamed{96, net.bias, net.cap, {}};
  const auto layers = std::make_shared<CopiedLayers>(net);
  streamed.source = layers;
  CHECK(streamed.layers() == 40);
  CHECK_THROWS_AS((void)plumb::kSdnnCacheBlocked.plan(streamed), plumb::Error);
  CHECK(streamed.edges(3, 9) == net.edges(3, 9));
  const std::int64_t memory = tiles(96) + kMiB / 4;
  const auto plan = plumb::kSdnnCacheBlocked.plan_streamed(streamed, memory);
  const plumb::SdnnRun run = plan->run(y, 0, 40);
  CHECK(same_answer(run, want));
  CHECK(run.layer_seconds.size() == 40);
  REQUIRE(run.streaming.has_value());
  CHECK(run.streaming->memory == memory);
  CHECK(run.streaming->window >= 1);
  CHECK(run.streaming->window < 40);
  CHECK(run.streaming->batches > 1);
  CHECK(layers->made == 40 * run.streaming->batches);
  CHECK(run.streaming->loaded_bytes == run.streaming->batches * net.held_bytes());
  CHECK(run.streaming->waited_seconds <= run.streaming->load_seconds);
  CHECK(run.streaming->hidden() >= 0);

  const plumb::SdnnRun part = plan->run(want.y, 7, 12);
  CHECK(same_answer(part, plumb::kSdnnCacheBlocked.plan(net)->run(want.y, 7, 12)));
  CHECK(same_answer(plan->run(y, 5, 5), plumb::kSdnnCacheBlocked.plan(net)->run(y, 5, 5)));
  CHECK(plan->run(csr(96, {}), 0, 40).y.rows == 0);
}

namespace {

/// Runs of `net` within several bounds allocate no more, and answer as the whole.
void check_bounds(const SparseDnn& net, const Csr<float>& y) {
  const plumb::SdnnRun want = plumb::kSdnnCacheBlocked.plan(net)->run(y, 0, 40);
  SparseDnn made{net.neurons, net.bias, net.cap, {}};
  made.source = std::make_shared<CopiedLayers>(net);
  for (const SparseDnn* const one : {static_cast<const SparseDnn*>(&made), &net}) {
    const std::int64_t before =
        plumb::bytes_of(y) + one->held_bytes();  // allocated already, and part of the bound
    for (const std::int64_t more : {kMiB, 2 * kMiB, 4 * kMiB}) {
      const std::int64_t plan = one->source == nullptr ? packed_bytes(*one) : 0;
      const std::int64_t memory = tiles(200) + before + plan + more;
      CAPTURE(net.bias);
      CAPTURE(memory);
      CAPTURE(one->source != nullptr);
      const plumb::test::AllocatedBytes allocated;
      const plumb::SdnnRun run = plumb::kSdnnCacheBlocked.plan_streamed(*one, memory)->run(y, 0, 40);
      CHECK(before + allocated.peak() <= memory);
      CHECK(same_answer(run, want));
      CHECK(run.streaming->batches > 1);
    }
  }
}

}  // namespace

TEST_CASE("what a plan allocates stays within its bound, whatever rows do") {
  const SparseDnn stays = random_network(200, 40);
  SparseDnn leaves = stays;
  leaves.bias = -0.6F;
  const Csr<float> y = random_inputs(600, 200, 5);
  for (const SparseDnn& net : {stays, leaves}) check_bounds(net, y);
}

/// Rows whose neuron 0 is set go on; the others end after the third layer.
SparseDnn few_stay(std::int64_t neurons, std::int64_t layers) {
  SparseDnn net{neurons, -0.5F, 32, {}};
  for (std::int64_t l = 0; l < layers; ++l) {
    std::vector<std::vector<std::pair<int, float>>> rows(static_cast<std::size_t>(neurons));
    for (int j = 0; j < static_cast<int>(neurons); ++j)
      rows[static_cast<std::size_t>(j)] = {{j == 0 || l == 2 ? 0 : j, 1.25F}};
    net.gather.push_back(csr(neurons, rows));
  }
  return net;
}

TEST_CASE("rows that few batches keep are put together, and the other layers are made once for all") {
  const SparseDnn net = few_stay(64, 40);
  std::vector<std::vector<std::pair<int, float>>> rows;
  for (int i = 0; i < 500; ++i)
    rows.push_back({{i % 9 == 4 ? 0 : 1 + i % 60, static_cast<float>(2 + i % 5)}});
  const Csr<float> y = csr(64, rows);
  const plumb::SdnnRun want = plumb::kSdnnCacheBlocked.plan(net)->run(y, 0, 40);
  REQUIRE(want.active.back() == 56);
  SparseDnn streamed{64, net.bias, net.cap, {}};
  const auto layers = std::make_shared<CopiedLayers>(net);
  streamed.source = layers;
  const std::int64_t memory = tiles(64) + plumb::bytes_of(y) + kMiB / 4;
  const plumb::SdnnRun run = plumb::kSdnnCacheBlocked.plan_streamed(streamed, memory)->run(y, 0, 40);
  CHECK(same_answer(run, want));
  REQUIRE(run.streaming->batches > 3);
  CHECK(run.streaming->regrouped == 1);
  CHECK(layers->made == 8 * run.streaming->batches + 32);
}

/// Rows of a matrix that is said not to be held.
class MadeRows final : public plumb::HeldRows {
 public:
  using HeldRows::HeldRows;
  [[nodiscard]] Csr<float> make(std::int64_t first, std::int64_t last) const override {
    most = std::max(most, last - first);
    return HeldRows::make(first, last);
  }
  [[nodiscard]] const Csr<float>* held() const override { return nullptr; }
  [[nodiscard]] std::int64_t held_bytes() const override { return 0; }
  mutable std::int64_t most = 0;
};

TEST_CASE("inputs that are made are made batch by batch, also with a bias for each neuron") {
  SparseDnn net = random_network(64, 20);
  const Csr<float> y = random_inputs(300, 64, 6);
  for (const bool biases : {false, true}) {
    if (biases) net.biases.assign(20, std::vector<float>(64, 0.01F));
    const MadeRows rows(y);
    const std::int64_t memory = tiles(65) + 3 * net.held_bytes() + 3 * kMiB / 8;
    const plumb::SdnnRun run = plumb::kSdnnCacheBlocked.plan_streamed(net, memory)->run_rows(rows, 0, 20);
    CHECK(same_answer(run, plumb::kSdnnCacheBlocked.plan(net)->run(y, 0, 20)));
    CHECK(rows.most == run.streaming->batch);
    CHECK(rows.most < 300);
    CHECK(same_answer(plumb::kSdnnCsrSpmm.plan(net)->run_rows(rows, 0, 20), run));
  }
}

TEST_CASE("no layer is made any more once no row is active") {
  SparseDnn net{16, -1, 32, {}};
  net.gather.assign(400, plumb::test::identity(16));
  SparseDnn streamed{16, net.bias, net.cap, {}};
  const auto layers = std::make_shared<CopiedLayers>(net);
  streamed.source = layers;
  const Csr<float> y = csr(16, {{{3, 2.5F}}, {}, {{1, 7}, {2, 1}}});
  const plumb::SdnnRun run =
      plumb::kSdnnCacheBlocked.plan_streamed(streamed, tiles(16) + kMiB)->run(y, 0, 400);
  CHECK(same_answer(run, plumb::kSdnnCacheBlocked.plan(net)->run(y, 0, 400)));
  CHECK(run.layer_seconds.size() == 400);
  CHECK(layers->made < 400);
}

TEST_CASE("a network that is held runs in batches, and its weights count") {
  const SparseDnn net = random_network(64, 20);
  const Csr<float> y = random_inputs(90, 64, 6);
  const std::int64_t memory = tiles(64) + net.held_bytes() + packed_bytes(net) + kMiB / 8;
  const plumb::SdnnRun run = plumb::kSdnnCacheBlocked.plan_streamed(net, memory)->run(y, 0, 20);
  CHECK(same_answer(run, plumb::kSdnnCacheBlocked.plan(net)->run(y, 0, 20)));
  CHECK(run.streaming->batches > 1);
  CHECK(run.streaming->window == 20);
  CHECK(run.streaming->loaded_bytes == 0);
  CHECK(run.streaming->hidden() == 1);
  CHECK(refusal(net, net.held_bytes()).find("weights of 20 layers") != std::string::npos);
}

TEST_CASE("the check judges layers that are made one by one, with a bias for each neuron too") {
  std::vector<Csr<float>> gather;
  std::vector<std::vector<float>> biases;
  for (std::uint64_t l = 0; l < 5; ++l) {
    gather.push_back(random_weights(40, 6, 70 + l));
    biases.emplace_back(40, 0.01F * static_cast<float>(l) - 0.02F);
  }
  const SparseDnn net = plumb::square_network(std::move(gather), std::move(biases), 4);
  REQUIRE_FALSE(net.biases.empty());
  const Csr<float> y = random_inputs(33, 40, 5);
  SparseDnn streamed{40, 0, 4, {}, net.biases};
  streamed.source = std::make_shared<CopiedLayers>(net);
  const auto plan = plumb::kSdnnCacheBlocked.plan_streamed(streamed, tiles(41) + kMiB);
  const plumb::SdnnRun run = plan->run(y, 0, 5);
  plumb::SdnnExpectation expectation;
  expectation.check = true;
  CHECK_FALSE(plumb::judge_sdnn(streamed, *plan, y, run, expectation).differs());
  CHECK(same_answer(run, plumb::kSdnnCacheBlocked.plan(net)->run(y, 0, 5)));
}

TEST_CASE("too little memory is refused with what is needed, inputs included") {
  const SparseDnn net = random_network(96, 12);
  SparseDnn streamed{96, net.bias, net.cap, {}};
  streamed.source = std::make_shared<CopiedLayers>(net);
  const std::string text = refusal(streamed, kMiB / 1024);
  CAPTURE(text);
  CHECK(text.find("sparse DNN: 1 KiB of memory are too little: weights of 2 layers") == 0);
  CHECK(text.find("a batch of 1 inputs, need at least ") != std::string::npos);
  const auto plan = plumb::kSdnnCacheBlocked.plan_streamed(streamed, tiles(96) + kMiB / 4);
  CHECK_THROWS_AS((void)plan->run(random_inputs(2000, 96, 5), 0, 12), plumb::Error);
}

/// The amount that a refusal asks for, and 0 where the run was not refused.
std::int64_t amount_asked_for(const SparseDnn& net, const plumb::MemoryBound& memory, const Csr<float>& y) {
  try {
    (void)plumb::kSdnnCacheBlocked.plan_streamed(net, memory)->run(y, 0, net.layers());
    return 0;
  } catch (const plumb::Error& e) {
    const std::string text = e.what(), words = "need at least ";
    const auto at = text.find(words);
    REQUIRE_MESSAGE(at != std::string::npos, text);
    CHECK(text.find("weights of 2 layers") != std::string::npos);
    const auto number = at + words.size();
    return std::stoll(text.substr(number)) * (text.find(" KiB", number) != std::string::npos ? 1024 : kMiB);
  }
}

TEST_CASE(
    "a refused run asks for the least bound, with which it gets further; windows get shorter for answers") {
  const SparseDnn net = random_network(96, 20);
  const Csr<float> y = random_inputs(8, 96, 5);
  const plumb::SdnnRun want = plumb::kSdnnCacheBlocked.plan(net)->run(y, 0, 20);
  SparseDnn streamed{96, net.bias, net.cap, {}};
  streamed.source = std::make_shared<CopiedLayers>(net);
  for (const std::int64_t program : {std::int64_t{0}, 5 * kMiB}) {
    plumb::MemoryBound memory(program + 1024);
    memory.program = program, memory.allocator_share = program > 0 ? 64 : 0;
    int refusals = 0;
    for (std::int64_t more = 0; (more = amount_asked_for(streamed, memory, y)) != 0; ++refusals) {
      CAPTURE(memory.bytes);
      REQUIRE(more > memory.bytes);
      memory.bytes = more;
    }
    CHECK(refusals > 1);  // the inputs are not known at first, and answers later
    plumb::MemoryBound less = memory;
    less.bytes -= 2048;  // amounts are rounded up to KiB
    CHECK(amount_asked_for(streamed, less, y) > less.bytes);
    // a layer more, and one that is made beside it, fit beside the first row, and not beside all answers
    const std::int64_t layer = 2 * plumb::largest_layer_bytes(net) +
                               plumb::PackedLayers::bytes_of_layer(96, plumb::largest_layer_edges(net));
    memory.bytes += layer - (3 << 10);
    REQUIRE(layer > memory.for_data() - less.for_data());
    const plumb::SdnnRun run =
        plumb::kSdnnCacheBlocked.plan_streamed(streamed, memory)->run(y, 0, net.layers());
    CHECK(same_answer(run, want));
    CHECK(run.streaming->memory == memory.bytes);
    CHECK(run.streaming->window == 2);
  }
}

TEST_CASE("the least bound for so many bytes of data leaves them, and one byte less does not") {
  for (const std::int64_t share : {0, 2, 64}) {
    for (std::int64_t data = 1; data < 400; ++data) {
      plumb::MemoryBound bound;
      bound.program = 7, bound.allocator_share = share;
      bound.bytes = bound.least_for(data);
      CHECK(bound.for_data() >= data);
      --bound.bytes;
      CHECK(bound.for_data() < data);
    }
  }
}

TEST_CASE("what a source cannot give, or gives malformed, ends the run with its error") {
  const SparseDnn net = random_network(32, 30);
  SparseDnn streamed{32, net.bias, net.cap, {}};
  const auto layers = std::make_shared<CopiedLayers>(net);
  layers->broken = 21;
  streamed.source = layers;
  const Csr<float> y = random_inputs(20, 32, 5);
  const auto plan = plumb::kSdnnCacheBlocked.plan_streamed(streamed, tiles(32) + kMiB);
  try {
    (void)plan->run(y, 0, 30);
    FAIL("no error");
  } catch (const plumb::Error& e) { CHECK(std::string(e.what()) == "layer 21 cannot be read"); }
  SparseDnn wrong = net;
  wrong.gather[4].val[0] = std::numeric_limits<float>::infinity();
  streamed.source = std::make_shared<CopiedLayers>(wrong);
  CHECK_THROWS_WITH_AS((void)streamed.layer(4), "sparse DNN, layer 5: a weight is not finite: inf",
                       plumb::Error);
}

TEST_CASE("batches are the largest that fit, whole steps but for the last") {
  const Csr<float> y = random_inputs(100, 16, 9);
  const auto ends = [&](std::int64_t memory) {
    return plumb::batches_within(y, memory, 1000, "this", 8,
                                 [](std::int64_t rows, std::int64_t) { return 10 * rows; });
  };
  CHECK(ends(2000) == std::vector<std::int64_t>{100});
  CHECK(ends(1999) == std::vector<std::int64_t>{96, 100});
  CHECK(ends(1480) == std::vector<std::int64_t>{48, 96, 100});
  CHECK(ends(1080).size() == 13);
  CHECK_THROWS_AS((void)ends(1079), plumb::Error);
  CHECK(plumb::batches_within(csr(16, {}), 10, 0, "this", 8, [](std::int64_t, std::int64_t) { return 1; }) ==
        std::vector<std::int64_t>{0});
}
