// RadiX-Net: the weights of the Sparse DNN Graph Challenge, regenerated bit for bit from a few MB of labels.
// The official networks (137 GB of text) are generated in seconds instead of read.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "reference/core/matrix.hpp"

namespace plumb {

/// Every weight of an official network, and how many neurons share one residue.
inline constexpr float kRadixNetWeight = 0.0625F;
inline constexpr std::int64_t kRadixNetDegree = 32;

/// A network of `layers` layers of `neurons` neurons, each with 32 inputs and 32 outputs, all weights 1/16.
///
/// W_l(i, j) = 1/16 iff (label[g][i] - j) mod period in {0, 2^k}, with g = l div digits, k = l mod digits (l
/// from 0); so the 16 neurons j, j + period, j + 2 period ... share their inputs.
struct RadixNet {
  std::int64_t neurons = 0;
  std::int64_t layers = 0;
  std::int64_t period = 0;            // neurons / 16
  std::int64_t digits = 0;            // log2(period): layers per group
  bool official = false;              // one of the four sizes of the challenge, drawn from its stream
  std::vector<std::uint16_t> labels;  // (groups, neurons)

  [[nodiscard]] std::int64_t groups() const { return digits == 0 ? 0 : (layers + digits - 1) / digits; }
  /// Labels of the group that `layer` (from 0) belongs to: `neurons` numbers below `period`.
  [[nodiscard]] const std::uint16_t* label(std::int64_t layer) const {
    return labels.data() + layer / digits * neurons;
  }
  /// Distance of the second connection of `layer` (from 0): 1, 2, 4 ... period / 2, and again.
  [[nodiscard]] std::int64_t step(std::int64_t layer) const { return std::int64_t{1} << (layer % digits); }
};

/// The network of the challenge for neurons 1024, 4096, 16384 or 65536 and up to 1920 layers (more depth
/// continues no official file). Other sizes 16 * 2^d, d = 1..16, give a network of the same construction from
/// a stream of its own: small ones for tests. Throws Error on any other size and on layers < 1.
///
/// Source    Kepner and Robinett, RadiX-Net, GABB 2019; Matsumoto and Nishimura, MT19937 (1998), as MATLAB
/// seeds it.
[[nodiscard]] RadixNet radixnet(std::int64_t neurons, std::int64_t layers);

/// W of `layer` (from 0: layer 0 is the file n1024-l1.tsv). Rows are input neurons i, columns output neurons
/// j, sorted.
[[nodiscard]] Csr<float> radixnet_layer(const RadixNet& net, std::int64_t layer);

/// The transpose of the same: rows are output neurons j, columns the 32 input neurons i they gather from,
/// sorted.
[[nodiscard]] Csr<float> radixnet_layer_transposed(const RadixNet& net, std::int64_t layer);

/// The text of the official file of `layer` (from 0): "i\tj\t6.250000e-02\n", one-based, sorted by j, then i.
[[nodiscard]] std::string radixnet_tsv(const RadixNet& net, std::int64_t layer);

}  // namespace plumb
