// Equal neurons: which they are, and the host's pipeline that computes one of them.
#include "reference/models/sparse_dnn_equal_neurons.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <memory>

#include <doctest/doctest.h>

#include "reference/models/sparse_dnn_absorbing.hpp"
#include "reference/models/sparse_dnn_judge.hpp"
#include "reference/models/sparse_dnn_parts.hpp"
#include "reference/tests/copied_layers.hpp"
#include "reference/tests/equal_neurons_networks.hpp"

namespace {

using plumb::Csr;
using plumb::MergedLayers;
using plumb::SparseDnn;
using plumb::test::CopyChange;
using plumb::test::csr;
using plumb::test::random_inputs;

using Places = std::vector<std::vector<std::int32_t>>;

bool same_bits(const plumb::SdnnRun& a, const plumb::SdnnRun& b) {
  const auto equal = [](float x, float y) {
    return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y);
  };
  return a.y.row_ptr == b.y.row_ptr && a.y.col == b.y.col && a.active == b.active &&
         std::equal(a.y.val.begin(), a.y.val.end(), b.y.val.begin(), b.y.val.end(), equal);
}

/// Neurons have one place where their lists of (place of the input, bits of the weight) are one.
Places places_by_definition(const SparseDnn& net) {
  Places all(1, std::vector<std::int32_t>(static_cast<std::size_t>(net.neurons)));
  std::iota(all[0].begin(), all[0].end(), 0);
  for (const Csr<float>& w : net.gather) {
    std::map<std::vector<std::pair<std::int32_t, std::uint32_t>>, std::int32_t> known;
    std::vector<std::int32_t> here;
    for (std::size_t j = 0; j < static_cast<std::size_t>(w.rows); ++j) {
      std::vector<std::pair<std::int32_t, std::uint32_t>> edges;
      for (auto k = static_cast<std::size_t>(w.row_ptr[j]); k < static_cast<std::size_t>(w.row_ptr[j + 1]);
           ++k)
        edges.emplace_back(all.back()[static_cast<std::size_t>(w.col[k])],
                           std::bit_cast<std::uint32_t>(w.val[k]));
      here.push_back(known.try_emplace(edges, static_cast<std::int32_t>(known.size())).first->second);
    }
    all.push_back(here);
  }
  return all;
}

SparseDnn copied_network(std::uint64_t seed, std::int64_t neurons, std::int64_t layers) {
  SparseDnn net{neurons, -0.02F, 2, {}};
  for (std::int64_t l = 0; l < layers; ++l)
    net.gather.push_back(plumb::test::random_weights(neurons, 6, 100 * seed + static_cast<std::uint64_t>(l)));
  plumb::test::CopiedNeurons(seed).plant(net);
  return net;
}

/// A layer by its definition, terms in the order of the edges, of rows whose columns ascend.
Csr<float> computed_layer(const SparseDnn& net, std::size_t l, const Csr<float>& y) {
  const Csr<float>& w = net.gather[l];
  plumb::sdnn::FinishedRows done;
  for (std::int32_t r = 0; r < static_cast<std::int32_t>(y.rows); ++r) {
    std::vector<float> in(static_cast<std::size_t>(w.cols), 0);
    for (std::int32_t k = y.row_ptr[static_cast<std::size_t>(r)];
         k < y.row_ptr[static_cast<std::size_t>(r) + 1]; ++k)
      in[static_cast<std::size_t>(y.col[static_cast<std::size_t>(k)])] = y.val[static_cast<std::size_t>(k)];
    done.append(r, w.rows, [&](std::int64_t j) {
      float z = 0;
      for (auto k = static_cast<std::size_t>(w.row_ptr[static_cast<std::size_t>(j)]);
           k < static_cast<std::size_t>(w.row_ptr[static_cast<std::size_t>(j) + 1]); ++k)
        z += w.val[k] * in[static_cast<std::size_t>(w.col[k])];
      return plumb::sdnn::activate(z, net.bias, net.cap);
    });
  }
  return plumb::sdnn::build({done}, y.rows, w.rows);
}

bool same_matrix(const Csr<float>& a, const Csr<float>& b) {
  return a.rows == b.rows && a.cols == b.cols && a.row_ptr == b.row_ptr && a.col == b.col && a.val == b.val;
}

std::int64_t computed_neurons(const plumb::SdnnRun& run) {
  std::int64_t sum = 0;
  for (const plumb::SdnnLayerPart& part : run.computed) sum += part.neurons;
  return sum;
}

}  // namespace

