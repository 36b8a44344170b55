// Sparse DNN within bounded memory: inputs in batches that fit, every batch through all layers, and a window of layers whose
// weights are held while the next are made or copied. What host and device share of it, and the host's plan.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "reference/core/memory.hpp"
#include "reference/models/sparse_dnn/sparse_dnn.hpp"

namespace plumb {

/// Bytes that a batch of so many rows and entries takes; more for more.
using BatchBytes = std::function<std::int64_t(std::int64_t rows, std::int64_t entries)>;

/// Bytes that a batch of rows [first, last) takes; more for more.
using RangeBytes = std::function<std::int64_t(std::int64_t first, std::int64_t last)>;

/// The end of the largest batch that begins with row `first` of `rows`, a multiple of `step` rows or the rest, and takes
/// at most `memory.for_data() - fixed` bytes. Errors: as batches_within().
[[nodiscard]] std::int64_t largest_batch(std::int64_t first, std::int64_t rows, std::int64_t step,
                                         const MemoryBound& memory, std::int64_t fixed,
                                         const std::string& held, const RangeBytes& need);

/// Ends of consecutive batches of the rows of `y`, each the largest multiple of `step` rows, or the rest, that takes at
/// most `memory.for_data() - fixed` bytes: weights are loaded once per batch. At least one batch, also of no rows.
/// Errors: `step` rows take more; the message names `memory`, the bound that is needed, and `held`, what `fixed` is.
[[nodiscard]] std::vector<std::int64_t> batches_within(const Csr<float>& y, const MemoryBound& memory,
                                                       std::int64_t fixed, const std::string& held,
                                                       std::int64_t step, const BatchBytes& need);

/// Rows without entries: what a plan holds against its bound before it knows any inputs.
[[nodiscard]] Csr<float> empty_rows(std::int64_t rows, std::int64_t cols);

/// One run over all batches: answers one below the other, times and numbers of rows added up; `streaming` has the batches.
[[nodiscard]] SdnnRun run_in_batches(const Csr<float>& y, const std::vector<std::int64_t>& ends,
                                     const std::function<SdnnRun(const Csr<float>& batch)>& run);

/// Edges of one layer, and bytes as CSR: of the largest of the network's.
[[nodiscard]] std::int64_t largest_layer_edges(const SparseDnn& net);
[[nodiscard]] std::int64_t largest_layer_bytes(const SparseDnn& net);

/// Bytes that a plan takes beside the weights and rows it is given: `workspace`, and more for each of its layers.
struct PlanBytes {
  std::int64_t workspace = 0;
  std::int64_t (*of_layer)(std::int64_t neurons, std::int64_t edges);
};

/// Plans `make_plan` makes of a few layers at a time, of a network with a source; of any other one plan of all its layers.
/// While one window is computed, other threads make the next. `memory` bounds weights, inputs, batches and answers
/// together; a batch is the largest that fits beside what is there. Where none does, as answers come in, windows get shorter. Rows that are still active after the first layers are
/// put together, where that is a quarter of a batch or less: the other layers are made once for many batches.
/// Errors: `memory` is too little for windows of one layer and a batch
/// of one row, which the message says is needed; in a run with what had been answered by then.
[[nodiscard]] std::unique_ptr<SdnnPlan> streamed_on_host(
    const SparseDnn& net, const MemoryBound& memory, const PlanBytes& plan,
    std::unique_ptr<SdnnPlan> (*make_plan)(const SparseDnn&));

}  // namespace plumb
