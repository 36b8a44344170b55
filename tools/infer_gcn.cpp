// infer gcn: a graph convolutional network of any number of layers.
#include <omp.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "datasets/formats/npy.hpp"
#include "datasets/io/output_file.hpp"
#include "datasets/networks/drawn_gcn.hpp"
#include "reference/core/error.hpp"
#include "reference/core/text.hpp"
#include "reference/models/gcn/gcn.hpp"
#include "reference/models/gcn/ranks.hpp"
#include "tools/infer.hpp"
#include "tools/infer_ranks.hpp"
#include "tools/terminal.hpp"

namespace plumb {

namespace {

/// The network in both types, and what is known about its answer.
struct GcnInHand {
  std::string from, graph;
  Gcn<double> f64;
  Gcn<float> f32;
  double normalise_seconds = 0;
  bool f64_files = false;
  GcnExpectation expectation;

  template <class T>
  [[nodiscard]] const Gcn<T>& as() const {
    return of_value_type<T>(f32, f64);
  }
};

GcnInHand load_network(const GcnOptions& o) {
  LoadedGcn loaded = load_gcn(o.data);
  for (const std::string& note : loaded.notes) fmt::print(output_for_words(o), "note: {}\n", note);
  GcnInHand net;
  net.graph = std::move(loaded.graph);
  net.from = std::move(loaded.from);
  net.f64 = network_of(std::move(loaded.f64));
  validate(net.f64);
  net.f32 = loaded.f32.has_value() ? network_of(*std::move(loaded.f32)) : convert<float>(net.f64);
  if (o.edge_values == "auto") {
    set_scales(net.f64);
    net.f32.scales.assign(net.f64.scales.begin(), net.f64.scales.end());
  }
  validate(net.f32);
  net.normalise_seconds = loaded.normalise_seconds;
  net.f64_files = loaded.f64_files;
  net.expectation = {std::move(loaded.expected_hidden),
                     std::move(loaded.expected_logits),
                     std::move(loaded.expected_log_softmax),
                     std::move(loaded.labels),
                     std::move(loaded.idx_test),
                     loaded.test_correct};
  return net;
}

/// Errors: a pipeline that has not what an option asks for; the message names those that have it.
template <class Has>
void require_has(const GcnPipeline& pipeline, Has&& has, const char* option, const char* without,
                 const char* with) {
  if (has(pipeline)) return;
  std::vector<std::string> names;
  for (const GcnPipeline* p : gcn_pipelines()) {
    if (has(*p)) names.emplace_back(p->name);
  }
  throw Error(fmt::format("{}: pipeline {} {}; {}: {}", option, pipeline.name, without, with,
                          fmt::join(names, ", ")));
}

/// Errors: a pipeline that runs on one device only, where --gpus asks for `devices` of them; one that needs all data in a device's memory,
/// where --memory bounds it.
void require_can(const GcnPipeline& pipeline, const GcnOptions& o, int devices) {
  if (devices > 0) {
    require_has(
        pipeline, [](const GcnPipeline& p) { return p.on_devices_f32 != nullptr; }, "--gpus",
        "runs on one GPU only", "on several");
  }
  if (o.memory > 0) {
    require_has(
        pipeline, [](const GcnPipeline& p) { return p.streamed_f32 != nullptr; }, "--memory",
        "holds all operands", "within a bound");
  }
}

/// One pipeline, or with "all" every one that runs here. Errors: NoDevice; no such pipeline; one that does not run on so many `devices`.
std::vector<const GcnPipeline*> choose(const GcnOptions& o, int devices) {
  const Space space = space_of(o);
  std::vector<const GcnPipeline*> chosen;
  std::vector<std::string> names;
  std::string reason;
  for (const GcnPipeline* p : gcn_pipelines()) {
    if (p->space != space) continue;
    names.emplace_back(p->name);
    const bool wanted =
        o.pipeline == "all" || o.pipeline == p->name || (o.pipeline == "auto" && chosen.empty());
    if (!wanted) continue;
    if (const char* const why = p->unsupported(); why != nullptr && !o.dry_run) {
      reason = why;
    } else {
      chosen.push_back(p);
    }
  }
  for (const GcnPipeline* p : chosen) require_can(*p, o, devices);
  if (!chosen.empty()) return chosen;
  if (space == Space::device && names.empty()) throw NoDevice(kNoGpuSide);
  if (space == Space::device && !reason.empty()) throw NoDevice(reason);
  names.emplace_back("auto");
  names.emplace_back("all");
  throw Error(fmt::format("pipeline '{}' is none of {}{}", printable(o.pipeline), fmt::join(names, ", "),
                          did_you_mean(o.pipeline, names)));
}

template <class T>
double products_of(const Gcn<T>& net) {
  double products = 0;
  for (std::size_t l = 0; l < net.weights.size(); ++l)
    products += gcn_products(net, static_cast<std::int64_t>(l), GcnOrder::by_cost);
  return products;
}

/// How often A is read in one inference of so many layers.
double passes_over_a(const std::optional<GcnStreaming>& streaming, std::int64_t layers) {
  if (!streaming) return static_cast<double>(layers);
  return std::accumulate(streaming->layers.begin(), streaming->layers.end(), 0.0,
                         [](double sum, const auto& l) { return sum + static_cast<double>(l.blocks); });
}

template <class T>
GcnFacts facts_of(const GcnOptions& o, const GcnInHand& in, GcnRun<T>& run) {
  const Gcn<T>& net = in.as<T>();
  GcnFacts g;
  g.from = in.from, g.graph = in.graph;
  g.vertices = net.vertices(), g.entries = net.a.nnz(), g.features = net.features();
  g.layers = static_cast<std::int64_t>(net.weights.size());
  if (net.sparse_features) g.features_entries = net.x_sparse.nnz();
  g.widths = {net.features()};
  for (std::int64_t l = 0; l < g.layers; ++l) {
    g.widths.push_back(net.weights[static_cast<std::size_t>(l)].cols);
    g.orders.emplace_back(to_string(run.streaming ? run.streaming->layers[static_cast<std::size_t>(l)].order
                                                  : cheaper_order(net, l)));
  }
  g.products = products_of(net);
  g.normalise_seconds = in.normalise_seconds;
  g.layers_from_degrees = run.layers_from_degrees;
  const std::int64_t of_values =
      run.layers_from_degrees * g.vertices + (g.layers - run.layers_from_degrees) * g.entries;
  g.bytes_of_a = (4.0 * static_cast<double>(g.layers * g.entries) +
                  static_cast<double>(sizeof(T)) * static_cast<double>(of_values)) *
                 passes_over_a(run.streaming, g.layers) / static_cast<double>(g.layers);
  g.device = run.device;
  g.streaming = run.streaming;
  g.steps = std::move(run.steps);
  g.maximum_row_sum = static_cast<double>(max_row_sum(run.log_softmax));
  // As the contest's programs print it: 8 digits in its first round (two layers), 6 in the final (one); fp64 has more to
  // show.
  g.row_sum_digits = of_value_type<T>(g.layers == 1 ? 6 : 8, 9);
  g.contest = !o.data.contest.empty();
  return g;
}

/// Runs a network of type T in one order of products.
template <class T>
using RunWith = std::function<GcnRun<T>(GcnOrder)>;

/// Where each vertex stands in an order as GcnPartition has it.
class Places {
 public:
  explicit Places(const std::vector<std::int32_t>& order) : place_(order.size()) {
    for (std::size_t i = 0; i < order.size(); ++i)
      place_[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  }
  [[nodiscard]] bool consecutive() const { return place_.empty(); }
  /// How the rows at places [first, first + rows) differ.
  [[nodiscard]] std::string finding(const GcnJudgement& judgement, std::int64_t first,
                                    std::int64_t rows) const {
    return finding_of(judgement, [&](std::int64_t vertex) {
      const std::int64_t at = consecutive() ? vertex : place_[static_cast<std::size_t>(vertex)];
      return at >= first && at < first + rows;
    });
  }

 private:
  std::vector<std::int64_t> place_;  // empty: as given
};

std::vector<GpuFacts> gpus_of(const std::vector<GcnDevicePart>& parts, const Places& places,
                              const GcnJudgement& judgement) {
  std::vector<GpuFacts> gpus;
  for (const GcnDevicePart& p : parts) {
    gpus.push_back({p.name, p.rows, p.peak_bytes, p.times.resident,
                    places.finding(judgement, p.first, p.rows),
                    GpuGraphFacts{p.first, p.entries, p.sent, p.received, p.times.kernels, p.times.waiting,
                                  p.direct, places.consecutive()}});
  }
  return gpus;
}

/// Runs and judges, and writes the answer where it is asked for.
template <class T>
ModelReport run_and_judge(const GcnOptions& o, const GcnInHand& in, const GcnPipeline& pipeline,
                          const RunWith<T>& run_with, GcnJudge& judge, double load_seconds) {
  ModelReport report;
  report.times.load = load_seconds;
  Progress progress;
  progress.say(fmt::format("inference by {} ...", pipeline.name));
  GcnRun<T> run = timed_runs(o, report.times, [&] { return run_with(GcnOrder::by_cost); });
  report.peak_bytes = peak_memory();
  report.gcn = facts_of(o, in, run);
  report.gcn->judgement =
      judge.judge<T>(run, o.check, run_with, [&](const char* what) { progress.say(what); });
  progress.clear();
  report.verbose = o.verbose;
  report.pipeline = pipeline.name, report.about = pipeline.about, report.device = o.device;
  report.dtype = name(kDtype<T>);
  report.on_host = pipeline.space == Space::host;
  report.threads = omp_get_max_threads();
  if (!o.out.empty()) write_npy(o.out, run.log_softmax);
  return report;
}

/// The network with its vertices in the order that --reorder asks for.
template <class T>
class Reordered {
 public:
  Reordered(const GcnOptions& o, const Gcn<T>& net) : given_(net) {
    if (o.reorder == VertexOrder::given) return;
    const Stopwatch clock;
    order_ = vertex_order(net.a, o.reorder);
    moved_ = reordered(net, order_);
    facts_ = GcnReorderFacts{to_string(o.reorder), clock.seconds()};
  }
  [[nodiscard]] const Gcn<T>& net() const { return facts_ ? moved_ : given_; }
  [[nodiscard]] const std::optional<GcnReorderFacts>& facts() const { return facts_; }
  /// Rows of a run where they were given.
  [[nodiscard]] GcnRun<T> restored(GcnRun<T> run) const {
    if (facts_) restore_rows(order_, run);
    return run;
  }

