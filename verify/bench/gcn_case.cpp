#include "verify/bench/gcn_case.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "datasets/networks/drawn_gcn.hpp"
#include "reference/core/error.hpp"
#include "reference/models/gcn/judge.hpp"
#include "tools/terminal.hpp"

namespace plumb {
namespace {

constexpr const char* kGcn = "gcn";

std::string variant_name(const GcnPipeline& p) {
  const std::string name = p.name, prefix = "gpu_";
  const bool on_device = p.space == Space::device;
  return (on_device ? "gpu/" : "cpu/") + (name.rfind(prefix, 0) == 0 ? name.substr(prefix.size()) : name);
}

const GcnPipeline& pipeline_of(const VariantInfo& v) {
  for (const GcnPipeline* p : gcn_pipelines()) {
    if (variant_name(*p) == v.name) return *p;
  }
  throw Error(fmt::format("no pipeline '{}'", v.name));
}

/// "" where every element is within its bound.
template <class T>
std::string why_wrong(const GcnRun<T>& run, const GcnReference& want) {
  const auto misses = [](const char* what, const GcnVerdict& v) {
    return v.misses == 0
               ? ""
               : fmt::format("{} of {} elements of {} outside their bound", v.misses, v.compared, what);
  };
  std::string reason;
  for (std::size_t l = 0; l < want.hidden.size() && reason.empty(); ++l)
    reason = misses("a hidden layer", judge_matrix(run.hidden.at(l), want.hidden[l], want.hidden_bound[l]));
  if (reason.empty()) reason = misses("the logits", judge_matrix(run.logits, want.logits, want.logits_bound));
  if (reason.empty())
    reason = misses("LogSoftmax", judge_matrix(run.log_softmax, want.log_softmax, want.log_softmax_bound));
  return reason;
}

/// The inferences of a run: in device memory, or the run itself.
template <class T>
std::vector<double> inferences_of(const GcnRun<T>& run) {
  return run.device.repeats > 0 ? run.device.inferences : std::vector<double>{run.seconds};
}

/// Bytes of the operands and the answer, each once.
template <class T>
double compulsory_bytes(const Gcn<T>& net) {
  auto bytes = static_cast<double>(bytes_of(net.a) + (net.sparse_features ? bytes_of(net.x_sparse) : 0));
  auto elements = static_cast<double>(net.x_dense.data.size()) +
                  static_cast<double>(net.vertices()) * static_cast<double>(net.classes());
  for (const Dense<T>& w : net.weights) elements += static_cast<double>(w.data.size());
  return bytes + elements * sizeof(T);
}

}  // namespace

bool names_gcn(const std::string& cases) { return cases == kGcn || cases.rfind("gcn.", 0) == 0; }

std::vector<Case> gcn_cases(const std::string& cases, int drawn, std::uint64_t seed, const TimedSize& size) {
  if (cases != kGcn) return {parse_case(cases)};
  if (drawn == 0) throw Error("no GCN is listed: --drawn N draws some, and --case takes the id of one");
  std::vector<Case> all;
  for (int i = 0; i < drawn; ++i) {
    all.push_back(
        draw_timed_gcn_case(seed, static_cast<std::uint64_t>(i),
                            {size.least_bytes, size.most_bytes, size.most_work, size.most_entries}));
  }
  return all;
}

std::vector<VariantInfo> gcn_variants() {
  std::vector<VariantInfo> all;
  for (const bool library : {true, false}) {
    for (const GcnPipeline* p : gcn_pipelines()) {
      if (p->library != library) continue;
      for (const Dtype dtype : kUsualDtypes) {
        VariantInfo v;
        v.op = kGcn, v.name = variant_name(*p), v.dtype = dtype;
        v.device = p->space == Space::device ? Device::gpu : Device::cpu;
        v.traits.library = library;
        all.push_back(std::move(v));
      }
    }
  }
  return all;
}

bool is_taken_unasked(const VariantInfo& v) {
  const Space space = v.device == Device::gpu ? Space::device : Space::host;
  const std::vector<const GcnPipeline*> all = gcn_pipelines();  // the best of each space first
  const auto first =
      std::find_if(all.begin(), all.end(), [&](const GcnPipeline* p) { return p->space == space; });
  return first != all.end() && variant_name(**first) == v.name;
}

GcnCase::GcnCase(const Case& c) : case_(c), f64_(network_of(gcn_of_case(c).f64)) {
  validate(f64_);
  set_scales(f64_);
  const bool rounds = facts(c.dtype).in != Format::f64;
  if (rounds) f32_ = convert<float>(f64_);
  reference_ = reference_gcn(f64_, c.dtype, rounding_of_inputs(f64_, rounds, false));
}

BenchResult GcnCase::time(const VariantInfo& v, const TimingRequest& timing) const {
  const GcnPipeline& pipeline = pipeline_of(v);
  return with_value_type(case_.dtype, [&](auto zero) {
    return time_in(of_value_type<decltype(zero)>(f32_, f64_), pipeline, v, timing);
  });
}

template <class T>
BenchResult GcnCase::time_in(const Gcn<T>& net, const GcnPipeline& pipeline, const VariantInfo& v,
                             const TimingRequest& timing) const {
  BenchResult r;
  r.case_id = case_.id(), r.op = case_.op, r.dtype = std::string(name(case_.dtype)), r.variant = v.name;
  r.device = std::string(name(v.device)), r.library = v.traits.library;
  r.bytes = compulsory_bytes(net);
  r.output_bytes = static_cast<double>(net.vertices() * net.classes()) * sizeof(T);
  for (std::size_t l = 0; l < net.weights.size(); ++l)
    r.flop += 2 * gcn_products(net, static_cast<std::int64_t>(l), GcnOrder::by_cost);
  const auto run = [&] {
    return of_value_type<T>(pipeline.run_f32, pipeline.run_f64)(net, GcnOrder::by_cost);
  };
  const auto judged = [&](const GcnRun<T>& done) {
    r.reason = why_wrong(done, reference_);
    r.verdict = std::string(name(r.reason.empty() ? Verdict::pass : Verdict::fail));
    return r.reason.empty();
  };
  GcnRun<T> done = run();
  if (!judged(done)) return r;
  if (done.device.repeats > 0) r.prepare = done.device.plan;
  if (timing.give_up_above > 0 && inferences_of(done).front() > timing.give_up_above) {
    r.single = inferences_of(done).front();
    return r;
  }
  Measurement& m = r.warm.emplace();
  const Stopwatch clock;
  do {
    done = {};  // its memory is free for the next
    done = run();
    for (const double seconds : inferences_of(done)) m.samples.push_back(seconds);
  } while (std::ssize(m.samples) < timing.samples && clock.seconds() < timing.budget);
  if (!judged(done)) {
    r.warm.reset();
    return r;
  }
  m.summary = summarise(m.samples);
  return r;
}

}  // namespace plumb
