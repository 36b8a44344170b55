#include "reference/models/gcn/judge.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "reference/arithmetic/fp.hpp"

namespace plumb {

namespace {

constexpr double kReferenceProducts = 2e9;  // the reference runs unasked below this: some seconds

/// Relative error of an operand that was rounded to fp32. Rounding to nearest is off by u at most; a product of k such
/// operands by (1 + u)^k - 1 <= 1.01 k u for k u < 0.01. reference_gcn adds the operands' errors up to first order: the
/// hundredth is for what that leaves out.
constexpr double kRoundedOperand = 1.01 * kUnit<float>;

/// An fp64 expectation carries roundings of its own, as large as those of an fp64 candidate: |got - want| <= |got - exact|
/// + |exact - want| <= 2 bounds. Beside the roundings of an fp32 candidate, 2^29 times larger, they are nothing.
constexpr double kBothRounded = 2;

/// A value of A by scales instead of by itself: 4 roundings in the one, 4 in the other (two roots, a product, a division; two scales of two
/// each), and a product more. In fp32 the scales are rounded once more.
double error_of_scales(bool rounded) { return 1.01 * (9 * kUnit<double> + (rounded ? 3 * kUnit<float> : 0)); }

constexpr const char* kFolder = "the folder's expectation";
constexpr const char* kReference = "the compensated reference";
constexpr const char* kOwnInput = "the compensated reference on the run's own layer before";

bool fit_f32(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) {
    return std::isnan(v) || v == static_cast<double>(static_cast<float>(v));
  });
}

Dense<double> scaled(Dense<double> bound, double factor) {
  for (double& b : bound.data) b *= factor;
  return bound;
}

template <class T>
bool same_shape(const Dense<T>& got, const Dense<double>& want) {
  return got.rows > 0 && got.rows == want.rows && got.cols == want.cols;
}

/// How many vertices of a split are classified correctly whatever their logits are within the bounds, and how many may be.
template <class T>
void bracket_accuracy(const Dense<T>& logits, const Dense<double>& bound, const GcnExpectation& e,
                      GcnAccuracy& a) {
  std::int64_t surely = 0, maybe = 0;
  for (const std::int32_t v : e.idx_test) {
    const T* const z = logits.data.data() + v * logits.cols;
    const double* const b = bound.data.data() + v * logits.cols;
    const std::int64_t label = e.labels[static_cast<std::size_t>(v)];
    bool sure = true, possible = true;
    for (std::int64_t j = 0; j < logits.cols; ++j) {
      if (j == label) continue;
      const double ahead = static_cast<double>(z[label]) - static_cast<double>(z[j]), room = b[label] + b[j];
      sure = sure && ahead > room;
      possible = possible && !(ahead < -room);
    }
    surely += sure ? 1 : 0;
    maybe += possible ? 1 : 0;
  }
  a.fewest = surely;
  a.most = maybe;
}

}  // namespace

GcnInputError rounding_of_inputs(const Gcn<double>& net, bool rounded, bool stored) {
  const auto error = [&](bool fits) {
    return (rounded && !fits) || (stored && fits) ? kRoundedOperand : 0.0;
  };
  bool weights_fit = true;
  for (const Dense<double>& w : net.weights) weights_fit = weights_fit && fit_f32(w.data);
  for (const std::vector<double>& b : net.biases) weights_fit = weights_fit && fit_f32(b);
  const double by_scales = net.scales.empty() ? 0 : error_of_scales(rounded);
  return {error(fit_f32(net.a.val)) + by_scales,
          error(fit_f32(net.sparse_features ? net.x_sparse.val : net.x_dense.data)), error(weights_fit)};
}

bool GcnJudgement::differs() const {
  return (accuracy && accuracy->differs()) ||
         std::any_of(checks.begin(), checks.end(), [](const GcnCheck& c) { return c.verdict.misses > 0; });
}

const GcnReference& GcnJudge::reference(bool stored, const std::function<void(const char*)>& progress) {
  std::optional<GcnReference>& kept = stored ? stored_ : own_;
  if (!kept) {
    if (progress) progress("reference ...");
    kept = reference_gcn(net_, dtype_, rounding_of_inputs(net_, rounds(), stored));
  }
  return *kept;
}

template <class T>
void GcnJudge::compare_expected(const GcnRun<T>& run, const GcnReference& bounds, bool check,
                                GcnJudgement& judgement) const {
  const double both = rounds() ? 1 : kBothRounded;
  const auto compare = [&](const char* key, const char* what, const Dense<T>& got, const Dense<double>& want,
                           const Dense<double>& bound) {
    if (!same_shape(got, want)) return;
    judgement.checks.push_back({key, what, kFolder, judge_matrix(got, want, scaled(bound, both))});
  };
  if (check && !run.hidden.empty())
    compare("expected_hidden", "hidden", run.hidden[0], expectation_.hidden, bounds.hidden_bound[0]);
  compare("expected_logits", "logits", run.logits, expectation_.logits, bounds.logits_bound);
  compare("expected_log_softmax", "log-softmax", run.log_softmax, expectation_.log_softmax,
          bounds.log_softmax_bound);
}

