#include "datasets/networks/sdnn_layers.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "datasets/formats/binary_cache.hpp"
#include "datasets/generators/digits.hpp"
#include "datasets/generators/radixnet.hpp"
#include "datasets/networks/sdnn_data.hpp"
#include "datasets/tests/scratch.hpp"
#include "reference/core/csr.hpp"
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
    CHECK(all.rows == nullptr);
    REQUIRE(some.rows != nullptr);
    CHECK(some.images.rows == 0);
    CHECK(same(some.rows->make(0, 3), all.images));
    CHECK(some.rows->entries(1, 3) == all.images.row_ptr[3] - all.images.row_ptr[1]);
    CHECK(same(some.rows->make(1, 2), plumb::slice_rows(all.images, 1, 2)));
  }
}

TEST_CASE(
    "inputs a few at a time are those that are loaded together: out of a binary cache, and of other files") {
  const Scratch scratch;
  const Csr<float> y = plumb::to_csr(plumb::digit_inputs(9, 64, 3));
  plumb::write_cache(scratch.file("images.plumb"), plumb::CacheKind::images, std::vector<Csr<float>>{y});
  plumb::SdnnRequest request;
  request.neurons = 64, request.layers = 2;
  request.one_by_one = true;
  for (const std::int64_t inputs : {0, 5}) {
    request.images = scratch.file("images.plumb");
    request.inputs = inputs;
    const plumb::SdnnData some = plumb::load_sdnn(plumb::find_sdnn_sources(request), request);
    REQUIRE(some.rows != nullptr);
    const std::int64_t rows = inputs > 0 ? inputs : 9;
    CHECK(some.rows->rows() == rows);
    CHECK(some.rows->cols() == 64);
    for (std::int64_t r = rows - 1; r > 0; --r)
      CHECK(same(some.rows->make(r - 1, r), plumb::slice_rows(y, r - 1, r)));
  }
  request.images = scratch.write("sparse-images-64.tsv", "1\t2\t1\n2\t5\t1\n");
  const plumb::SdnnData text = plumb::load_sdnn(plumb::find_sdnn_sources(request), request);
  CHECK(text.rows == nullptr);
  CHECK(text.images.nnz() == 2);
  request.neurons = 256, request.images = scratch.file("images.plumb");
  const std::string other =
      plumb::test::error_of([&] { (void)plumb::load_sdnn(plumb::find_sdnn_sources(request), request); });
  CHECK(other.find("images of another shape in the binary cache: 9 x 64") != std::string::npos);
}

TEST_CASE("inputs that cannot be made within the memory allowed are refused with what they need") {
  plumb::SdnnRequest request;
  request.neurons = 1024, request.layers = 2, request.inputs = 1000;
  request.host_memory = 1 << 20;
  const Scratch scratch;
  request.data = scratch.file("");
  const std::string text =
      plumb::test::error_of([&] { (void)plumb::load_sdnn(plumb::find_sdnn_sources(request), request); });
  CHECK(
      text.find(
          "sparse DNN: 1 MiB of memory are too little: 1000 inputs of 1024 neurons, made of images, need at "
          "least ") == 0);
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
