#include "datasets/generators/radixnet.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <random>
#include <utility>

#include "reference/core/error.hpp"

namespace plumb {
namespace {

constexpr std::int64_t kBlocks = 16;  // ones(16, 16) of the Kronecker product: neurons per residue

struct OfficialSize {
  std::int64_t neurons, permutations;
};
// One stream serves the four sizes in this order, each drawn for 1920 layers whatever depth is asked for.
constexpr std::array<OfficialSize, 4> kOfficial{{{1024, 319}, {4096, 239}, {16384, 191}, {65536, 159}}};

// 53 random bits, the numerator of genrand_res53: two outputs make one double, and order is all that counts
// here.
std::uint64_t draw53(std::mt19937& stream) {
  const std::uint64_t high = stream() >> 5;
  const std::uint64_t low = stream() >> 6;
  return (high << 26) + low;
}

// argsort, equal draws in order of their index: lab[p[t]] = t mod period.
void labels_from_draws(const std::uint64_t* draws, std::int64_t neurons, std::int64_t period,
                       std::uint16_t* out) {
  std::vector<std::pair<std::uint64_t, std::int32_t>> order(static_cast<std::size_t>(neurons));
  for (std::int64_t i = 0; i < neurons; ++i)
    order[static_cast<std::size_t>(i)] = {draws[i], static_cast<std::int32_t>(i)};
  std::sort(order.begin(), order.end());
  for (std::int64_t t = 0; t < neurons; ++t) {
    out[order[static_cast<std::size_t>(t)].second] = static_cast<std::uint16_t>(t % period);
  }
}

void check_layer(const RadixNet& net, std::int64_t layer) {
  if (layer < 0 || layer >= net.layers) {
    throw input_error("radixnet", 0, "layer outside the network", std::to_string(layer));
  }
}

}  // namespace

RadixNet radixnet(std::int64_t neurons, std::int64_t layers) {
  RadixNet net;
  net.neurons = neurons;
  net.layers = layers;
  net.period = neurons / kBlocks;
  while ((std::int64_t{1} << net.digits) < net.period) ++net.digits;
  const bool power = neurons % kBlocks == 0 && net.period == std::int64_t{1} << net.digits;
  if (!power || net.digits < 1 || net.digits > 16) {
    throw input_error("radixnet", 0,
                      "neurons must be 16 * 2^d, d = 1..16 (official: 1024, 4096, 16384, 65536)",
                      std::to_string(neurons));
  }
  if (layers < 1 || layers > 1'000'000) {
    throw input_error("radixnet", 0, "layers must be 1..1000000", std::to_string(layers));
  }

  std::mt19937 stream(5489);  // init_genrand(5489)
  for (const OfficialSize& size : kOfficial) {
    if (size.neurons == neurons) net.official = true;
  }
  if (net.official) {
    for (const OfficialSize& size : kOfficial) {
      if (size.neurons == neurons) break;
      stream.discard(2 * static_cast<unsigned long long>(size.neurons) *
                     static_cast<unsigned long long>(size.permutations));
    }
  }

  const std::int64_t groups = net.groups();
  net.labels.resize(static_cast<std::size_t>(groups * neurons));
  for (std::int64_t i = 0; i < neurons; ++i) {
    net.labels[static_cast<std::size_t>(i)] = static_cast<std::uint16_t>(i % net.period);
  }
  // Drawing is serial and cheap; sorting is nine tenths of the time and independent by group.
  constexpr std::int64_t kBatch = 16;
  std::vector<std::uint64_t> draws(static_cast<std::size_t>(kBatch * neurons));
  for (std::int64_t first = 1; first < groups; first += kBatch) {
    const std::int64_t count = std::min(kBatch, groups - first);
    for (std::int64_t i = 0; i < count * neurons; ++i) draws[static_cast<std::size_t>(i)] = draw53(stream);
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t b = 0; b < count; ++b) {
      labels_from_draws(draws.data() + b * neurons, neurons, net.period,
                        net.labels.data() + (first + b) * neurons);
    }
  }
  return net;
}

