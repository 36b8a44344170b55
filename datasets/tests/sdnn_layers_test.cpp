#include "datasets/networks/sdnn_layers.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "datasets/formats/binary_cache.hpp"
#include "datasets/generators/radixnet.hpp"
#include "datasets/networks/sdnn_data.hpp"
#include "datasets/tests/scratch.hpp"
#include "reference/core/error.hpp"

namespace {

using plumb::Csr;
using plumb::test::Scratch;

bool same(const Csr<float>& a, const Csr<float>& b) {
  return a.rows == b.rows && a.cols == b.cols && a.row_ptr == b.row_ptr && a.col == b.col && a.val == b.val;
}

/// A cache of the first layers of the network with 64 neurons.
std::string cache(const Scratch& scratch, std::int64_t layers) {
  const plumb::RadixNet net = plumb::radixnet(64, layers);
  std::vector<Csr<float>> all;
  for (std::int64_t l = 0; l < layers; ++l) all.push_back(plumb::radixnet_layer(net, l));
  plumb::write_cache(scratch.file("neuron64.plumb"), plumb::CacheKind::weights, all);
  return scratch.file("neuron64.plumb");
}

}  // namespace

TEST_CASE("layers one by one are those that are loaded together: generated, and out of a binary cache") {
  const Scratch scratch;
  const std::string file = cache(scratch, 7);
  for (const std::string& weights : {std::string(), file}) {
    CAPTURE(weights);
    plumb::SdnnRequest request;
    request.neurons = 64, request.layers = 5, request.inputs = 3;
    request.weights = weights;
    const plumb::SdnnSources sources = plumb::find_sdnn_sources(request);
    const plumb::SdnnData all = plumb::load_sdnn(sources, request);
    CHECK(all.source == nullptr);
    request.one_by_one = true;
    const plumb::SdnnData some = plumb::load_sdnn(sources, request);
    CHECK(some.gather.empty());
    REQUIRE(some.source != nullptr);
    REQUIRE(some.source->size() == 5);
    for (std::int64_t l = 4; l >= 0; --l) {
      CHECK(some.source->entries(l) == 64 * 32);
      CHECK(same(some.source->make(l), all.gather[static_cast<std::size_t>(l)]));
    }
    CHECK(same(some.images, all.images));
  }
}

TEST_CASE(
    "a cache with too few layers, of another size or without weights is refused; other files are read "
    "whole") {
  const Scratch scratch;
  const std::string file = cache(scratch, 2);
  CHECK_THROWS_AS((void)plumb::sdnn_layers(file, 64, 3), plumb::Error);
  CHECK_THROWS_AS((void)plumb::sdnn_layers(file, 128, 2), plumb::Error);
  Csr<float> empty;
  empty.rows = empty.cols = 64;
  empty.row_ptr.assign(65, 0);
  plumb::write_cache(scratch.file("empty.plumb"), plumb::CacheKind::weights, {empty});
  CHECK_THROWS_AS((void)plumb::sdnn_layers(scratch.file("empty.plumb"), 64, 1), plumb::Error);
  scratch.write("n64-l1.tsv", "1\t1\t0.5\n");
  CHECK(plumb::sdnn_layers(scratch.file("n64-l1.tsv"), 64, 1) == nullptr);
  CHECK(plumb::sdnn_layers(scratch.path(), 64, 1) == nullptr);
}