TEST_CASE("neurons are equal with the same inputs and weights in the same order, and in nothing less") {
  // 1 is a copy of 0; the others differ from it in one weight, the order, an edge of weight 0, and an input
  const Csr<float> w = csr(6, {{{0, 1}, {1, 2}},
                               {{0, 1}, {1, 2}},
                               {{0, 1}, {1, 3}},
                               {{1, 2}, {0, 1}},
                               {{0, 1}, {1, 2}, {2, 0}},
                               {{0, 1}, {2, 2}}});
  const SparseDnn net{6, 0, 1, {w}};
  const MergedLayers merged = plumb::merge_equal_neurons(net);
  CHECK(merged.place[0] == std::vector<std::int32_t>{0, 1, 2, 3, 4, 5});
  CHECK(merged.place[1] == std::vector<std::int32_t>{0, 0, 1, 2, 3, 4});
  CHECK(merged.widths == std::vector<std::int64_t>{6, 5});
  CHECK(merged.layer(0).row_ptr == std::vector<std::int32_t>{0, 2, 4, 6, 9, 11});
  // weights are compared by their bits, and neurons without edges are equal
  const SparseDnn zeros{3, 0, 1, {csr(3, {{{0, 0.0F}}, {{0, -0.0F}}, {}}), csr(3, {{}, {}, {{0, 1}}})}};
  CHECK(plumb::merge_equal_neurons(zeros).widths == std::vector<std::int64_t>{3, 3, 2});
}

TEST_CASE("neurons that read equal neurons are equal, layer after layer; repeated inputs stay") {
  // 0 and 1 are equal, and so are 2 and 3; then 0 reads 0 and 2, and 1 reads 1 and 3; 2 reads 1 twice, and 3 both of 0 and 1
  const Csr<float> first = csr(4, {{{0, 1}}, {{0, 1}}, {{1, 1}}, {{1, 1}}});
  const Csr<float> second = csr(4, {{{0, 1}, {2, 1}}, {{1, 1}, {3, 1}}, {{1, 1}, {1, 1}}, {{0, 1}, {1, 1}}});
  const SparseDnn net{4, 0, 8, {first, second, plumb::test::identity(4)}};
  const MergedLayers merged = plumb::merge_equal_neurons(net);
  CHECK(merged.widths == std::vector<std::int64_t>{4, 2, 2, 2});
  CHECK(merged.place[2] == std::vector<std::int32_t>{0, 0, 1, 1});
  CHECK(merged.layer(1).col == std::vector<std::int32_t>{0, 1, 0, 0});
  CHECK(merged.layer(2).nnz() == 2);
}

TEST_CASE("what is found is what the definition says, however few bits of the hashes are compared") {
  std::int64_t equal = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const auto neurons = static_cast<std::int64_t>(1 + plumb::random_below(seed, 7, 0, 80));
    const SparseDnn net = copied_network(seed, neurons, 5);
    const Places want = places_by_definition(net);
    for (const int bits : {64, 5, 0}) CHECK(plumb::merge_equal_neurons(net, bits).place == want);
    for (const std::int64_t width : plumb::merge_equal_neurons(net).widths) equal += neurons - width;
  }
  CHECK(equal > 2000);
}

TEST_CASE("a network without equal neurons is not copied") {
  const SparseDnn net{5, 0, 1, {plumb::test::identity(5), plumb::test::identity(5)}};
  const MergedLayers merged = plumb::merge_equal_neurons(net);
  CHECK(&merged.layer(0) == &net.gather[0]);
  CHECK(&merged.layer(1) == &net.gather[1]);
}

TEST_CASE("a network of places computes the bits of all neurons, layer by layer, of layers held or made") {
  std::int64_t smaller = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const SparseDnn net = copied_network(seed, 40, 4);
    SparseDnn made{net.neurons, net.bias, net.cap, {}};
    made.source = std::make_shared<plumb::test::CopiedLayers>(net);
    for (const SparseDnn* all : std::vector<const SparseDnn*>{&net, &made}) {
      MergedLayers merged = plumb::merge_equal_neurons(*all);
      const plumb::PlacesNetwork places = plumb::network_of_places(merged);
      CHECK(places.entry == 40);
      CHECK(places.net.neurons == *std::max_element(merged.widths.begin() + 1, merged.widths.end()));
      smaller += places.entry - places.net.neurons;
      Csr<float> want = random_inputs(9, 40, seed), got = want;
      for (std::size_t l = 0; l < 4; ++l) {
        want = computed_layer(net, l, want);
        got = computed_layer(places.net, l, got);
        CHECK(same_matrix(plumb::rows_by_neuron(got, merged.place[l + 1]), want));
        CHECK(same_matrix(plumb::rows_by_place(want, merged.place[l + 1], places.net.neurons), got));
      }
    }
  }
  CHECK(smaller > 100);
  const SparseDnn net = copied_network(1, 10, 9);
  const auto source = std::make_shared<plumb::test::CopiedLayers>(net);
  SparseDnn made{net.neurons, net.bias, net.cap, {}};
  made.source = source;
  CHECK(plumb::merge_equal_neurons(made).place == plumb::merge_equal_neurons(net).place);
  CHECK(source->made == 9);
  source->broken = 5;
  CHECK_THROWS_WITH((void)plumb::merge_equal_neurons(made), "layer 5 cannot be read");
  const SparseDnn without{3, 0, 1, {}};
  MergedLayers none = plumb::merge_equal_neurons(without);
  CHECK(plumb::network_of_places(none).net.neurons == 3);
}

