#include "datasets/formats/save_matrix.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "datasets/formats/binary_cache.hpp"
#include "datasets/formats/gcn_folder.hpp"
#include "datasets/formats/load_matrix.hpp"
#include "datasets/formats/sdnn_files.hpp"
#include "datasets/generators/banded.hpp"
#include "datasets/generators/digits.hpp"
#include "datasets/generators/save_generated.hpp"
#include "datasets/tests/scratch.hpp"
#include "reference/core/error.hpp"

using plumb::Csr;
using plumb::test::error_of;
using plumb::test::Scratch;
using plumb::test::slurp;

namespace {

// (0,1) 0.5  (1,0) -2  (1,2) 3, a last row and column that are empty
Csr<double> small() {
  Csr<double> a;
  a.rows = 3;
  a.cols = 4;
  a.row_ptr = {0, 1, 3, 3};
  a.col = {1, 0, 2};
  a.val = {0.5, -2, 3};
  return a;
}

}  // namespace

TEST_CASE("a matrix that is saved with its shape is loaded unchanged") {
  const Scratch folder;
  const Csr<double> a = small();
  for (const char* name : {"a.mtx", "a.npz", "a.npy"}) {
    CAPTURE(name);
    plumb::save_matrix(folder.file(name), a);
    const Csr<double> b = plumb::load_matrix<double>(folder.file(name));
    CHECK(b.rows == 3);
    CHECK(b.cols == 4);
    CHECK(b.row_ptr == a.row_ptr);
    CHECK(b.col == a.col);
    CHECK(b.val == a.val);
  }
  plumb::save_matrix(folder.file("a.plumb"), a);
  const plumb::BinaryCache cache(folder.file("a.plumb"));
  REQUIRE(cache.size() == 1);
  CHECK(cache.copy(0).val == std::vector<float>{0.5F, -2, 3});
  CHECK(folder.entries() == 4);  // and no temporary file
}

TEST_CASE("triples are one-based by column in .tsv, zero-based by row in .el") {
  const Scratch folder;
  plumb::save_matrix(folder.file("a.tsv"), small());
  CHECK(slurp(folder.file("a.tsv")) ==
        "# plumbline rows=3 cols=4 entries=3 base=1\n2\t1\t-2\n1\t2\t0.5\n2\t3\t3\n");
  plumb::save_matrix(folder.file("a.el"), small());
  CHECK(slurp(folder.file("a.el")) ==
        "# plumbline rows=3 cols=4 entries=3 base=0\n0\t1\t0.5\n1\t0\t-2\n1\t2\t3\n");
}

TEST_CASE("a format that is not known lists those that are") {
  CHECK(error_of([] { plumb::save_matrix("a.xyz", small()); }) ==
        "a.xyz: no format known for this ending; known are .plumb .mtx .mtx.gz .npz .npy .el .el.gz .tsv "
        ".tsv.gz");
}

TEST_CASE("a value that fp32 does not hold is not written to a cache of fp32") {
  const Scratch folder;
  Csr<double> a = small();
  a.val[0] = 0.1;
  CHECK(error_of([&] { plumb::save_matrix(folder.file("a.plumb"), a); }).find("not exact in it") !=
        std::string::npos);
  CHECK(folder.entries() == 0);
}

TEST_CASE("an impossible write leaves the old file and nothing else") {
  const Scratch folder;
  CHECK_THROWS_AS(plumb::save_matrix(folder.file("none/a.mtx"), small()), plumb::Error);
  CHECK_THROWS_AS(plumb::save_network(folder.file("none/net"), plumb::radixnet(32, 2)), plumb::Error);
  CHECK(folder.entries() == 0);
}

TEST_CASE("a network is read back from a cache, an archive and a folder") {
  const Scratch folder;
  const plumb::RadixNet net = plumb::radixnet(64, 3);
  for (const char* name : {"neuron64.plumb", "neuron64.tar", "neuron64.tar.gz", "neuron64"}) {
    CAPTURE(name);
    plumb::save_network(folder.file(name), net);
    const plumb::SdnnNetwork read = plumb::read_sdnn_weights(folder.file(name), 64);
    REQUIRE(read.layers.size() == 3);
    for (std::int64_t l = 0; l < 3; ++l) {
      CHECK(read.layers[static_cast<std::size_t>(l)].col == plumb::radixnet_layer(net, l).col);
      CHECK(read.layers[static_cast<std::size_t>(l)].val == plumb::radixnet_layer(net, l).val);
    }
  }
  CHECK(slurp(folder.file("neuron64/n64-l2.tsv")) == plumb::radixnet_tsv(net, 1));
  CHECK(error_of([&] { plumb::save_network(folder.file("neuron64"), net); }).find("not an empty folder") !=
        std::string::npos);
}

TEST_CASE("inputs that were written are read back from both formats") {
  const Scratch folder;
  const plumb::PixelMask mask = plumb::digit_inputs(50, 256, 3);
  const Csr<float> y = plumb::to_csr(mask);
  for (const char* name : {"sparse-images-256.plumb", "sparse-images-256.tsv", "sparse-images-256.tsv.gz"}) {
    CAPTURE(name);
    plumb::save_inputs(folder.file(name), mask);
    const Csr<float> read = plumb::read_sdnn_images(folder.file(name), 256, 50);
    CHECK(read.row_ptr == y.row_ptr);
    CHECK(read.col == y.col);
    CHECK(read.val == y.val);
  }
}

TEST_CASE("greyscale images are read back") {
  const Scratch folder;
  const plumb::GreyImages images = plumb::digit_images(3, 1);
  plumb::save_idx_images(folder.file("a.gz"), images);
  CHECK(plumb::read_idx_images(folder.file("a.gz")).pixels == images.pixels);
}

TEST_CASE("a generated GCN is written and read back unchanged") {
  const Scratch folder;
  plumb::GcnShape shape;
  shape.scale = 5;
  const plumb::GcnSet<double> set = plumb::generated_gcn<double>(shape);
  plumb::save_gcn(folder.file("gcn"), set);
  const plumb::GcnData data = plumb::read_gcn_folder(folder.file("gcn"));
  CHECK(data.f64.a.val == set.a.val);
  CHECK(data.f64.weights[1].data == set.weights[1].data);
  CHECK(data.f64.biases == set.biases);
  CHECK(data.features() == 128);
}
