// GCNs under the clock: a whole network is timed as an operator is, its pipelines in the place of variants.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "reference/cases/case_id.hpp"
#include "reference/models/gcn/gcn.hpp"
#include "verify/bench/result.hpp"
#include "verify/engine/operator/entry.hpp"
#include "verify/engine/process/request.hpp"

namespace plumb {

/// Whether --case names GCNs: "gcn", or the id of one.
[[nodiscard]] bool names_gcn(const std::string& cases);
/// With `drawn` so many drawn cases, else the one whose id `cases` is. Errors: an id that is malformed; no id, and none drawn.
[[nodiscard]] std::vector<Case> gcn_cases(const std::string& cases, int drawn, std::uint64_t seed,
                                          const TimedSize& size);
/// Every pipeline that is linked in, in both types, under the name "cpu/fused" or "gpu/vendor"; libraries' first.
[[nodiscard]] std::vector<VariantInfo> gcn_variants();
/// The pipeline that `infer` takes on its device where none is named.
[[nodiscard]] bool is_taken_unasked(const VariantInfo& v);

/// One network, and its reference. It runs in this process.
class GcnCase {
 public:
  /// Errors: as gcn_of_case().
  explicit GcnCase(const Case& c);
  /// Runs pipeline `v` under the clock. Hidden layers, logits and LogSoftmax of the first and of the last run are judged, each element
  /// within its bound. Samples are inferences in device memory, or on the host whole runs.
  [[nodiscard]] BenchResult time(const VariantInfo& v, const TimingRequest& timing) const;

 private:
  template <class T>
  [[nodiscard]] BenchResult time_in(const Gcn<T>& net, const GcnPipeline& pipeline, const VariantInfo& v,
                                    const TimingRequest& timing) const;

  Case case_;
  Gcn<double> f64_;
  Gcn<float> f32_;  // of a case in fp32
  GcnReference reference_;
};

}  // namespace plumb
