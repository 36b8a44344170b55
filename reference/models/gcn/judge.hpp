// GCN: the judgement of one whole run against what its data expects and against the compensated reference, and the
// tolerances that go with it. The bound of each element is carried through the network by reference_gcn (gcn.hpp).
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reference/models/gcn/gcn.hpp"

namespace plumb {

/// What is known about the answer; parts of another shape than the answer are left out, as are empty ones.
struct GcnExpectation {
  Dense<double> hidden, logits, log_softmax;  // hidden: of the first layer
  std::vector<std::int32_t> labels, idx_test;
  std::optional<std::int64_t>
      test_correct;  // recorded with the weights: how many of idx_test are classified correctly
};

/// What rounding may have done to the inputs. `stored` false: this program rounded those that do not fit fp32, for an
/// fp32 candidate, and the expectation is of the inputs as they are. `stored` true: the program that stored the data may also have
/// rounded those that fit, and the expectation was made before that. Where the network has scales, a candidate may have used these in
/// place of A's values.
[[nodiscard]] GcnInputError rounding_of_inputs(const Gcn<double>& net, bool rounded, bool stored);

/// One comparison of a whole matrix.
struct GcnCheck {
  std::string key;      // in JSON
  std::string what;     // "logits"
  std::string against;  // "the folder's expectation"
  GcnVerdict verdict;
};

struct GcnAccuracy {
  std::int64_t right = 0, of = 0;
  std::optional<std::int64_t> recorded;
  /// The fewest and the most vertices that may be classified correctly with every logit within its bound; nothing where
  /// no bounds were computed.
  std::optional<std::int64_t> fewest, most;
  /// Rounding does not explain the recorded number: labels, split or weights are not those it was recorded with.
  [[nodiscard]] bool differs() const {
    return recorded && fewest && (*recorded < *fewest || *recorded > *most);
  }
};

struct GcnJudgement {
  std::vector<GcnCheck> checks;  // empty: nothing was compared
  std::optional<GcnAccuracy> accuracy;
  [[nodiscard]] bool differs() const;
};

/// Judges runs of one network in one type; bounds are computed when first needed and kept for the next run.
class GcnJudge {
 public:
  /// `net` and `expectation` must outlive it.
  GcnJudge(const Gcn<double>& net, Dtype dtype, const GcnExpectation& expectation)
      : net_(net), dtype_(dtype), expectation_(expectation) {}

  /// With `check` also the hidden layers, the compensated reference, each layer from the second on alone on what the run had
  /// before it, and both orders of products by `run_with`. Without,
  /// the reference is computed only where nothing is expected and it takes seconds. `progress` may be empty.
  template <class T>
  [[nodiscard]] GcnJudgement judge(const GcnRun<T>& run, bool check,
                                   const std::function<GcnRun<T>(GcnOrder)>& run_with,
                                   const std::function<void(const char*)>& progress = {});

 private:
  /// `stored`: bounds around an expectation made before the inputs were rounded.
  const GcnReference& reference(bool stored, const std::function<void(const char*)>& progress);
  template <class T>
  void compare_expected(const GcnRun<T>& run, const GcnReference& bounds, bool check,
                        GcnJudgement& judgement) const;
  template <class T>
  static void compare_reference(const GcnRun<T>& run, const GcnReference& reference, bool check,
                                GcnJudgement& judgement);
  template <class T>
  void compare_layers(const GcnRun<T>& run, GcnJudgement& judgement) const;
  template <class T>
  [[nodiscard]] std::optional<GcnAccuracy> accuracy(const GcnRun<T>& run) const;

  // Whether the inputs, which are fp64, were rounded for the candidate.
  [[nodiscard]] bool rounds() const { return facts(dtype_).in != Format::f64; }

  const Gcn<double>& net_;
  Dtype dtype_;
  const GcnExpectation& expectation_;
  std::optional<GcnReference> own_, stored_;
};

}  // namespace plumb
