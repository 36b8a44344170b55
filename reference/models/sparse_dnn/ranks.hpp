// Sparse DNN over ranks: each rank holds all weights and a share of the inputs. Rows are independent, so that every row is
// computed as one rank alone computes it.
#pragma once
#include <cstdint>
#include <vector>

#include "reference/models/sparse_dnn/judge.hpp"
#include "reference/models/sparse_dnn/sparse_dnn.hpp"
#include "reference/parallel/needs.hpp"
#include "reference/parallel/ranks.hpp"

namespace plumb {

/// Rank 0's network to all.
void broadcast_network(Ranks& ranks, SparseDnn& net);
/// Of rank 0's matrix to each rank the rows of its part; `cuts` are rank 0's, and are told to all.
[[nodiscard]] Csr<float> scatter_rows(Ranks& ranks, const Csr<float>& all, Cuts& cuts);
/// On rank 0 the rows of all ranks, by rank; elsewhere nothing. Errors: more than 2^31 - 1 entries.
[[nodiscard]] Csr<float> gather_rows(Ranks& ranks, const Csr<float>& mine);

/// y: of this rank's inputs. The rest is of all ranks: on rank 0 `ids` and the sums of `active` and `absorbed`,
/// `layer_seconds` of the slowest; on every rank the same `seconds`, from a common start until rank 0 has the ids.
struct SdnnRanksRun : SdnnRun {
  std::vector<std::int32_t> ids;  // 1-based, of all inputs
};
[[nodiscard]] SdnnRanksRun run_over_ranks(Ranks& ranks, const Cuts& cuts, SdnnPlan& plan,
                                          const Csr<float>& mine, std::int64_t layers);

/// Judges each rank's part on that rank. On rank 0 the judgement of all, and the part of each rank with ids and rows of the
/// whole. `expectation` is of all inputs, on rank 0.
struct SdnnRanksJudgement {
  SdnnJudgement all;
  std::vector<SdnnJudgement> parts;  // by rank
};
[[nodiscard]] SdnnRanksJudgement judge_over_ranks(Ranks& ranks, const Cuts& cuts, const SparseDnn& net,
                                                  SdnnPlan& plan, const Csr<float>& mine,
                                                  const SdnnRanksRun& run, const SdnnExpectation& expectation,
                                                  const SdnnProgress& progress = {});

/// What is not in the data: bytes.
struct SdnnRunBytes {
  std::int64_t making = 0;   // while rank 0 makes the inputs, beside the weights
  std::int64_t plan = 0;     // of each rank, beside its weights and inputs
  std::int64_t answers = 0;  // to all inputs
};

/// What each of `ranks` ranks needs for this network and these inputs. Of an inference: the ids of rows that stay active are
/// not known before, and not counted as traffic. Memory is the most of three moments: rank 0 makes the inputs; it has all
/// of them and those that it keeps; each rank has its inputs, a plan, and its answers. What reading files takes is not
/// counted.
[[nodiscard]] std::vector<RankNeeds> needs_over_ranks(const SparseDnn& net, const Csr<float>& images,
                                                      int ranks, const SdnnRunBytes& run);

}  // namespace plumb
