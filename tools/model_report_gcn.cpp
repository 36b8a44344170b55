// What is said of a run of a GCN.
#include <algorithm>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "tools/model_report_parts.hpp"
#include "tools/terminal.hpp"

namespace plumb {

namespace {

std::string show_gcn_times(const ModelReport& r) {
  const GcnFacts& g = *r.gcn;
  if (g.device.repeats == 0) return fmt::format("inference {}", show_seconds(r.times.inference()));
  const GcnDeviceTimes& d = g.device;
  if (g.streaming)
    return fmt::format("plan {}, inference {} host to host (mean of {})", show_seconds(d.plan),
                       show_seconds(r.times.inference()), d.repeats);
  return fmt::format(
      "plan {}, inference {} in device memory (mean of {}; kernels {}), {} host to host (upload {}, download "
      "{})",
      show_seconds(d.plan), show_seconds(d.resident), d.repeats, show_seconds(d.kernels),
      show_seconds(r.times.inference()), show_seconds(d.upload), show_seconds(d.download));
}

/// "logits: max err/bound 0.03, within bound (the folder's expectation)".
std::string show_check(const GcnCheck& check) {
  const GcnVerdict& v = check.verdict;
  if (v.misses == 0)
    return fmt::format("{}: max err/bound {:.2g}, within bound ({})", check.what, v.worst, check.against);
  return fmt::format(
      "{}: {} of {} elements outside their bound, worst at ({}, {}): got {:.9g}, want {:.9g}, bound {:.2g} "
      "({:.3g}x) "
      "({})",
      check.what, v.misses, v.compared, v.row, v.col, v.got, v.want, v.bound, v.worst, check.against);
}

/// "A (X W), (A X) W", what is said of each layer; of many layers the runs of one text.
std::string show_by_layer(const std::vector<std::string>& texts) {
  std::vector<std::string> runs;
  for (std::size_t l = 0; l < texts.size();) {
    const auto end = std::find_if(texts.begin() + static_cast<std::ptrdiff_t>(l), texts.end(),
                                  [&](const std::string& o) { return o != texts[l]; });
    const auto count = static_cast<std::size_t>(end - texts.begin()) - l;
    if (count > 2) {
      runs.push_back(fmt::format("{} in {} layers", texts[l], count));
    } else {
      runs.insert(runs.end(), count, texts[l]);
    }
    l += count;
  }
  return fmt::format("{}", fmt::join(runs, ", "));
}

/// "CSR, 49216 entries, 1.27 %" or "dense".
std::string show_features(const GcnFacts& g) {
  if (!g.features_entries) return "dense";
  const double places = static_cast<double>(g.vertices) * static_cast<double>(g.features);
  const double share = places > 0 ? static_cast<double>(*g.features_entries) / places : 0;
  return fmt::format("CSR, {} entries, {:.3g} %", *g.features_entries, 100 * share);
}

std::string show_recorded(const GcnAccuracy& a) {
  if (!a.recorded) return "";
  if (a.right == *a.recorded) return ", as recorded with the weights";
  std::string text = fmt::format(", recorded with the weights: {}", *a.recorded);
  if (!a.fewest) return text;
  return text + fmt::format(", {} ({} to {} within the bounds)",
                            a.differs() ? "which rounding does not explain" : "which rounding may explain",
                            *a.fewest, *a.most);
}

std::string show_row_sum(const GcnFacts& g) {
  return fmt::format("{:.{}f}", g.maximum_row_sum, g.row_sum_digits);
}

void print_gcn_checks(const GcnFacts& g, std::FILE* to) {
  if (g.judgement.accuracy) {
    const GcnAccuracy& a = *g.judgement.accuracy;
    fmt::print(to, "accuracy: {} of {} ({:.4f}){}\n", a.right, a.of,
               static_cast<double>(a.right) / static_cast<double>(a.of), show_recorded(a));
  }
  for (const GcnCheck& check : g.judgement.checks) fmt::print(to, "{}\n", show_check(check));
  if (g.judgement.checks.empty()) {
    fmt::print(
        to,
        "logits: not compared: no expected values were found, and the reference would take long (--check "
        "runs it)\n");
  }
}

std::string show_values_of_a(const GcnFacts& g) {
  if (g.layers_from_degrees == 0) return "";
  if (g.layers_from_degrees == g.layers) return "; A from degrees";
  return fmt::format("; A from degrees in {} of {} layers", g.layers_from_degrees, g.layers);
}

/// "2 x 64 columns", or "64 columns, made by the layer before".
std::string show_blocks(const GcnStreamedLayer& l) {
  return fmt::format("{}{} columns{}", l.blocks > 1 ? fmt::format("{} x ", l.blocks) : "", l.columns,
                     l.direct ? " made by the layer before" : "");
}

void print_streaming(const GcnFacts& g, double seconds, std::FILE* to) {
  if (!g.streaming) return;
  const GcnStreaming& s = *g.streaming;
  std::vector<std::string> blocks;
  for (const GcnStreamedLayer& l : s.layers) blocks.push_back(show_blocks(l));
  fmt::print(to, "streaming: at most {}: {} pieces of rows, A {}; operands of A by layer: {}\n",
             show_bytes(s.memory), s.pieces, s.holds_a ? "held" : "streamed", show_by_layer(blocks));
  print_copies(
      fmt::format("{} to the device and {} back", show_bytes(s.loaded_bytes), show_bytes(s.stored_bytes)),
      s.loaded_bytes + s.stored_bytes, s, seconds, to);
}

nlohmann::json json_of(const GcnStreaming& s) {
  nlohmann::json json = {{"memory_bytes", s.memory},
                         {"pieces", s.pieces},
                         {"holds_a", s.holds_a},
                         {"loaded_bytes", s.loaded_bytes},
                         {"stored_bytes", s.stored_bytes},
                         {"copy_seconds", s.load_seconds},
                         {"waited_seconds", s.waited_seconds},
                         {"hidden", s.hidden()}};
  for (const GcnStreamedLayer& l : s.layers) {
    json["layers"].push_back({{"order", to_string(l.order)},
                              {"columns", l.columns},
                              {"blocks", l.blocks},
                              {"made_by_layer_before", l.direct}});
  }
  return json;
}

void add_gcn_checks(const GcnJudgement& judgement, nlohmann::json& json) {
  for (const GcnCheck& check : judgement.checks) {
    const GcnVerdict& v = check.verdict;
    json["checks"][check.key] = {{"compared", v.compared},
                                 {"misses", v.misses},
                                 {"max_err_over_bound", v.worst},
                                 {"mean_err_over_bound", v.mean}};
  }
  if (!judgement.accuracy) return;
  const GcnAccuracy& a = *judgement.accuracy;
  json["accuracy"] = {{"right", a.right}, {"of", a.of}};
  if (a.recorded) json["accuracy"]["recorded"] = *a.recorded;
  if (a.fewest) json["accuracy"]["within_bounds"] = {*a.fewest, *a.most};
}

}  // namespace

void print_gcn(const ModelReport& r, std::FILE* to) {
  const GcnFacts& g = *r.gcn;
  const double seconds = r.times.inference();
  if (g.contest)  // its programs print these two lines, and nothing before them
    fmt::print(to, "{}\n{:.8f}\n", show_row_sum(g), (seconds + g.normalise_seconds) * 1e3);
  fmt::print(to, "data: {}\n", g.from);
  if (!g.graph.empty()) fmt::print(to, "graph: {}\n", g.graph);
  fmt::print(to, "network: {} vertices, {} entries in A, features {} ({}), {}, {} layer{}\n", g.vertices,
             g.entries, g.features, show_features(g), show_widths(g.widths), g.layers,
             g.layers == 1 ? "" : "s");
  fmt::print(to, "pipeline: {} ({}, {}{}): {}; {}: {}{}\n", r.pipeline, r.dtype, r.device, show_threads(r),
             r.about, g.orders_are, show_by_layer(g.orders), show_values_of_a(g));
  fmt::print(to, "time: load {}, {}{}, {:.3g} Gflop/s\n", show_seconds(r.times.load), show_gcn_times(r),
             show_spread(r.times),
             2 * g.products / (g.device.repeats > 0 ? g.device.resident : seconds) / 1e9);
  if (g.reorder)
    fmt::print(to, "reorder: vertices by {} in {}, once per graph\n", g.reorder->order,
               show_seconds(g.reorder->seconds));
  if (g.partition) fmt::print(to, "partition: {}\n", show_partition(*g.partition, g.entries));
  if (r.verbose) {
    for (const GcnStep& step : g.steps)
      fmt::print(to, "step: {:42} {}\n", step.name, show_seconds(step.seconds));
  }
  print_streaming(g, seconds, to);
  fmt::print(to, "memory: peak {}\n", show_bytes(r.peak_bytes));
  print_ranks(r, "vertices", to);
  print_gpus(r, to);
  fmt::print(to, "maximum row sum: {}\n", show_row_sum(g));
  print_gcn_checks(g, to);
}

void add_gcn(const ModelReport& r, nlohmann::json& json) {
  const GcnFacts& g = *r.gcn;
  json["command"] = "gcn";
  json["data"] = g.from;
  if (!g.graph.empty()) json["graph"] = g.graph;
  json["pipeline"] = {{"name", r.pipeline},
                      {"device", r.device},
                      {"dtype", r.dtype},
                      {"threads", r.threads},
                      {"orders", g.orders}};
  json["network"] = {{"vertices", g.vertices},
                     {"entries", g.entries},
                     {"widths", fmt::format("{}", fmt::join(g.widths, "-"))},
                     {"layers", g.layers}};
  json["network"]["a"] = {{"values", g.layers_from_degrees == g.layers ? "from degrees" : "stored"},
                          {"layers_from_degrees", g.layers_from_degrees},
                          {"bytes_read", g.bytes_of_a}};
  json["network"]["features"] = {{"width", g.features}, {"format", g.features_entries ? "csr" : "dense"}};
  if (g.features_entries) json["network"]["features"]["entries"] = *g.features_entries;
  json["seconds"]["normalise"] = g.normalise_seconds;
  if (g.reorder) json["network"]["order"] = g.reorder->order, json["seconds"]["reorder"] = g.reorder->seconds;
  if (g.partition) {
    const auto json_of = [](const GcnBetween& b) {
      return nlohmann::json{{"entries_between", b.entries}, {"bytes_sent", b.bytes}};
    };
    json["partition"] = json_of(g.partition->between);
    json["partition"]["by"] = g.partition->by;
    json["partition"]["rows"] = json_of(g.partition->by_rows);
    json["seconds"]["partition"] = g.partition->seconds;
  }
  if (const GcnDeviceTimes& d = g.device; d.repeats > 0) {
    json["seconds"].update({{"plan", d.plan},
                            {"upload", d.upload},
                            {"kernels", d.kernels},
                            {"resident", d.resident},
                            {"download", d.download}});
  }
  if (g.streaming) json["streaming"] = json_of(*g.streaming);
  for (const GcnStep& step : g.steps)
    json["steps"].push_back({{"name", step.name}, {"seconds", step.seconds}});
  json["maximum_row_sum"] = g.maximum_row_sum;
  add_gcn_checks(g.judgement, json);
}

std::string show_partition(const GcnPartitionFacts& p, std::int64_t entries) {
  const auto show = [entries](const GcnBetween& between) {
    return fmt::format("{} of {} entries of A between parts, {} of rows sent in an inference",
                       between.entries, entries, show_bytes(between.bytes));
  };
  std::string text =
      fmt::format("{} in {}, once per graph: {}", p.by, show_seconds(p.seconds), show(p.between));
  return p.by == "rows" ? text : text + "; by rows " + show(p.by_rows);
}

std::string finding_of(const GcnJudgement& all, const std::function<bool(std::int64_t)>& has) {
  std::string text;
  for (const GcnCheck& check : all.checks) {
    const std::vector<std::int64_t>& rows = check.verdict.missed_rows;
    const auto count = std::count_if(rows.begin(), rows.end(), has);
    if (count > 0) text += fmt::format("{}{} rows of {}", text.empty() ? "" : ", ", count, check.what);
  }
  return text.empty() ? "" : text + " outside their bound";
}

}  // namespace plumb
