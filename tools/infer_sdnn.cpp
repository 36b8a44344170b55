// infer sdnn: the Sparse DNN Graph Challenge, and any other sparse network.
#include <malloc.h>
#include <omp.h>

#include <memory>
#include <numeric>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "datasets/formats/format_table.hpp"
#include "datasets/formats/save_matrix.hpp"
#include "datasets/io/output_file.hpp"
#include "datasets/networks/network_folder.hpp"
#include "reference/core/csr.hpp"
#include "reference/core/error.hpp"
#include "reference/core/memory.hpp"
#include "reference/core/text.hpp"
#include "reference/models/chips.hpp"
#include "reference/models/sparse_dnn/absorbing.hpp"
#include "reference/models/sparse_dnn/devices.hpp"
#include "reference/models/sparse_dnn/ranks.hpp"
#include "reference/models/sparse_dnn/sparse_dnn.hpp"
#include "reference/models/sparse_dnn/streamed.hpp"
#include "reference/models/sparse_dnn/tile.hpp"
#include "tools/infer.hpp"
#include "tools/infer_ranks.hpp"
#include "tools/terminal.hpp"

namespace plumb {

namespace {

constexpr float kOfficialCap = 32;
constexpr std::int64_t kMostGpus = 4096;  // of --dry-run
constexpr std::int64_t kShareOfAllocator =
    64;  // of --memory: what is freed in pieces stays with the allocator

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

bool drops_absorbed(const SdnnOptions& o) { return o.absorbing == "on"; }
bool streams(const SdnnOptions& o) { return o.memory > 0; }

/// Inputs that are made a batch at a time, or else those that are held.
const RowSource& rows_or(const std::shared_ptr<const RowSource>& made, const HeldRows& held) {
  if (made != nullptr) return *made;
  return held;
}

/// True where --memory is of this process: of a device it is that device's.
bool bounds_process(const SdnnOptions& o) { return streams(o) && space_of(o) == Space::host; }

/// Prepares the process for a bound, and returns what it takes by now. Large arrays are given back to the system when they are
/// freed; without that the allocator keeps more of them, the more it has seen.
std::int64_t begin_bounded_memory() {
  constexpr int kLargeArray = 1 << 20;
  static_cast<void>(mallopt(M_MMAP_THRESHOLD, kLargeArray));
  return peak_memory();
}

/// Errors: reading files took more than --memory allows.
void require_read_within_memory(const SdnnOptions& o) {
  if (!bounds_process(o) || peak_memory() <= o.memory) return;
  throw Error(fmt::format(
      "sparse DNN: {} of memory are too little: reading the inputs and weights took {}; a binary cache "
      "is not read whole (dataset convert)",
      show_amount(o.memory), show_amount(peak_memory())));
}

/// --memory: of this process with the program itself, its libraries, and what its allocator does not give back; of a device, all of
/// it. Errors: it leaves nothing.
MemoryBound memory_bound(const SdnnOptions& o) {
  MemoryBound bound(o.memory);
  if (!bounds_process(o)) return bound;
  bound.program = o.program_memory, bound.allocator_share = kShareOfAllocator;
  if (bound.for_data() > 0) return bound;
  throw Error(fmt::format("sparse DNN: {} of memory are too little: the program itself takes {}",
                          show_amount(o.memory), show_amount(bound.program)));
}

/// A dry run counts what a device would hold, which need not be there.
bool counts_device(const SdnnOptions& o) { return o.dry_run && space_of(o) == Space::device; }

/// Why a pipeline does not run here at all, but for the network: there is no device. Else an empty string.
std::string_view lacks(const SdnnPipeline& p) {
  const char* const reason = p.unsupported({});
  return reason != nullptr ? reason : "";
}

/// Why this pipeline cannot run as asked, or not be counted; null: it can.
const char* why_not(const SdnnPipeline& p, const SdnnOptions& o, const SparseDnn& net) {
  const char* const reason = p.unsupported(net);
  if (reason != nullptr && !(counts_device(o) && reason == lacks(p))) return reason;
  if (counts_device(o) && !p.has_device_count()) return "--dry-run: its memory on a device is not counted";
  if (streams(o) && !p.has_streamed_plan()) return "--memory: it holds the weights of all layers";
  return drops_absorbed(o) && !p.has_absorbing_plan() ? "--absorbing on: it computes every active row"
                                                      : nullptr;
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
    if (space == Space::device && names.empty()) no_device = counts_device(o) ? nullptr : p->unsupported({});
    names.emplace_back(p->name);
    const bool wanted = o.pipeline == "auto" ? p->structure == structure : is_named(*p, o.pipeline);
    if (!wanted || chosen != nullptr) continue;
    if (const char* const reason = why_not(*p, o, net); reason != nullptr) {
      reasons.push_back(fmt::format("{}: {}", p->name, reason));
    } else {
      chosen = p;
    }
  }
  if (no_device != nullptr) throw NoDevice(no_device);
  if (chosen == nullptr) refuse(o, std::move(names), reasons);
  return *chosen;
}

/// What the run adds to the facts about its data.
void add_run(SdnnFacts& s, const SparseDnn& net, SdnnRun& run) {
  s.neurons = net.neurons, s.layers = net.layers(), s.edges = net.edges(0, net.layers());
  s.bias = net.bias, s.cap = net.cap;
  s.bias_of_each_neuron = !net.biases.empty();
  for (std::int64_t l = 0; l < net.layers(); ++l) {
    const std::int64_t left = run.absorbed.empty() ? 0 : run.absorbed[static_cast<std::size_t>(l)];
    s.active_edges += static_cast<double>(run.active[static_cast<std::size_t>(l)] - left) *
                      static_cast<double>(net.edges(l, l + 1));
  }
  s.active_rows = std::move(run.active);
  s.absorbed_rows = std::move(run.absorbed);
  s.layer_seconds = std::move(run.layer_seconds);
  s.streaming = run.streaming;
}

SdnnExpectation expectation_of(const SdnnOptions& o, const SdnnSources& sources, const SdnnData& data) {
  SdnnExpectation e;
  e.check = o.check;
  e.has_list = !sources.paths.categories.empty();
  e.list = data.categories;
  const bool official = sources.official_inputs && o.data.weights.empty() && has_official_terms(o);
  const std::int64_t inputs = rows_or(data.rows, HeldRows(data.images)).rows();
  if (official && inputs == kSdnnInputs) e.count = official_category_count(o.data.neurons);
  return e;
}

/// All that a run needs, whichever the network is.
struct Loaded {
  SparseDnn net;
  Csr<float> images;
  std::shared_ptr<const RowSource> rows;  // in place of `images`: inputs that are made a batch at a time
  std::int64_t outputs = 0;               // neurons of the last layer
  std::int64_t making_bytes = 0;          // that making `images` took for a while
  const SdnnPipeline* pipeline = nullptr;
  SdnnFacts facts;  // where the data come from
  SdnnExpectation expectation;
  double seconds = 0;
};

/// Makes the plan that is asked for. `loaded` must outlive it.
SdnnPlanMaker plan_maker(const SdnnOptions& o, const Loaded& loaded) {
  if (streams(o)) {
    return [&loaded, bound = memory_bound(o)] { return loaded.pipeline->plan_streamed(loaded.net, bound); };
  }
  if (!drops_absorbed(o)) return [&loaded] { return loaded.pipeline->plan(loaded.net); };
  return [&loaded, states = find_absorbing_states(loaded.net)] {
    return loaded.pipeline->plan_absorbing(loaded.net, states);
  };
}

Loaded load_challenge(const SdnnOptions& o, Progress& progress) {
  if (o.data.neurons < 1 || o.data.layers < 1) throw Error("--neurons and --layers must be at least 1");
  SdnnRequest request = o.data;
  request.official_terms = has_official_terms(o);
  request.one_by_one = streams(o);
  if (bounds_process(o)) request.host_memory = memory_bound(o);
  Loaded loaded;
  SparseDnn& net = loaded.net;
  net.neurons = loaded.outputs = o.data.neurons;
  net.bias = o.bias_given ? o.bias : official_bias(net.neurons);
  net.cap = o.cap;

  // the pipeline is chosen before, by the size of the network alone: loading may take minutes
  const SdnnSources sources = find_sdnn_sources(request);
  loaded.pipeline = &choose(o, net);
  progress.say("loading weights and inputs ...");
  const Stopwatch loading;
  SdnnData data = load_sdnn(sources, request);
  net.gather = std::move(data.gather);
  net.source = std::move(data.source);
  validate(net);
  validate_inputs(net, rows_or(data.rows, HeldRows(data.images)));
  loaded.seconds = loading.seconds();
  loaded.expectation = expectation_of(o, sources, data);
  loaded.images = std::move(data.images), loaded.rows = std::move(data.rows);
  loaded.making_bytes = data.making_bytes;
  loaded.facts.weights_from = sources.weights_from, loaded.facts.images_from = sources.images_from;
  if (!sources.anything_found) loaded.facts.searched = sources.searched;
  return loaded;
}

/// A network of any shape, from the files that a network.json names.
Loaded load_network(const SdnnOptions& o, Progress& progress) {
  progress.say("loading weights and inputs ...");
  const Stopwatch loading;
  NetworkFiles files = read_network_files(o.network, o.data.images);
  Loaded loaded;
  loaded.images = std::move(files.images);
  const std::int64_t there = loaded.images.rows;
  if (o.data.inputs > 0 && o.data.inputs < loaded.images.rows)
    loaded.images = slice_rows(loaded.images, 0, o.data.inputs);
  loaded.net = files.bias_at_nonzeros
                   ? square_network(std::move(files.gather), *files.bias_at_nonzeros, files.cap)
                   : square_network(std::move(files.gather), std::move(files.biases), files.cap);
  loaded.images.cols = loaded.net.neurons;
  validate(loaded.net);
  validate_inputs(loaded.net, loaded.images);
  loaded.pipeline = &choose(o, loaded.net);
  loaded.seconds = loading.seconds();
  loaded.expectation.check = o.check;
  if (!o.data.categories.empty()) {
    loaded.expectation.has_list = true;
    loaded.expectation.list = categories_of_first(loaded.images.rows, o.data.categories, there);
  }
  loaded.outputs = files.widths.back();
  loaded.facts.widths = std::move(files.widths);
  loaded.facts.weights_from = "network " + files.file;
  loaded.facts.images_from = "inputs " + files.images_from;
  return loaded;
}

/// The neurons that the last layer has; the others are 0.
Csr<float> first_columns(Csr<float> y, std::int64_t columns) {
  y.cols = columns;
  return y;
}

Loaded load(const SdnnOptions& o, Progress& progress) {
  Loaded loaded = o.network.empty() ? load_challenge(o, progress) : load_network(o, progress);
  const HeldRows held(loaded.images);
  const RowSource& inputs = rows_or(loaded.rows, held);
  loaded.facts.inputs = inputs.rows(), loaded.facts.input_nonzeros = inputs.entries(0, inputs.rows());
  require_memory(fmt::format("the answer to {} inputs", inputs.rows()), sdnn_answer_bytes(inputs.rows()));
  const SparseDnn& net = loaded.net;
  if (o.dry_run) return loaded;
  require_executor_can(o,
                       static_cast<double>(net.edges(0, net.layers())) * static_cast<double>(inputs.rows()));
  return loaded;
}

void add_gpus(ModelReport& report, const std::vector<SdnnDevicePart>& parts, const SdnnJudgement& judgement) {
  for (const SdnnDevicePart& part : parts)
    report.gpus.push_back({part.name,
                           static_cast<std::int64_t>(part.inputs.size()),
                           part.peak_bytes,
                           part.seconds,
                           finding_of(judgement, part.inputs),
                           {}});
}

/// Plans, runs and judges in this process, on `devices` of them where that is not 0; or with its part of the inputs as one
/// of the ranks, then the answer to all inputs and the facts are rank 0's.
void execute_alone(const SdnnOptions& o, int devices, Loaded& loaded, ModelReport& report,
                   Progress& progress) {
  const SparseDnn& net = loaded.net;
  const Stopwatch planning;
  const SdnnPlanMaker make_plan = plan_maker(o, loaded);
  SdnnDevicesPlan* split = nullptr;
  std::unique_ptr<SdnnPlan> plan;
  if (devices == 0) {
    plan = make_plan();
  } else {
    auto of_devices = std::make_unique<SdnnDevicesPlan>(make_plan, *device_side, devices);
    split = of_devices.get();
    plan = std::move(of_devices);
  }
  report.times.plan = planning.seconds();
  progress.say("inference ...");
  const HeldRows held(loaded.images);
  const RowSource& inputs = rows_or(loaded.rows, held);
  SdnnRun run = timed_runs(o, report.times, [&] { return plan->run_rows(inputs, 0, net.layers()); });
  report.peak_bytes = peak_memory();
  std::vector<SdnnDevicePart> parts;  // of this run: the judge makes others
  if (split != nullptr) parts = split->parts(), report.host_to_host = split->host_to_host();
  if (!o.out.empty()) save_matrix(o.out, first_columns(run.y, loaded.outputs));
  loaded.facts.judgement =
      judge_sdnn(net, *plan, inputs, run, loaded.expectation, [&](const char* what, std::int64_t rows) {
        progress.say(fmt::format("{}: {} of {} inputs", what, rows, inputs.rows()));
      });
  add_gpus(report, parts, loaded.facts.judgement);
  add_run(loaded.facts, net, run);
}

/// Rank 0's network and choice of a pipeline to all, and to each its part of the inputs.
Cuts distribute(Ranks& ranks, const SdnnOptions& o, Loaded& loaded) {
  broadcast_network(ranks, loaded.net);
  std::string pipeline = ranks.is_root() ? loaded.pipeline->name : "";
  ranks.broadcast("pipeline", pipeline);
  if (!ranks.is_root()) {
    SdnnOptions same = o;
    same.pipeline = pipeline;
    loaded.pipeline = &choose(same, loaded.net);
  }
  Cuts cuts = cut_evenly(loaded.images.rows, ranks.size());
  loaded.images = scatter_rows(ranks, loaded.images, cuts);
  return cuts;
}

/// `device`: this rank's, or "".
void execute_on_ranks(Ranks& ranks, const SdnnOptions& o, const std::string& device, Loaded& loaded,
                      ModelReport& report, Progress& progress) {
  const Cuts cuts = distribute(ranks, o, loaded);
  const SparseDnn& net = loaded.net;
  const Stopwatch planning;
  const std::unique_ptr<SdnnPlan> plan = plan_maker(o, loaded)();
  report.times.plan = planning.seconds();
  progress.say("inference ...");
  SdnnRanksRun run = timed_runs(
      o, report.times, [&] { return run_over_ranks(ranks, cuts, *plan, loaded.images, net.layers()); });
  report.peak_bytes = peak_memory();
  if (!o.out.empty()) {
    Csr<float> all = gather_rows(ranks, run.y);
    if (ranks.is_root()) save_matrix(o.out, first_columns(std::move(all), loaded.outputs));
  }
  SdnnRanksJudgement judged = judge_over_ranks(
      ranks, cuts, net, *plan, loaded.images, run, loaded.expectation,
      [&](const char* what, std::int64_t rows) {
        progress.say(fmt::format("{}: {} of {} inputs of rank 0", what, rows, loaded.images.rows));
      });
  report.ranks = gather_facts(ranks, cuts, report.peak_bytes, device);
  for (std::size_t r = 0; r < report.ranks.size(); ++r) report.ranks[r].finding = finding_of(judged.parts[r]);
  loaded.facts.judgement = std::move(judged.all);
  loaded.facts.sampled_by_rank = true;
  if (ranks.is_root()) add_run(loaded.facts, net, run);
}

/// What the plan of a rank takes of the host's memory: of the host's fast pipeline.
std::int64_t plan_bytes(const Loaded& loaded) {
  return loaded.pipeline == &kSdnnCacheBlocked ? sdnn::cache_blocked_bytes(loaded.net) : 0;
}

/// Of answers to `inputs` inputs like those of `sample`: in parts of threads, and put together.
std::int64_t answer_bytes(const SdnnRun& sample, std::int64_t inputs) {
  constexpr double kPerValue = 2 * 8;
  const double rows = static_cast<double>(std::max<std::int64_t>(sample.y.rows, 1));
  return static_cast<std::int64_t>(kPerValue * static_cast<double>(sample.y.nnz()) *
                                   static_cast<double>(inputs) / rows);
}

/// The shape and the row pointers of some rows, without entries.
Csr<float> shape_of_rows(const RowSource& y, const std::vector<std::int64_t>& rows) {
  Csr<float> shape = empty_rows(static_cast<std::int64_t>(rows.size()), y.cols());
  for (std::size_t i = 0; i < rows.size(); ++i)
    shape.row_ptr[i + 1] = shape.row_ptr[i] + static_cast<std::int32_t>(y.entries(rows[i], rows[i] + 1));
  return shape;
}

/// The inputs of each GPU, as a run gives them.
RowShares inputs_of_gpus(const SdnnOptions& o, const Loaded& loaded, int gpus) {
  if (gpus > 0) return deal_rows(loaded.images, gpus);
  const HeldRows held(loaded.images);
  const Cuts cuts = cut_evenly(rows_or(loaded.rows, held).rows(), static_cast<int>(o.ranks));
  RowShares shares;
  for (std::size_t r = 0; r + 1 < cuts.size(); ++r) {
    shares.emplace_back(static_cast<std::size_t>(cuts[r + 1] - cuts[r]));
    std::iota(shares.back().begin(), shares.back().end(), cuts[r]);
  }
  return shares;
}

/// The memory of each GPU: of one for each rank, or of `gpus` of one rank, to which inputs are dealt as by --gpus.
std::vector<GpuNeeds> gpus_needed(const SdnnOptions& o, const Loaded& loaded, int gpus) {
  if (space_of(o) == Space::host) return {};
  const Chip& chip = find_chip(o.chip);
  const SdnnDeviceCount count =
      loaded.pipeline->device_count(loaded.net, {{chip.shared_bytes, chip.sm}, o.memory, drops_absorbed(o)});
  const HeldRows held(loaded.images);
  std::vector<GpuNeeds> needs;
  for (const std::vector<std::int64_t>& inputs : inputs_of_gpus(o, loaded, gpus)) {
    const SdnnDeviceMemory m = count(shape_of_rows(rows_or(loaded.rows, held), inputs));
    std::string batches;
    if (streams(o))
      batches = fmt::format("; {} of {} layers at a time, batches of up to {} inputs: {}", m.window,
                            loaded.net.layers(), m.batch, m.batches);
    needs.push_back({static_cast<std::int64_t>(inputs.size()),
                     {{"weights", m.weights},
                      {"plan", m.plan},
                      {"inputs", m.inputs},
                      {"panels", m.panels},
                      {"workspace", m.workspace},
                      {"answer", m.answer}},
                     batches});
  }
  return needs;
}

/// --gpus of a dry run: how many; 0 without it. Errors: "all", as none need be there; several ranks, each of which has one GPU.
int gpus_of_dry_run(const SdnnOptions& o) {
  if (o.gpus.empty()) return 0;
  if (space_of(o) == Space::host || o.gpus == "all" || o.ranks > 1)
    throw Error("--gpus of --dry-run is a number of GPUs, of --device gpu and one rank");
  const std::int64_t gpus = parse_size(o.gpus, "--gpus");
  if (gpus < 1 || gpus > kMostGpus) throw Error(fmt::format("--gpus must be 1 to {}", kMostGpus));
  return static_cast<int>(gpus);
}

/// How many answers there are rests on how many inputs stay active, which a run of some of them on the CPU shows.
struct Sample {
  SdnnRun run;
  std::int64_t inputs = 0;
};
Sample run_some(const SdnnOptions& o, const Loaded& loaded) {
  constexpr std::int64_t kSample = 5000;
  const SparseDnn& net = loaded.net;
  const auto shares = static_cast<int>((loaded.images.rows + kSample - 1) / kSample);
  const Csr<float> some = take_rows(loaded.images, deal_rows(loaded.images, std::max(shares, 1))[0]);
  const std::unique_ptr<SdnnPlan> plan =
      drops_absorbed(o) ? kSdnnCacheBlocked.plan_absorbing(net, find_absorbing_states(net))
                        : kSdnnCacheBlocked.plan(net);
  return {plan->run(some, 0, net.layers()), some.rows};
}

/// `gpus`: as gpus_of_dry_run() says. Memory and traffic follow from the data. Within a bound the memory of a GPU is all that is known.
int dry_run(const SdnnOptions& o, int gpus, const Loaded& loaded, Progress& progress) {
  const SparseDnn& net = loaded.net;
  progress.say("memory of GPUs ...");
  Needs needs{"inputs", {}, gpus_needed(o, loaded, gpus)};
  if (!streams(o)) {
    progress.say("some of the inputs ...");
    const auto ranks = static_cast<int>(o.ranks);
    const Sample sample = run_some(o, loaded);
    needs.ranks = needs_over_ranks(
        net, loaded.images, ranks,
        {loaded.making_bytes, plan_bytes(loaded), answer_bytes(sample.run, loaded.images.rows)});
  }
  progress.clear();
  return report_needs(o, needs);
}

void require_sdnn_outputs(const SdnnOptions& o) {
  require_outputs(o);
  if (o.out.empty()) return;
  static_cast<void>(format_of_output(o.out));  // an unknown ending
  require_writable(o.out);
}

}  // namespace

