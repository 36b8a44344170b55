#include "reference/models/sparse_dnn/absorbing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "reference/cases/operator.hpp"

namespace plumb {

namespace {

bool keeps_zeros(const SparseDnn& net, std::size_t l) {
  if (net.biases.empty()) return false;  // such rows are dropped in any case: not a state to look for
  return std::all_of(net.biases[l].begin(), net.biases[l].end(), [](float b) { return b <= 0; });
}

/// The value of neuron j of a row of caps is the cap after layer l, however fp32 rounds.
bool keeps_cap(const SparseDnn& net, std::size_t l, std::size_t j) {
  const Csr<float>& w = net.gather[l];
  const auto cap = static_cast<double>(net.cap);
  double sum = 0, magnitude = 0, weights = 0;
  for (std::int32_t k = w.row_ptr[j]; k < w.row_ptr[j + 1]; ++k) {
    const double product = cap * static_cast<double>(w.val[static_cast<std::size_t>(k)]);  // exact
    sum += product;
    magnitude += std::fabs(product);
    weights += std::fabs(static_cast<double>(w.val[static_cast<std::size_t>(k)]));
  }
  // added only where Z is not 0: it is not sure to be added
  const float bias = net.biases.empty() ? std::min(net.bias, 0.0F) : net.biases[l][j];
  sum += static_cast<double>(bias);
  magnitude += std::fabs(static_cast<double>(bias));
  // products, or weights of repeated edges, may overflow where they are added up
  if (std::max(magnitude, weights) > static_cast<double>(std::numeric_limits<float>::max()) / 2) return false;
  // Three times the bound of a sum of equal terms: weights of repeated edges may have been added up in fp32 before, and
  // what is of second order in u is covered too.
  const Tolerance fp32{Fill::few, Arithmetic::native, Dtype::f32};
  const std::int64_t terms = w.row_ptr[j + 1] - w.row_ptr[j] + 1;
  return sum - 3 * sum_bound(fp32, sum, magnitude, terms) >= cap;
}

bool keeps_caps(const SparseDnn& net, std::size_t l) {
  if (!(net.cap > 0) || std::isinf(net.cap)) return false;
  for (std::size_t j = 0; j < static_cast<std::size_t>(net.neurons); ++j) {
    if (!keeps_cap(net, l, j)) return false;
  }
  return true;
}

/// From "layer l keeps the state" to the first layer from l on that does not.
std::vector<std::int64_t> until(const std::vector<std::uint8_t>& keeps) {
  std::vector<std::int64_t> first(keeps.size());
  auto next = static_cast<std::int64_t>(keeps.size());
  for (std::size_t l = keeps.size(); l-- > 0;) {
    if (keeps[l] == 0) next = static_cast<std::int64_t>(l);
    first[l] = next;
  }
  return first;
}

}  // namespace

AbsorbingStates find_absorbing_states(const SparseDnn& net) {
  const auto layers = static_cast<std::size_t>(net.layers());
  std::vector<std::uint8_t> zeros(layers), caps(layers);
#pragma omp parallel for schedule(dynamic)
  for (std::size_t l = 0; l < layers; ++l) {
    zeros[l] = keeps_zeros(net, l) ? 1 : 0;
    caps[l] = keeps_caps(net, l) ? 1 : 0;
  }
  return {net.neurons, net.cap, until(zeros), until(caps)};
}

void count_absorbed(SdnnRun& run, std::vector<std::int64_t> left) {
  std::partial_sum(left.begin(), left.end(), left.begin());
  for (std::size_t l = 0; l < left.size(); ++l) run.active[l] += left[l];
  run.absorbed = std::move(left);
}

}  // namespace plumb
