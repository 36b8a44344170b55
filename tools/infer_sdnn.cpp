// infer sdnn: the Sparse DNN Graph Challenge.
#include <omp.h>

#include <memory>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "reference/core/error.hpp"
#include "reference/core/memory.hpp"
#include "reference/core/text.hpp"
#include "reference/models/sparse_dnn.hpp"
#include "tools/infer.hpp"
#include "tools/terminal.hpp"

namespace plumb {

namespace {

constexpr float kOfficialCap = 32;

bool has_official_terms(const SdnnOptions& o) {
  return o.cap == kOfficialCap && (!o.bias_given || o.bias == official_bias(o.data.neurons));
}

/// Says so where a pipeline was asked for by the name that it had before.
bool is_named(const SdnnPipeline& p, const std::string& name) {
  if (name == p.name) return true;
  if (p.former == nullptr || name != p.former) return false;
  fmt::print(stderr, "note: pipeline {} is called {} now; the old name works until the next version\n", name,
             p.name);
  return true;
}

[[noreturn]] void refuse(const SdnnOptions& o, std::vector<std::string> names,
                         const std::vector<std::string>& reasons) {
  if (!reasons.empty()) throw Error(fmt::format("pipeline {}", fmt::join(reasons, "; ")));
  if (o.pipeline == "auto") {
    throw Error(fmt::format("no pipeline of class {} on {}; known are: {}", o.structure, o.device,
                            fmt::join(names, ", ")));
  }
  names.emplace_back("auto");
  throw Error(fmt::format("pipeline '{}' is none of {}{}", printable(o.pipeline), fmt::join(names, ", "),
                          did_you_mean(o.pipeline, names)));
}

/// Errors: NoDevice; no such pipeline; one that refuses networks of this size.
const SdnnPipeline& choose(const SdnnOptions& o, const SparseDnn& net) {
  const Space space = space_of(o);
  const SdnnStructure structure = parse_structure(o.structure);
  std::vector<std::string> names, reasons;
  const SdnnPipeline* chosen = nullptr;
  const char* no_device = space == Space::device ? kNoGpuSide : nullptr;
  for (const SdnnPipeline* p : sdnn_pipelines()) {
    if (p->space != space) continue;
    // What refuses even a network without neurons lacks a device, not a property of this network.
    if (space == Space::device && names.empty()) no_device = p->unsupported({});
    names.emplace_back(p->name);
    const bool wanted = o.pipeline == "auto" ? p->structure == structure : is_named(*p, o.pipeline);
    if (!wanted || chosen != nullptr) continue;
    if (const char* const reason = p->unsupported(net); reason != nullptr) {
      reasons.push_back(fmt::format("{}: {}", p->name, reason));
    } else {
      chosen = p;
    }
  }
  if (no_device != nullptr) throw NoDevice(no_device);
  if (chosen == nullptr) refuse(o, std::move(names), reasons);
  return *chosen;
}

SdnnFacts facts_of(const SdnnSources& sources, const SparseDnn& net, const Csr<float>& images, SdnnRun& run) {
  SdnnFacts s;
  s.weights_from = sources.weights_from, s.images_from = sources.images_from;
  if (!sources.anything_found) s.searched = sources.searched;
  s.neurons = net.neurons, s.layers = net.layers(), s.edges = net.edges(0, net.layers());
  s.inputs = images.rows, s.input_nonzeros = images.nnz();
  s.bias = net.bias, s.cap = net.cap;
  for (std::int64_t l = 0; l < net.layers(); ++l) {
    s.active_edges += static_cast<double>(run.active[static_cast<std::size_t>(l)]) *
                      static_cast<double>(net.edges(l, l + 1));
  }
  s.active_rows = std::move(run.active);
  s.layer_seconds = std::move(run.layer_seconds);
  return s;
}

SdnnExpectation expectation_of(const SdnnOptions& o, const SdnnSources& sources, const SdnnData& data) {
  SdnnExpectation e;
  e.check = o.check;
  e.has_list = !sources.paths.categories.empty();
  e.list = data.categories;
  const bool official = sources.official_inputs && o.data.weights.empty() && has_official_terms(o);
  if (official && data.images.rows == kSdnnInputs) e.count = official_category_count(o.data.neurons);
  return e;
}

}  // namespace

int infer_sdnn(const SdnnOptions& o) {
  if (o.data.neurons < 1 || o.data.layers < 1) throw Error("--neurons and --layers must be at least 1");
  require_outputs(o);
  SdnnRequest request = o.data;
  request.official_terms = has_official_terms(o);
  SparseDnn net;
  net.neurons = o.data.neurons;
  net.bias = o.bias_given ? o.bias : official_bias(net.neurons);
  net.cap = o.cap;
  ModelReport report;
  Progress progress;

  // load; the pipeline is chosen before, by the size of the network alone: loading may take minutes
  const SdnnSources sources = find_sdnn_sources(request);
  const SdnnPipeline& pipeline = choose(o, net);
  progress.say("loading weights and inputs ...");
  const Stopwatch loading;
  SdnnData data = load_sdnn(sources, request);
  net.gather = std::move(data.gather);
  validate(net);
  validate_inputs(net, data.images);
  report.times.load = loading.seconds();
  require_memory(fmt::format("the answer to {} inputs", data.images.rows),
                 sdnn_answer_bytes(data.images.rows));
  require_executor_can(
      o, static_cast<double>(net.edges(0, net.layers())) * static_cast<double>(data.images.rows));

  // plan and run
  const Stopwatch planning;
  const std::unique_ptr<SdnnPlan> plan = pipeline.plan(net);
  report.times.plan = planning.seconds();
  progress.say("inference ...");
  SdnnRun run = timed_runs(o, report.times, [&] { return plan->run(data.images, 0, net.layers()); });
  report.peak_bytes = peak_memory();

  // judge
  report.sdnn = facts_of(sources, net, data.images, run);
  report.sdnn->list = o.data.categories.empty() ? "the published list" : o.data.categories;
  report.sdnn->judgement =
      judge_sdnn(net, *plan, data.images, run, expectation_of(o, sources, data),
                 [&](const char* what, std::int64_t rows) {
                   progress.say(fmt::format("{}: {} of {} inputs", what, rows, data.images.rows));
                 });
  progress.clear();

  // report
  report.verbose = o.verbose;
  report.pipeline = pipeline.name, report.about = pipeline.about, report.device = o.device;
  report.structure = pipeline.structure;
  report.on_host = pipeline.space == Space::host;
  report.threads = omp_get_max_threads();
  print(report, output_for_words(o));
  if (!o.json.empty()) write_json(o.json, to_json(report));
  return report.differs() ? kFailed : kOk;
}

}  // namespace plumb
