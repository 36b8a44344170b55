// Sparse DNN: the judgement of one whole run. What the ids are compared with, in order of preference: a list, the
// published count, the fp64 reference; and the check of every layer where it is asked for.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reference/models/sparse_dnn/sparse_dnn.hpp"

namespace plumb {

/// 1-based ids, ascending.
struct SdnnIdDifference {
  std::vector<std::int32_t> missing, extra;  // wanted and not there; there and not wanted
  [[nodiscard]] bool none() const { return missing.empty() && extra.empty(); }
};

/// What is known about the answer, and how much is to be computed to judge it.
struct SdnnExpectation {
  bool has_list = false;
  std::vector<std::int32_t> list;  // 1-based ids, ascending
  std::int64_t count = 0;          // published number of categories of these inputs; 0: not known
  bool check = false;              // every layer, and all inputs in fp64
};

/// Every layer against the fp64 reference on the input it had, and the ids against those of the free-running one.
struct SdnnFullCheck {
  SdnnLayerVerdict all;          // of all layers; compared and misses are sums
  std::int64_t worst_layer = 0;  // 0-based: holds all.worst
  std::int64_t fp64_categories = 0;
  std::vector<std::int32_t> undecidable;  // ids that fp32 rounding may decide either way
  SdnnIdDifference decidable;             // from the reference, without the undecidable ids
  std::vector<std::int32_t> unsteady;     // decidable ids that a run layer by layer decides otherwise
  std::int64_t unsaturated = 0;           // final values that are neither 0 nor the cap: a fact, no fault
  [[nodiscard]] bool differs() const { return all.misses > 0 || !decidable.none() || !unsteady.empty(); }
};

/// What the ids were compared with.
enum class SdnnBasis : std::uint8_t { list, count, reference, sample };

struct SdnnJudgement {
  std::vector<std::int32_t> ids;  // 1-based, of the run
  std::optional<SdnnFullCheck> check;
  SdnnBasis basis = SdnnBasis::sample;
  SdnnIdDifference difference;            // from the list, or from the reference of the sample
  std::int64_t count = 0;                 // published; basis count
  std::int64_t sample = 0;                // inputs compared; basis sample
  std::vector<std::int32_t> undecidable;  // of the check, or of the sample
  bool answer_differs = false;            // by that basis
  [[nodiscard]] bool differs() const { return answer_differs || (check && check->differs()); }
};

/// Told what is being done and how many inputs are done; may be empty.
using SdnnProgress = std::function<void(const char* what, std::int64_t rows_done)>;

/// Judges `run`, the answer of `plan` to `images` over all layers of `net`.
[[nodiscard]] SdnnJudgement judge_sdnn(const SparseDnn& net, SdnnPlan& plan, const RowSource& images,
                                       const SdnnRun& run, const SdnnExpectation& expectation,
                                       const SdnnProgress& progress = {});
[[nodiscard]] inline SdnnJudgement judge_sdnn(const SparseDnn& net, SdnnPlan& plan, const Csr<float>& images,
                                              const SdnnRun& run, const SdnnExpectation& expectation,
                                              const SdnnProgress& progress = {}) {
  return judge_sdnn(net, plan, HeldRows(images), run, expectation, progress);
}

/// Bytes that an answer to `inputs` inputs takes beside the inputs themselves, where no input stays active: row
/// pointers, and 64-bit counts while they are made. What stays active adds to it.
[[nodiscard]] double sdnn_answer_bytes(std::int64_t inputs);

}  // namespace plumb
