#include "reference/models/sparse_dnn/judge.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "reference/core/csr.hpp"

namespace plumb {

namespace {

using Ids = std::vector<std::int32_t>;

constexpr std::int64_t kSampleRows = 2048;                       // compared where nothing is known, at most
constexpr std::int64_t kLeastSampleRows = 16;                    // and at least
constexpr std::int64_t kSampleProducts = std::int64_t{1} << 33;  // of one sample: seconds, not minutes

Ids without(const Ids& a, const Ids& b) {
  Ids rest;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(rest));
  return rest;
}

SdnnIdDifference difference_of(const Ids& got, const Ids& want) {
  return {without(want, got), without(got, want)};
}

/// Leaves out ids that may be decided either way.
SdnnIdDifference decidable_difference(const Ids& got, const SdnnAnswer& want) {
  return {without(without(want.ids, want.undecidable), got),
          without(without(got, want.undecidable), want.ids)};
}

SdnnFullCheck check_in_full(const SparseDnn& net, SdnnPlan& plan, const RowSource& images, const Ids& ids,
                            const SdnnProgress& progress) {
  const auto told = [&](const char* what) {
    return [&progress, what](std::int64_t rows) {
      if (progress) progress(what, rows);
    };
  };
  SdnnFullCheck full;
  const SdnnCheck layers = check_run(net, plan, images, told("check, layer by layer"));
  for (std::size_t l = 0; l < layers.layers.size(); ++l) {
    if (layers.layers[l].worst > full.all.worst) full.worst_layer = static_cast<std::int64_t>(l);
    full.all.merge(layers.layers[l]);
  }
  SdnnAnswer answer = reference_run(net, images, told("check, reference in fp64"));
  full.fp64_categories = static_cast<std::int64_t>(answer.ids.size());
  full.decidable = decidable_difference(ids, answer);
  full.undecidable = std::move(answer.undecidable);
  full.unsaturated = layers.unsaturated;
  Ids changed;
  std::set_symmetric_difference(ids.begin(), ids.end(), layers.ids.begin(), layers.ids.end(),
                                std::back_inserter(changed));
  full.unsteady = without(changed, full.undecidable);
  return full;
}

/// The fp64 reference decides for the first rows.
void compare_sample(const SparseDnn& net, const RowSource& images, SdnnJudgement& j) {
  const std::int64_t affordable = kSampleProducts / std::max<std::int64_t>(net.edges(0, net.layers()), 1);
  j.basis = SdnnBasis::sample;
  j.sample = std::min(images.rows(), std::clamp(affordable, kLeastSampleRows, kSampleRows));
  const SdnnAnswer answer = reference_run(net, images.make(0, j.sample));
  const auto last = static_cast<std::int32_t>(j.sample);
  const Ids first(j.ids.begin(), std::upper_bound(j.ids.begin(), j.ids.end(), last));
  j.difference = decidable_difference(first, answer);
  j.undecidable = answer.undecidable;
  j.answer_differs = !j.difference.none();
}

}  // namespace

SdnnJudgement judge_sdnn(const SparseDnn& net, SdnnPlan& plan, const RowSource& images, const SdnnRun& run,
                         const SdnnExpectation& expectation, const SdnnProgress& progress) {
  SdnnJudgement j;
  j.ids = categories(run.y);
  if (expectation.check) {
    j.check = check_in_full(net, plan, images, j.ids, progress);
    j.undecidable = j.check->undecidable;
  }
  if (expectation.has_list) {
    j.basis = SdnnBasis::list;
    j.difference = difference_of(j.ids, expectation.list);
    j.answer_differs = !j.difference.none();
  } else if (expectation.count > 0) {
    j.basis = SdnnBasis::count;
    j.count = expectation.count;
    j.answer_differs = static_cast<std::int64_t>(j.ids.size()) != j.count;
  } else if (j.check) {
    j.basis = SdnnBasis::reference;
    j.difference = j.check->decidable;
    j.answer_differs = j.check->differs();
  } else {
    compare_sample(net, images, j);
  }
  return j;
}

double sdnn_answer_bytes(std::int64_t inputs) {
  constexpr double kBytesPerInput = 4 + 8;  // the answer's row pointers, and their 64-bit counts (build())
  return kBytesPerInput * static_cast<double>(inputs);
}

}  // namespace plumb