 private:
  const Gcn<T>& given_;
  std::vector<std::int32_t> order_;
  Gcn<T> moved_;
  std::optional<GcnReorderFacts> facts_;
};

template <class T>
GcnBetween between(const Gcn<T>& net, const GcnPartition& partition) {
  const PartitionCut cut = cut_of(net.a, partition);
  const std::vector<std::int64_t> widths = exchanged_widths(net);
  const std::int64_t columns = std::accumulate(widths.begin(), widths.end(), std::int64_t{0});
  return {cut.entries, cut.rows * columns * static_cast<std::int64_t>(sizeof(T))};
}

/// The graph divided over so many ranks.
template <class T>
struct Divided {
  Divided(const GcnOptions& o, const Gcn<T>& net, int ranks) {
    const VertexPartition by = o.partition.value_or(VertexPartition::rows);
    const Stopwatch clock;
    partition = plumb::partition(net.a, by, ranks);
    facts.by = to_string(by), facts.seconds = clock.seconds();
    facts.between = between(net, partition);
    facts.by_rows = partition.order.empty()
                        ? facts.between
                        : between(net, plumb::partition(net.a, VertexPartition::rows, ranks));
  }
  GcnPartition partition;
  GcnPartitionFacts facts;
};

template <class T>
ModelReport run_on_one(const GcnOptions& o, const GcnInHand& in, const GcnPipeline& pipeline, GcnJudge& judge,
                       double load_seconds) {
  const Reordered<T> network(o, in.as<T>());
  const RunWith<T> run_with = [&](GcnOrder order) {
    const auto streamed = of_value_type<T>(pipeline.streamed_f32, pipeline.streamed_f64);
    const auto run = of_value_type<T>(pipeline.run_f32, pipeline.run_f64);
    return network.restored(o.memory > 0 ? streamed(network.net(), order, o.memory)
                                         : run(network.net(), order));
  };
  ModelReport report = run_and_judge<T>(o, in, pipeline, run_with, judge, load_seconds);
  report.gcn->reorder = network.facts();
  return report;
}

template <class T>
ModelReport run_on_devices(const GcnOptions& o, const GcnInHand& in, const GcnPipeline& pipeline, int devices,
                           GcnJudge& judge, double load_seconds) {
  std::optional<Divided<T>> divided;
  if (o.partition) divided.emplace(o, in.as<T>(), devices);
  const GcnPartition parts_of_rows =
      divided ? divided->partition : partition(in.as<T>().a, VertexPartition::rows, devices);
  const std::vector<std::int32_t>& vertices = parts_of_rows.order;
  const Gcn<T> moved = vertices.empty() ? Gcn<T>{} : reordered(in.as<T>(), vertices);
  const Gcn<T>& net = vertices.empty() ? in.as<T>() : moved;
  std::vector<GcnDevicePart> parts;  // of the run that is reported; the judge runs in other orders
  const RunWith<T> run_with = [&](GcnOrder order) {
    const auto on_devices = of_value_type<T>(pipeline.on_devices_f32, pipeline.on_devices_f64);
    GcnDevicesRun<T> done = on_devices(net, order, parts_of_rows.cuts);
    if (order == GcnOrder::by_cost) parts = std::move(done.parts);
    if (!vertices.empty()) restore_rows(vertices, done.run);
    return std::move(done.run);
  };
  ModelReport report = run_and_judge<T>(o, in, pipeline, run_with, judge, load_seconds);
  report.gpus = gpus_of(parts, Places(vertices), report.gcn->judgement);
  if (divided) report.gcn->partition = divided->facts;
  return report;
}

/// `devices`: of this host; 0 without --gpus.
template <class T>
ModelReport run_alone(const GcnOptions& o, const GcnInHand& in, const GcnPipeline& pipeline, int devices,
                      GcnJudge& judge, double load_seconds) {
  return devices > 0 ? run_on_devices<T>(o, in, pipeline, devices, judge, load_seconds)
                     : run_on_one<T>(o, in, pipeline, judge, load_seconds);
}

/// What each rank did; `order` as in GcnPartition.
void find_by_rank(const GcnJudgement& judgement, const std::vector<std::int32_t>& order,
                  std::vector<RankFacts>& ranks) {
  const Places places(order);
  for (RankFacts& rank : ranks) {
    rank.consecutive = places.consecutive();
    rank.finding = places.finding(judgement, rank.first, rank.rows);
  }
}

/// On rank 0 the report; the others compute as it says.
template <class T>
ModelReport run_on_ranks(Ranks& ranks, const GcnOptions& o, const GcnInHand& in, const GcnPipeline& pipeline,
                         GcnJudge& judge, double load_seconds) {
  std::optional<Divided<T>> divided;
  if (ranks.is_root()) divided.emplace(o, in.as<T>(), ranks.size());
  GcnOnRanks<T> network(ranks, in.as<T>(), divided ? divided->partition : GcnPartition{});
  ModelReport report;
  if (ranks.is_root()) {
    const RunWith<T> run_with = [&](GcnOrder order) { return network.run(order); };
    report = run_and_judge<T>(o, in, pipeline, run_with, judge, load_seconds);
    network.end();
  } else {
    network.serve();
    report.peak_bytes = peak_memory();
  }
  report.ranks = gather_facts(ranks, network.cuts(), report.peak_bytes, "");
  if (!ranks.is_root()) return report;
  report.gcn->partition = divided->facts;
  find_by_rank(report.gcn->judgement, divided->partition.order, report.ranks);
  return report;
}

struct Loaded {
  GcnInHand net;
  Dtype dtype = Dtype::f32;
  double seconds = 0;
};

Loaded load(const GcnOptions& o) {
  require_outputs(o);
  if (!o.out.empty()) require_writable(o.out);
  const Stopwatch loading;
  Loaded loaded;
  loaded.net = load_network(o);
  loaded.seconds = loading.seconds();
  if (!o.dry_run) require_executor_can(o, products_of(loaded.net.f64));
  const bool f64 = o.dtype == "f64" || (o.dtype == "auto" && loaded.net.f64_files);
  if (f64) loaded.dtype = Dtype::f64;
  return loaded;
}

int infer_gcn_on_ranks(const GcnOptions& o, Ranks& ranks) {
  if (o.pipeline != "auto" && o.pipeline != kGcnFused.name)
    throw Error(fmt::format("pipeline '{}' runs on one rank only; on several: {}", printable(o.pipeline),
                            kGcnFused.name));
  Loaded loaded;
  if (ranks.is_root()) loaded = load(o);
  auto dtype = static_cast<std::int32_t>(loaded.dtype);
  ranks.broadcast_value("type", dtype);
  loaded.dtype = kDtypes[dtype].dtype;
  GcnJudge judge(loaded.net.f64, loaded.dtype, loaded.net.expectation);
  const ModelReport report = with_value_type(loaded.dtype, [&](auto zero) {
    return run_on_ranks<decltype(zero)>(ranks, o, loaded.net, kGcnFused, judge, loaded.seconds);
  });
  if (!ranks.is_root()) return kOk;
  print(report, output_for_words(o));
  if (!o.json.empty()) write_json(o.json, to_json(report));
  return report.differs() ? kFailed : kOk;
}

/// Within a bound the memory of one GPU is all that is known.
template <class T>
int report_memory_of(const GcnOptions& o, const Gcn<T>& given, const GcnPipeline& pipeline) {
  const Reordered<T> network(o, given);
  const auto memory = of_value_type<T>(pipeline.memory_f32, pipeline.memory_f64);
  const GcnDeviceMemory m = memory(network.net(), GcnOrder::by_cost, o.memory);
  const std::string pieces =
      fmt::format("; {} pieces of rows, A {}", m.pieces, m.holds_a ? "held" : "streamed");
  return report_needs(o, {"vertices", {}, {{given.vertices(), m.parts, pieces}}});
}

template <class T>
int report_needs_of(const GcnOptions& o, const Gcn<T>& net) {
  const Divided<T> divided(o, net, static_cast<int>(o.ranks));
  const GcnPartitionFacts& facts = divided.facts;
  const Gcn<T> moved = divided.partition.order.empty() ? Gcn<T>{} : reordered(net, divided.partition.order);
  const std::vector<RankNeeds> needs =
      needs_over_ranks(divided.partition.order.empty() ? net : moved, divided.partition.cuts);
  fmt::print(output_for_words(o), "partition: {}\n", show_partition(facts, net.a.nnz()));
  const bool by_rows = facts.by == to_string(VertexPartition::rows);
  return report_needs(o, {by_rows ? "vertices" : "vertices by part", needs, {}});
}

/// What repeats the judgement of one drawn case.
std::string command_of(const GcnOptions& o) {
  return fmt::format("tools/plumb infer gcn --case '{}' --device {}{}{} --pipeline {} --check",
                     o.data.drawn_case, o.device, o.gpus.empty() ? "" : " --gpus " + o.gpus,
                     o.partition ? fmt::format(" --partition {}", to_string(*o.partition)) : "", o.pipeline);
}

/// A line for each pipeline, and for one that differs all that is known about it.
void judge_drawn(const GcnOptions& o, DrawnTally& tally, nlohmann::json& reports) {
  std::FILE* const to = output_for_words(o);
  const int devices = devices_of(o);
  const std::vector<const GcnPipeline*> pipelines = choose(o, devices);
  const Loaded loaded = load(o);
  GcnJudge judge(loaded.net.f64, loaded.dtype, loaded.net.expectation);
  for (const GcnPipeline* pipeline : pipelines) {
    ++tally.runs;
    try {
      const auto run = with_value_type(loaded.dtype, [](auto zero) { return &run_alone<decltype(zero)>; });
      const ModelReport report = run(o, loaded.net, *pipeline, devices, judge, loaded.seconds);
      reports.push_back(to_json(report));
      double worst = 0;
      for (const GcnCheck& check : report.gcn->judgement.checks) worst = std::max(worst, check.verdict.worst);
      fmt::print(to, "  {}  {}: max err/bound {:.2g}\n", report.differs() ? "FAIL" : "pass", pipeline->name,
                 worst);
      if (!report.differs()) continue;
      print(report, to);
    } catch (const Error& e) { fmt::print(to, "  FAIL  {}: error: {}\n", pipeline->name, e.what()); }
    ++tally.failed;
  }
}

}  // namespace

int infer_drawn_gcns(const GcnOptions& options) {
  // The executor does about ten million a second, and a judgement runs each pipeline some twenty times.
  const double most_products = options.device == "simt" ? 1e6 : 3e7;
  GcnOptions o = options;
  if (o.dry_run || !o.out.empty()) throw Error("--drawn takes neither --dry-run nor --out: use --case");
  require_memory_alone(o, nullptr, {{true, "--drawn"}});
  o.check = true;
  if (o.pipeline == "auto" && o.gpus.empty()) o.pipeline = "all";
  require_outputs(o);
  std::FILE* const to = output_for_words(o);
  fmt::print(to, "seed: {}\n", o.seed);
  nlohmann::json reports = nlohmann::json::array();
  const int code = judge_drawn_networks(
      to, o.drawn,
      [&](std::int64_t number) {
        o.data.drawn_case = draw_gcn_case(o.seed, static_cast<std::uint64_t>(number), most_products).id();
        return command_of(o);
      },
      [&](std::int64_t, DrawnTally& tally) { judge_drawn(o, tally, reports); });
  if (!o.json.empty()) write_json(o.json, reports);
  return code;
}

std::vector<std::string> inputs_of(const GcnOptions& o) {
  const GcnRequest& data = o.data;
  std::vector<std::string> paths{data.data, data.graph, data.features};
  paths.insert(paths.end(), data.weights.begin(), data.weights.end());
  paths.insert(paths.end(), data.contest.begin(), data.contest.end());
  if (const std::string folder = environment("PLUMB_DATA"); !folder.empty())
    paths.push_back(folder + "/gcn/cora_nobias");
  return paths;
}

int infer_gcn(const GcnOptions& o, Ranks* ranks) {
  if (o.reorder != VertexOrder::given && (ranks != nullptr || !o.gpus.empty()))
    throw Error("--reorder is for one process and one device: parts of a graph are consecutive vertices");
  require_memory_alone(o, ranks, {{o.ranks > 1, "--ranks"}});
  if (o.memory > 0 && space_of(o) == Space::host)
    throw Error("--memory of infer gcn bounds the memory of a device: it needs --device gpu");
  if (ranks != nullptr) return infer_gcn_on_ranks(o, *ranks);
  const int devices = devices_of(o);
  const std::vector<const GcnPipeline*> pipelines = choose(o, devices);
  const Loaded loaded = load(o);
  if (o.dry_run && o.memory > 0) {
    const GcnPipeline& p = *pipelines.front();
    return with_value_type(
        loaded.dtype, [&](auto zero) { return report_memory_of(o, loaded.net.as<decltype(zero)>(), p); });
  }
  if (o.dry_run)
    return with_value_type(loaded.dtype,
                           [&](auto zero) { return report_needs_of(o, loaded.net.as<decltype(zero)>()); });
  GcnJudge judge(loaded.net.f64, loaded.dtype, loaded.net.expectation);
  nlohmann::json all = nlohmann::json::array();
  bool differs = false;
  for (const GcnPipeline* pipeline : pipelines) {
    const auto run = with_value_type(loaded.dtype, [](auto zero) { return &run_alone<decltype(zero)>; });
    const ModelReport report = run(o, loaded.net, *pipeline, devices, judge, loaded.seconds);
    print(report, output_for_words(o));
    all.push_back(to_json(report));
    differs |= report.differs();
  }
  if (!o.json.empty()) write_json(o.json, all.size() == 1 ? all[0] : all);
  return differs ? kFailed : kOk;
}

}  // namespace plumb
