// The time of an inference on several GPUs, predicted before any is there: launches, the work of the GPU with the most of it, and what of
// an exchange is not hidden. docs/results/scaling.md says how far measured times are from it.
#pragma once
#include <cstdint>
#include <vector>

#include "reference/models/chips.hpp"
#include "reference/models/gcn.hpp"
#include "reference/models/sparse_dnn.hpp"
#include "reference/parallel/ranks.hpp"

namespace plumb {

/// Of one inference on `gpus` GPUs; seconds.
struct PredictedTime {
  int gpus = 1;
  double launches = 0, compute = 0, exchange = 0;  // compute: of the slowest GPU
  double balance = 1;                              // the mean of the GPUs' computations over the longest
  [[nodiscard]] double seconds() const { return launches + compute + exchange; }
};

/// What the inputs of a sparse DNN cost: edges that one of them multiplies in its active layers. Which inputs stay active is not known
/// before; how many do is, from a run of some of them.
struct SdnnWork {
  std::int64_t inputs = 0, layers = 0;  // layers: that any of them enters
  double mean = 0, deviation = 0,
         most = 0;  // edges of an input: mean, standard deviation, if it is active throughout
};
/// Of `inputs` inputs like those of `sample`, a run of some of them through all layers of `net`. A row that is no longer active, or has
/// left at an absorbing state, stays so.
[[nodiscard]] SdnnWork work_of(const SparseDnn& net, const SdnnRun& sample, std::int64_t inputs);

/// Sparse DNN: layers * launch + edges of the slowest GPU / rate. Inputs are dealt without regard to what they cost, so the slowest has
/// the largest of `gpus` sums of inputs / gpus independent costs.
[[nodiscard]] PredictedTime predict(const Chip& chip, const SdnnWork& work, int gpus);

/// GCN, each layer in its cheaper order: bytes of A, gathered rows, products and written rows of the slowest GPU, each at its rate, and the
/// rows that others gather; rows [cuts[r], cuts[r + 1]) are GPU r's. Gathered rows come from the cache as far as it holds the most wanted ones.
template <class T>
[[nodiscard]] PredictedTime predict(const Chip& chip, const Gcn<T>& net, const Cuts& cuts);
/// Divided by rows.
template <class T>
[[nodiscard]] PredictedTime predict(const Chip& chip, const Gcn<T>& net, int gpus) {
  return predict(chip, net, cut_by_entries(net.a.row_ptr, gpus));
}

}  // namespace plumb