TEST_CASE("rows by place keep repeated columns of first neurons, and leave out the others") {
  const std::vector<std::int32_t> place{0, 1, 0, 2};
  const Csr<float> some =
      plumb::rows_by_place(csr(4, {{{3, 1}, {2, 5}, {0, 4}, {0, 1}}, {}, {{1, 7}}}), place, 3);
  CHECK(same_matrix(some, csr(3, {{{2, 1}, {0, 4}, {0, 1}}, {}, {{1, 7}}})));
}

TEST_CASE("rows have equal values where all neurons of a place have the same bits") {
  const std::vector<std::int32_t> place{0, 1, 0, 1};
  CHECK(plumb::has_equal_values(csr(4, {{}, {{0, 1}, {2, 1}}, {{3, 2}, {1, 1}, {1, 1}}}), place));
  CHECK_FALSE(plumb::has_equal_values(csr(4, {{{0, 1}}}), place));
  CHECK_FALSE(plumb::has_equal_values(csr(4, {{}, {}, {{1, 2}, {3, 2.5F}}}), place));
  CHECK_FALSE(plumb::has_equal_values(csr(4, {{{1, 1}, {3, 1}, {3, 1}}}), place));
}

TEST_CASE(
    "random networks with equal neurons give the same bits with one of them computed, and pass the check") {
  std::map<CopyChange, int> planted;
  std::int64_t left_out = 0, absorbed = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    plumb::DrawnNetwork drawn = plumb::draw_network(seed, 130, 70);
    plumb::test::CopiedNeurons copies(seed);
    copies.plant(drawn.net);
    for (const auto& [change, count] : copies.planted) planted[change] += count;
    plumb::validate(drawn.net);
    const std::int64_t layers = drawn.net.layers();
    const auto all = plumb::kSdnnCacheBlocked.plan(drawn.net), one = plumb::kSdnnEqualNeurons.plan(drawn.net);
    const plumb::SdnnRun want = all->run(drawn.y, 0, layers), got = one->run(drawn.y, 0, layers);
    CHECK(same_bits(got, want));
    CHECK(got.computed.size() == static_cast<std::size_t>(layers));
    left_out += layers * drawn.net.neurons - computed_neurons(got);
    const auto absorbing =
        plumb::kSdnnEqualNeurons.plan_absorbing(drawn.net, plumb::find_absorbing_states(drawn.net));
    const plumb::SdnnRun without = absorbing->run(drawn.y, 0, layers);
    CHECK(same_bits(without, want));
    absorbed += without.absorbed.back();
    plumb::SdnnExpectation expectation;
    expectation.check = true;
    CHECK_FALSE(plumb::judge_sdnn(drawn.net, *one, drawn.y, got, expectation).differs());
  }
  CHECK(planted.size() == 6);
  for (const auto& [change, count] : planted) CHECK(count > 20);
  CHECK(left_out > 5000);
  CHECK(absorbed > 0);
}

TEST_CASE(
    "a run from the middle computes what its rows hold, also other values in neurons that are equal before") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const SparseDnn net = copied_network(seed, 50, 9);
    const Csr<float> y = random_inputs(90, 50, seed);
    const auto all = plumb::kSdnnCacheBlocked.plan(net), one = plumb::kSdnnEqualNeurons.plan(net);
    const plumb::SdnnRun own = one->run(all->run(y, 0, 3).y, 3, 9);
    CHECK(same_bits(own, all->run(all->run(y, 0, 3).y, 3, 9)));
    CHECK(own.computed.size() == 6);
    const plumb::SdnnRun other = one->run(y, 3, 9);
    CHECK(same_bits(other, all->run(y, 3, 9)));
    CHECK(other.computed.empty());  // all neurons
    CHECK(same_bits(one->run(y, 9, 9), all->run(y, 9, 9)));
    CHECK(same_bits(one->run(y, 0, 9), all->run(y, 0, 9)));
  }
}

TEST_CASE("neurons of another bias are not equal, and neurons that a layer lacks are") {
  const std::vector<Csr<float>> gather{csr(3, {{{0, 1}}, {{0, 1}}, {{0, 1}}, {{0, 1}}, {{0, 1}}}),
                                       csr(5, {{{4, 1}}})};
  const SparseDnn net = plumb::square_network(gather, {{1, 1, 2, 0, -0.0F}, {0.5F}}, 32);
  const plumb::SdnnRun run = plumb::kSdnnEqualNeurons.plan(net)->run(csr(5, {{{0, 4}}}), 0, 2);
  CHECK(run.y.val == std::vector<float>{4.5F});
  CHECK(run.computed[0].neurons == 4);  // of bias 1, 2, 0; the one that carries biases
  CHECK(run.computed[1].neurons == 3);  // one with edges, one without; and that
}
