#include "datasets/generators/radixnet.hpp"

#include <doctest/doctest.h>
#include <zlib.h>

#include <algorithm>
#include <string>
#include <vector>

#include "reference/core/error.hpp"

using plumb::Csr;
using plumb::RadixNet;

namespace {

std::uint32_t crc(const void* data, std::size_t bytes, std::uint32_t before = 0) {
  return static_cast<std::uint32_t>(crc32_z(before, static_cast<const Bytef*>(data), bytes));
}

std::string error_of(std::int64_t neurons, std::int64_t layers) {
  try {
    (void)plumb::radixnet(neurons, layers);
  } catch (const plumb::Error& e) { return e.what(); }
  return "no error";
}

}  // namespace

TEST_CASE("a first layer joins every neuron to its own residue and to the one before it") {
  // 64 neurons: period 4, labels of the first group i mod 4, step 1. Input 0 has label 0: outputs j with
  // j mod 4 = 0 or j mod 4 = 3, that is 0 3 4 7 8 11 ... 60 63.
  const RadixNet net = plumb::radixnet(64, 2);
  const Csr<float> w = plumb::radixnet_layer(net, 0);
  REQUIRE(w.nnz() == 64 * 32);
  CHECK(std::vector<std::int32_t>(w.col.begin(), w.col.begin() + 6) ==
        std::vector<std::int32_t>{0, 3, 4, 7, 8, 11});
  CHECK(w.col[31] == 63);
  CHECK(w.val[0] == 0.0625F);
  // The second layer steps by 2: input 1 reaches residues 1 and 3.
  const Csr<float> second = plumb::radixnet_layer(net, 1);
  CHECK(std::vector<std::int32_t>(second.col.begin() + 32, second.col.begin() + 36) ==
        std::vector<std::int32_t>{1, 3, 5, 7});
}

TEST_CASE("every label belongs to sixteen neurons, in every group") {
  const RadixNet net = plumb::radixnet(1024, 30);
  REQUIRE(net.groups() == 5);
  for (std::int64_t g = 0; g < net.groups(); ++g) {
    std::vector<int> worn(64, 0);
    for (std::int64_t i = 0; i < 1024; ++i) ++worn.at(net.labels[static_cast<std::size_t>(g * 1024 + i)]);
    CHECK(std::count(worn.begin(), worn.end(), 16) == 64);
  }
}

TEST_CASE("the transposed layer holds the same edges, sorted") {
  const RadixNet net = plumb::radixnet(256, 9);
  for (std::int64_t layer = 0; layer < 9; ++layer) {
    const Csr<float> w = plumb::radixnet_layer(net, layer);
    const Csr<float> t = plumb::radixnet_layer_transposed(net, layer);
    std::vector<std::vector<std::int32_t>> gathered(256);
    for (std::int64_t i = 0; i < 256; ++i) {
      for (std::int64_t e = i * 32; e < (i + 1) * 32; ++e) {
        gathered[static_cast<std::size_t>(w.col[static_cast<std::size_t>(e)])].push_back(
            static_cast<std::int32_t>(i));
      }
    }
    std::vector<std::int32_t> flat;
    for (const auto& row : gathered) flat.insert(flat.end(), row.begin(), row.end());
    CHECK(flat == t.col);
  }
}

TEST_CASE("the text of all 120 official layers of 1024 neurons has the published checksum") {
  // CRC-32 of n1024-l1.tsv .. n1024-l120.tsv, one after the other, as the challenge distributes them.
  const RadixNet net = plumb::radixnet(1024, 120);
  std::uint32_t sum = 0;
  for (std::int64_t layer = 0; layer < 120; ++layer) {
    const std::string text = plumb::radixnet_tsv(net, layer);
    sum = crc(text.data(), text.size(), sum);
  }
  CHECK(sum == 0x2c7d904eU);
}

TEST_CASE("the larger networks keep the labels that their published categories were computed with") {
  // With MNIST's inputs these labels end in the published 1801, 1918 and 1994 categories; the sums guard
  // them.
  struct Known {
    std::int64_t neurons;
    std::uint32_t sum;
  };
  for (const Known known : {Known{4096, 0x7b3348bfU}, Known{16384, 0xa7c3f765U}, Known{65536, 0xeb65d5b8U}}) {
    const RadixNet net = plumb::radixnet(known.neurons, 120);
    std::vector<unsigned char> bytes;
    for (const std::uint16_t label : net.labels) {
      bytes.push_back(static_cast<unsigned char>(label & 0xff));
      bytes.push_back(static_cast<unsigned char>(label >> 8));
    }
    CAPTURE(known.neurons);
    CHECK(crc(bytes.data(), bytes.size()) == known.sum);
  }
}

TEST_CASE("the layers of a shallow network are the first layers of a deep one") {
  const RadixNet shallow = plumb::radixnet(4096, 17);
  const RadixNet deep = plumb::radixnet(4096, 200);
  CHECK(std::equal(shallow.labels.begin(), shallow.labels.end(), deep.labels.begin()));
}

TEST_CASE("sizes that no network has are refused with the sizes that exist") {
  CHECK(error_of(1000, 120) ==
        "radixnet: neurons must be 16 * 2^d, d = 1..16 (official: 1024, 4096, 16384, 65536): 1000");
  CHECK(error_of(16, 1).find("neurons must be") != std::string::npos);
  CHECK(error_of(0, 1).find("neurons must be") != std::string::npos);
  CHECK(error_of(-1024, 1).find("neurons must be") != std::string::npos);
  CHECK(error_of(1024, 0) == "radixnet: layers must be 1..1000000: 0");
  CHECK_THROWS_AS((void)plumb::radixnet_layer(plumb::radixnet(32, 3), 3), plumb::Error);
}
