// infer gat: a graph attention network of any number of layers and heads, on the CPU.
#include <omp.h>

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "datasets/formats/npy.hpp"
#include "datasets/io/output_file.hpp"
#include "datasets/networks/gat_files.hpp"
#include "reference/core/error.hpp"
#include "reference/models/gat/gat.hpp"
#include "tools/infer.hpp"
#include "tools/terminal.hpp"

namespace plumb {

namespace {

Gat<double> network_of(LoadedGat&& loaded, GatActivation activation) {
  GcnParts<double>& parts = loaded.graph.f64;
  Gat<double> net;
  net.a = std::move(parts.a);
  net.sparse_features = parts.sparse_features;
  net.x_sparse = std::move(parts.x_sparse), net.x_dense = std::move(parts.x_dense);
  for (GatLayerParts& l : loaded.layers)
    net.layers.push_back(
        {l.heads, std::move(l.w), std::move(l.source), std::move(l.target), std::move(l.bias)});
  net.activation = activation;
  return net;
}

template <class T>
GcnFacts facts_of(const LoadedGcn& graph, const Gat<T>& net, const GatRun<T>& run) {
  GcnFacts g;
  g.from = graph.from, g.graph = graph.graph;
  g.vertices = net.vertices(), g.entries = net.a.nnz(), g.features = net.features();
  g.layers = static_cast<std::int64_t>(net.layers.size());
  if (net.sparse_features) g.features_entries = net.x_sparse.nnz();
  g.widths = {net.features()};
  for (const GatLayerOf<T>& l : net.layers) {
    g.widths.push_back(l.outputs());
    g.orders.push_back(fmt::format("{} head{} of {}{}", l.heads, l.heads == 1 ? "" : "s", l.width(),
                                   l.averages() ? ", averaged" : ""));
  }
  g.orders_are = "layers";
  g.products = gat_products(net);
  g.maximum_row_sum = static_cast<double>(max_row_sum(run.log_softmax));
  g.row_sum_digits = of_value_type<T>(8, 9);
  return g;
}

template <class T>
ModelReport run_and_judge(const GatOptions& o, const LoadedGcn& graph, const Gat<double>& f64,
                          double load_seconds) {
  const Gat<T> net = convert<T>(f64);
  ModelReport report;
  report.times.load = load_seconds;
  Progress progress;
  progress.say("inference ...");
  const GatRun<T> run = timed_runs(o, report.times, [&] { return run_gat(net); });
  report.peak_bytes = peak_memory();
  report.gcn = facts_of(graph, net, run);
  if (o.check) report.gcn->judgement = judge_gat(net, run, [&](const char* what) { progress.say(what); });
  progress.clear();
  report.pipeline = "rows", report.about = "a row of A at a time: its softmax, then its mean of features";
  report.device = o.device, report.dtype = name(kDtype<T>), report.threads = omp_get_max_threads();
  if (!o.out.empty()) write_npy(o.out, run.log_softmax);
  return report;
}

}  // namespace

int infer_gat(const GatOptions& o) {
  require_outputs(o);
  if (!o.out.empty()) require_writable(o.out);
  const Stopwatch loading;
  LoadedGat loaded = read_gat_files(o.data);
  for (const std::string& note : loaded.graph.notes) fmt::print(output_for_words(o), "note: {}\n", note);
  const Gat<double> net =
      network_of(std::move(loaded), o.activation == "relu" ? GatActivation::relu : GatActivation::elu);
  validate(net);
  if (net.vertices() == 0) throw Error(fmt::format("{}: the graph has no vertices", o.data.graph));
  const double seconds = loading.seconds();
  Dtype dtype = Dtype::f32;
  if (o.dtype == name(Dtype::f64)) dtype = Dtype::f64;
  const ModelReport report = with_value_type(
      dtype, [&](auto zero) { return run_and_judge<decltype(zero)>(o, loaded.graph, net, seconds); });
  print(report, output_for_words(o));
  if (!o.json.empty()) {
    nlohmann::json json = to_json(report);
    json["command"] = "gat";
    json["network"].erase("a");  // whose values are not read
    write_json(o.json, json);
  }
  return report.differs() ? kFailed : kOk;
}

}  // namespace plumb