Csr<float> radixnet_layer(const RadixNet& net, std::int64_t layer) {
  check_layer(net, layer);
  const std::uint16_t* label = net.label(layer);
  const std::int64_t step = net.step(layer);
  Csr<float> w;
  w.rows = w.cols = net.neurons;
  w.row_ptr.resize(static_cast<std::size_t>(net.neurons + 1));
  w.col.resize(static_cast<std::size_t>(net.neurons * kRadixNetDegree));
  w.val.assign(w.col.size(), kRadixNetWeight);
  for (std::int64_t i = 0; i <= net.neurons; ++i) {
    w.row_ptr[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i * kRadixNetDegree);
  }
  for (std::int64_t i = 0; i < net.neurons; ++i) {
    const std::int64_t same = label[i];
    const std::int64_t other = (same - step + net.period) % net.period;
    std::int32_t* out = w.col.data() + i * kRadixNetDegree;
    for (std::int64_t block = 0; block < kBlocks; ++block) {
      *out++ = static_cast<std::int32_t>(block * net.period + std::min(same, other));
      *out++ = static_cast<std::int32_t>(block * net.period + std::max(same, other));
    }
  }
  // With period 2 and step 1 both connections differ; period 1 is refused: so columns are distinct and
  // sorted.
  return w;
}

Csr<float> radixnet_layer_transposed(const RadixNet& net, std::int64_t layer) {
  check_layer(net, layer);
  const std::uint16_t* label = net.label(layer);
  const std::int64_t step = net.step(layer);
  // Exactly 16 inputs have each label; list them in ascending order.
  std::vector<std::int32_t> wearers(static_cast<std::size_t>(net.neurons));
  std::vector<std::int32_t> worn(static_cast<std::size_t>(net.period), 0);
  for (std::int64_t i = 0; i < net.neurons; ++i) {
    const std::int64_t slot = worn[label[i]]++;
    wearers[static_cast<std::size_t>(label[i] * kBlocks + slot)] = static_cast<std::int32_t>(i);
  }
  Csr<float> w;
  w.rows = w.cols = net.neurons;
  w.row_ptr.resize(static_cast<std::size_t>(net.neurons + 1));
  w.col.resize(static_cast<std::size_t>(net.neurons * kRadixNetDegree));
  w.val.assign(w.col.size(), kRadixNetWeight);
  for (std::int64_t j = 0; j <= net.neurons; ++j) {
    w.row_ptr[static_cast<std::size_t>(j)] = static_cast<std::int32_t>(j * kRadixNetDegree);
  }
  for (std::int64_t j = 0; j < net.neurons; ++j) {
    const std::int32_t* same = wearers.data() + (j % net.period) * kBlocks;
    const std::int32_t* other = wearers.data() + ((j + step) % net.period) * kBlocks;
    std::merge(same, same + kBlocks, other, other + kBlocks, w.col.data() + j * kRadixNetDegree);
  }
  return w;
}

std::string radixnet_tsv(const RadixNet& net, std::int64_t layer) {
  const Csr<float> w = radixnet_layer_transposed(net, layer);
  std::string text;
  text.reserve(static_cast<std::size_t>(w.nnz()) * 26);
  std::array<char, 24> digits{};
  const auto number = [&](std::int64_t value, char end) {
    char* last = std::to_chars(digits.data(), digits.data() + digits.size() - 1, value).ptr;
    *last++ = end;
    text.append(digits.data(), last);
  };
  for (std::int64_t j = 0; j < w.rows; ++j) {
    for (std::int32_t e = w.row_ptr[static_cast<std::size_t>(j)];
         e < w.row_ptr[static_cast<std::size_t>(j + 1)]; ++e) {
      number(w.col[static_cast<std::size_t>(e)] + 1, '\t');
      number(j + 1, '\t');
      text += "6.250000e-02\n";
    }
  }
  return text;
}

}  // namespace plumb