std::vector<std::string> inputs_of(const SdnnOptions& o) {
  if (!o.network.empty()) return {o.network, o.data.images, o.data.categories};
  try {
    const SdnnSources s = find_sdnn_sources(o.data);
    return {s.paths.weights, s.paths.images, s.paths.categories, s.mnist};
  } catch (const Error&) { return {"", "", "", ""}; }  // rank 0 says what is not there
}

int infer_sdnn(const SdnnOptions& options, Ranks* ranks) {
  SdnnOptions o = options;
  require_memory_alone(o, ranks,
                       {{drops_absorbed(o), "--absorbing on"},
                        {o.dry_run && space_of(o) == Space::host, "--dry-run on the CPU"},
                        {o.ranks > 1, "--ranks"}});
  if (bounds_process(o)) o.program_memory = begin_bounded_memory();
  const bool reports = ranks == nullptr || ranks->is_root();
  ModelReport report;
  Progress progress(!reports);
  Loaded loaded;
  const int devices = o.dry_run ? gpus_of_dry_run(o) : devices_of(o);
  std::string device;
  if (ranks != nullptr && space_of(o) == Space::device) device = take_device(*ranks, o);
  if (reports) {
    require_sdnn_outputs(o);
    loaded = load(o, progress);
    require_read_within_memory(o);
    report.times.load = loaded.seconds;
  }
  if (o.dry_run) { return dry_run(o, devices, loaded, progress); }
  if (ranks == nullptr) {
    execute_alone(o, devices, loaded, report, progress);
  } else {
    execute_on_ranks(*ranks, o, device, loaded, report, progress);
  }
  progress.clear();
  if (!reports) return kOk;

  report.sdnn = std::move(loaded.facts);
  report.sdnn->list = o.data.categories.empty() ? "the published list" : o.data.categories;
  report.verbose = o.verbose;
  report.pipeline = loaded.pipeline->name, report.about = loaded.pipeline->about, report.device = o.device;
  report.structure = loaded.pipeline->structure;
  report.on_host = loaded.pipeline->space == Space::host;
  report.threads = omp_get_max_threads();
  print(report, output_for_words(o));
  if (!o.json.empty()) write_json(o.json, to_json(report));
  return report.differs() ? kFailed : kOk;
}

}  // namespace plumb