template <class T>
void GcnJudge::compare_reference(const GcnRun<T>& run, const GcnReference& reference, bool check,
                                 GcnJudgement& judgement) {
  const auto compare = [&](const std::string& key, const std::string& what, const Dense<T>& got,
                           const Dense<double>& want, const Dense<double>& bound) {
    judgement.checks.push_back({key, what, kReference, judge_matrix(got, want, bound)});
  };
  const std::size_t hidden = check ? reference.hidden.size() : 0;
  for (std::size_t l = 0; l < hidden; ++l) {
    const std::string number = hidden == 1 ? "" : std::to_string(l + 1);
    compare(number.empty() ? "hidden" : "hidden_" + number, number.empty() ? "hidden" : "hidden " + number,
            run.hidden.at(l), reference.hidden[l], reference.hidden_bound[l]);
  }
  compare("logits", "logits", run.logits, reference.logits, reference.logits_bound);
  compare("log_softmax", "log-softmax", run.log_softmax, reference.log_softmax, reference.log_softmax_bound);
}

template <class T>
void GcnJudge::compare_layers(const GcnRun<T>& run, GcnJudgement& judgement) const {
  const GcnInputError inputs = rounding_of_inputs(net_, rounds(), false);
  for (std::size_t l = 1; l < net_.weights.size(); ++l) {
    const Dense<T>& before = run.hidden.at(l - 1);
    const Dense<double> input{before.rows, before.cols, {before.data.begin(), before.data.end()}};
    const GcnLayerReference want = reference_layer(net_, l, input, dtype_, inputs);
    const Dense<T>& got = l < run.hidden.size() ? run.hidden[l] : run.logits;
    const std::string number = std::to_string(l + 1);
    judgement.checks.push_back(
        {"layer_" + number, "layer " + number, kOwnInput, judge_matrix(got, want.value, want.bound)});
  }
}

template <class T>
std::optional<GcnAccuracy> GcnJudge::accuracy(const GcnRun<T>& run) const {
  const GcnExpectation& e = expectation_;
  if (e.labels.empty() || e.idx_test.empty()) return {};
  GcnAccuracy found{count_right(run.logits, e.labels, e.idx_test),
                    static_cast<std::int64_t>(e.idx_test.size()),
                    e.test_correct,
                    {},
                    {}};
  if (const auto& bounds = stored_ ? stored_ : own_; bounds)
    bracket_accuracy(run.logits, bounds->logits_bound, e, found);
  return found;
}

template <class T>
GcnJudgement GcnJudge::judge(const GcnRun<T>& run, bool check,
                             const std::function<GcnRun<T>(GcnOrder)>& run_with,
                             const std::function<void(const char*)>& progress) {
  GcnJudgement judgement;
  double products = 0;
  for (std::size_t l = 0; l < net_.weights.size(); ++l)
    products += gcn_products(net_, static_cast<std::int64_t>(l), GcnOrder::by_cost);
  const bool expected = same_shape(run.logits, expectation_.logits);
  if (expected) compare_expected(run, reference(true, progress), check, judgement);
  if (check || (!expected && products < kReferenceProducts))
    compare_reference(run, reference(false, progress), check, judgement);
  if (check) {
    if (progress) progress("layers ...");
    compare_layers(run, judgement);
    const GcnReference& bounds = reference(false, progress);
    for (const GcnOrder order : {GcnOrder::transform_first, GcnOrder::aggregate_first}) {
      const GcnRun<T> other = run_with(order);
      judgement.checks.push_back({order == GcnOrder::transform_first ? "transform_first" : "aggregate_first",
                                  std::string("logits by ") + to_string(order), kReference,
                                  judge_matrix(other.logits, bounds.logits, bounds.logits_bound)});
    }
  }
  judgement.accuracy = accuracy(run);
  return judgement;
}

template GcnJudgement GcnJudge::judge(const GcnRun<float>&, bool,
                                      const std::function<GcnRun<float>(GcnOrder)>&,
                                      const std::function<void(const char*)>&);
template GcnJudgement GcnJudge::judge(const GcnRun<double>&, bool,
                                      const std::function<GcnRun<double>(GcnOrder)>&,
                                      const std::function<void(const char*)>&);

}  // namespace plumb
