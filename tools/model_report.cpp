#include "tools/model_report.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "tools/terminal.hpp"

namespace plumb {

namespace {

using Ids = std::vector<std::int32_t>;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n == 0 ? 0 : n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/// "3 (11, 12, 90)", at most ten of them.
std::string show_ids(const Ids& ids) {
  constexpr std::size_t kShown = 10;
  if (ids.empty()) return "none";
  const auto end = ids.begin() + static_cast<std::ptrdiff_t>(std::min(ids.size(), kShown));
  return fmt::format("{} ({}{})", ids.size(), fmt::join(ids.begin(), end, ", "),
                     ids.size() > kShown ? ", ..." : "");
}

std::string show_tera(double edges, double seconds) {
  return fmt::format("{:.4g} TeraEdges/s", edges / seconds / 1e12);
}

/// What the reported time is the time of: never a first run without a word, whose threads and memory are new.
std::string show_spread(const ModelTimes& t) {
  if (t.runs.size() > 1) {
    const auto [least, most] = std::minmax_element(t.runs.begin(), t.runs.end());
    return fmt::format(" (median of {}; {} to {}{})", t.runs.size(), show_seconds(*least),
                       show_seconds(*most),
                       t.cold ? fmt::format("; first run {}", show_seconds(*t.cold)) : "");
  }
  return t.cold ? fmt::format(" (second run; the first, cold: {})", show_seconds(*t.cold))
                : " (first run, not warmed up)";
}

std::string show_threads(const ModelReport& r) {
  return r.on_host ? fmt::format(", {} threads", r.threads) : "";
}

/// One line of all ranks; each of them where its part differs, or with -v. `noun`: what the rows are.
void print_ranks(const ModelReport& r, const char* noun, std::FILE* to) {
  if (r.ranks.empty()) return;
  RankFacts most;
  for (std::size_t i = 1; i < r.ranks.size(); ++i) {
    most.sent = std::max(most.sent, r.ranks[i].sent);
    most.received = std::max(most.received, r.ranks[i].received);
  }
  for (const RankFacts& rank : r.ranks) most.peak_bytes = std::max(most.peak_bytes, rank.peak_bytes);
  fmt::print(
      to,
      "ranks: {}; rank 0 sent {} and received {}, each other at most {} and {}; memory: peak of a rank {}\n",
      r.ranks.size(), show_bytes(r.ranks[0].sent), show_bytes(r.ranks[0].received), show_bytes(most.sent),
      show_bytes(most.received), show_bytes(most.peak_bytes));
  for (std::size_t i = 0; i < r.ranks.size(); ++i) {
    const RankFacts& rank = r.ranks[i];
    if (!r.verbose && rank.finding.empty()) continue;
    fmt::print(
        to, "rank {} on {}{}{}: {}, sent {}, received {}, peak {}{}\n", i, rank.host,
        rank.device.empty() ? "" : ", ", rank.device,
        rank.consecutive ? show_rows(noun, rank.first, rank.rows) : fmt::format("{} {}", rank.rows, noun),
        show_bytes(rank.sent), show_bytes(rank.received), show_bytes(rank.peak_bytes),
        rank.finding.empty() ? "" : "; differs: " + rank.finding);
  }
}

void add_ranks(const ModelReport& r, nlohmann::json& json) {
  for (const RankFacts& rank : r.ranks) {
    json["ranks"].push_back({{"host", rank.host},
                             {"first", rank.first},
                             {"rows", rank.rows},
                             {"sent_bytes", rank.sent},
                             {"received_bytes", rank.received},
                             {"peak_bytes", rank.peak_bytes},
                             {"right", rank.finding.empty()}});
    if (!rank.consecutive) json["ranks"].back().erase("first");
    if (!rank.device.empty()) json["ranks"].back()["device"] = rank.device;
  }
}

/// What a GPU did without waiting for others.
double busy_seconds(const GpuFacts& gpu) {
  return gpu.graph ? gpu.graph->kernels - gpu.graph->waiting : gpu.seconds;
}

/// How evenly the GPUs are loaded: the mean of their times over the longest. 1: none waits for another.
double balance_of(const std::vector<GpuFacts>& gpus) {
  double sum = 0, most = 0;
  for (const GpuFacts& gpu : gpus) sum += busy_seconds(gpu), most = std::max(most, busy_seconds(gpu));
  return most > 0 ? sum / (most * static_cast<double>(gpus.size())) : 1;
}

double share_of_waiting(const GpuGraphFacts& g) { return g.kernels > 0 ? g.waiting / g.kernels : 0; }

std::string show_graph_part(const GpuFacts& gpu) {
  const GpuGraphFacts& g = *gpu.graph;
  return fmt::format(
      "{}, {} entries, inference {}, {:.1f} % of its steps waiting for the others, sent {}, received {}",
      g.consecutive ? show_rows("vertices", g.first, gpu.inputs) : fmt::format("{} vertices", gpu.inputs),
      g.entries, show_seconds(gpu.seconds), 100 * share_of_waiting(g), show_bytes(g.sent),
      show_bytes(g.received));
}

void print_gpus(const ModelReport& r, std::FILE* to) {
  if (r.gpus.empty()) return;
  const bool of_graph = r.gpus.front().graph.has_value();
  fmt::print(to, "gpus: {}, {} by their entries; load balance {:.3f} (mean over slowest); ", r.gpus.size(),
             of_graph ? "rows divided" : "inputs dealt", balance_of(r.gpus));
  if (of_graph) {
    const bool direct =
        std::all_of(r.gpus.begin(), r.gpus.end(), [](const GpuFacts& g) { return g.graph->direct; });
    fmt::print(to, "copies {}\n", direct ? "from GPU to GPU" : "through the host's memory");
  } else {
    fmt::print(to, "host to host {}\n", show_seconds(r.host_to_host));
  }
  for (std::size_t i = 0; i < r.gpus.size(); ++i) {
    const GpuFacts& gpu = r.gpus[i];
    fmt::print(to, "gpu {}: {}, {}, memory {}{}\n", i, gpu.name,
               of_graph ? show_graph_part(gpu)
                        : fmt::format("{} inputs, inference {}", gpu.inputs, show_seconds(gpu.seconds)),
               show_bytes(gpu.peak_bytes), gpu.finding.empty() ? "" : "; differs: " + gpu.finding);
  }
}

nlohmann::json json_of(const GpuFacts& gpu) {
  nlohmann::json json{{"name", gpu.name}, {"seconds", gpu.seconds}, {"peak_bytes", gpu.peak_bytes}};
  if (!gpu.graph) {
    json["inputs"] = gpu.inputs, json["ids_right"] = gpu.finding.empty();
    return json;
  }
  const GpuGraphFacts& g = *gpu.graph;
  json.update({{"first", g.first},
               {"rows", gpu.inputs},
               {"entries", g.entries},
               {"sent_bytes", g.sent},
               {"received_bytes", g.received},
               {"steps_seconds", g.kernels},
               {"waiting_seconds", g.waiting},
               {"direct_copies", g.direct},
               {"right", gpu.finding.empty()}});
  return json;
}

void add_gpus(const ModelReport& r, nlohmann::json& json) {
  if (r.gpus.empty()) return;
  for (const GpuFacts& gpu : r.gpus) json["gpus"].push_back(json_of(gpu));
  json["load_balance"] = balance_of(r.gpus);
  if (!r.gpus.front().graph) json["seconds"]["host_to_host"] = r.host_to_host;
}

// ---- sparse DNN ---------------------------------------------------------------------------------------------------

double all_edges(const SdnnFacts& s) { return static_cast<double>(s.inputs) * static_cast<double>(s.edges); }

void print_layers(const SdnnFacts& s, std::FILE* to) {
  const auto absorbed = [&s](std::size_t l) {
    return s.absorbed_rows.empty() ? "" : fmt::format(", {:6} of them absorbed", s.absorbed_rows[l]);
  };
  for (std::size_t l = 0; l < s.layer_seconds.size(); ++l) {
    fmt::print(to, "layer {:4}: {:6} rows active{}, {}\n", l + 1, s.active_rows[l], absorbed(l),
               show_seconds(s.layer_seconds[l]));
  }
  fmt::print(to, "at the end: {} rows active{}\n", s.active_rows.back(), absorbed(s.layer_seconds.size()));
}

/// "absorbing: 1812 of 60000 inputs left at an absorbing state: the first before layer 9, the last before layer 23 of 120".
void print_absorbed(const SdnnFacts& s, std::FILE* to) {
  if (s.absorbed_rows.empty()) return;
  const std::vector<std::int64_t>& rows = s.absorbed_rows;
  const std::int64_t all = rows.back();
  fmt::print(to, "absorbing: {} of {} inputs left at an absorbing state", all, s.inputs);
  if (all > 0) {
    const auto layer = [&](std::int64_t least) {  // the first that so many rows do not enter
      return std::lower_bound(rows.begin(), rows.end(), least) - rows.begin() + 1;
    };
    fmt::print(to, ": the first before layer {}, the last before layer {} of {}", layer(1), layer(all),
               s.layers);
  }
  fmt::print(to, "\n");
}

/// "equal neurons: 7040 of 122880 differ and are computed, 32 to 64 of 1024 in a layer, with 225280 of 3932160 edges". Biases
/// of each neuron are edges of one neuron more.
void print_computed(const SdnnFacts& s, std::FILE* to) {
  if (s.computed.empty()) return;
  const std::int64_t all_neurons = s.neurons + (s.bias_of_each_neuron ? 1 : 0);
  SdnnLayerPart all;
  std::int64_t least = all_neurons, most = 0;
  for (const SdnnLayerPart& part : s.computed) {
    all.neurons += part.neurons, all.edges += part.edges;
    least = std::min(least, part.neurons), most = std::max(most, part.neurons);
  }
  fmt::print(to, "equal neurons: {} of {} differ and are computed, {} to {} of {} in a layer, with {} {}\n",
             all.neurons, all_neurons * s.layers, least, most, all_neurons, all.edges,
             s.bias_of_each_neuron ? "edges and biases" : fmt::format("of {} edges", s.edges));
}

nlohmann::json json_of(const std::vector<SdnnLayerPart>& computed) {
  nlohmann::json json;
  for (const SdnnLayerPart& part : computed)
    json["neurons"].push_back(part.neurons), json["edges"].push_back(part.edges);
  return json;
}

/// "A: general"; "A + C: general, absorbing_rows" where rows at an absorbing state leave.
std::string show_class(const ModelReport& r) {
  const SdnnStructure more = SdnnStructure::absorbing_rows;
  if (r.sdnn->absorbed_rows.empty())
    return fmt::format("{}: {}", static_cast<char>(r.structure), to_string(r.structure));
  return fmt::format("{} + {}: {}, {}", static_cast<char>(r.structure), static_cast<char>(more),
                     to_string(r.structure), to_string(more));
}

void print_check(const SdnnFacts& s, std::FILE* to) {
  const SdnnFullCheck& c = *s.judgement.check;
  fmt::print(
      to,
      "check: {} layers, each against the fp64 reference on the same input: {} of {} elements outside their "
      "bound, max err/bound {:.2g} (layer {}, input {}, neuron {}: got {:.9g}, want {:.9g})\n",
      s.layers, c.all.misses, c.all.compared, c.all.worst, c.worst_layer + 1, c.all.row + 1, c.all.neuron + 1,
      c.all.got, c.all.want);
  fmt::print(to, "check: {} categories in fp64, {} in this run; undecidable within fp32 rounding: {}\n",
             c.fp64_categories, s.judgement.ids.size(), show_ids(c.undecidable));
  if (!c.decidable.none()) {
    fmt::print(to, "check: decidable ids differ from the reference: missing {}, extra {}\n",
               show_ids(c.decidable.missing), show_ids(c.decidable.extra));
  }
  if (!c.unsteady.empty())
    fmt::print(to, "check: run layer by layer, the pipeline decides otherwise on {}\n", show_ids(c.unsteady));
  fmt::print(to, "check: {}\n",
             std::isinf(s.cap) ? fmt::format("{} final values are not 0", c.unsaturated)
             : c.unsaturated == 0
                 ? fmt::format("final values are only 0 or {}", s.cap)
                 : fmt::format("{} final values are neither 0 nor {}", c.unsaturated, s.cap));
}

std::string show_list_verdict(const SdnnFacts& s, const std::string& head) {
  const SdnnJudgement& j = s.judgement;
  if (j.answer_differs) {
    return fmt::format("{}, differs from {}: missing {}, extra {}", head, s.list,
                       show_ids(j.difference.missing), show_ids(j.difference.extra));
  }
  std::string text = fmt::format("{}, equal to {}", head, s.list);
  if (j.undecidable.empty()) return text;
  Ids listed;  // the list equals the ids of the run
  std::set_intersection(j.undecidable.begin(), j.undecidable.end(), j.ids.begin(), j.ids.end(),
                        std::back_inserter(listed));
  return text + fmt::format(", which has {} of the {} undecidable ids", listed.size(), j.undecidable.size());
}

std::string show_sample_verdict(const SdnnFacts& s, const std::string& head) {
  const SdnnJudgement& j = s.judgement;
  std::string text =
      fmt::format("{}; no published list: the first {} inputs {}compared with the fp64 reference, {}", head,
                  j.sample, s.sampled_by_rank ? "of the ranks together " : "",
                  j.difference.none() ? "equal"
                                      : fmt::format("missing {}, extra {}", show_ids(j.difference.missing),
                                                    show_ids(j.difference.extra)));
  if (!j.undecidable.empty()) text += fmt::format(", undecidable {}", show_ids(j.undecidable));
  return text;
}

/// The last line: the answer, and what it was compared with.
std::string verdict_of(const SdnnFacts& s) {
  const SdnnJudgement& j = s.judgement;
  const std::string head = fmt::format("categories: {} of {}", j.ids.size(), s.inputs);
  switch (j.basis) {
    case SdnnBasis::list:
      return show_list_verdict(s, head);
    case SdnnBasis::count:
      return fmt::format("{}, {} the published count{} (no list of ids was found)", head,
                         j.answer_differs ? "differs from" : "equal to",
                         j.answer_differs ? fmt::format(" {}", j.count) : "");
    case SdnnBasis::reference:
      return fmt::format("{}, {} the fp64 reference (no published list)", head,
                         j.answer_differs ? "differs from" : "equal to");
    case SdnnBasis::sample:
      break;
  }
  return show_sample_verdict(s, head);
}

/// "784-300-10"; of many layers the first and the last few.
std::string show_widths(const std::vector<std::int64_t>& w) {
  constexpr std::size_t kShown = 8;
  if (w.size() <= kShown) return fmt::format("{}", fmt::join(w, "-"));
  const auto half = static_cast<std::ptrdiff_t>(kShown / 2);
  return fmt::format("{}-...-{}", fmt::join(w.begin(), w.begin() + half, "-"),
                     fmt::join(w.end() - half, w.end(), "-"));
}

std::string show_neurons(const SdnnFacts& s) {
  const bool one_size =
      std::adjacent_find(s.widths.begin(), s.widths.end(), std::not_equal_to<>()) == s.widths.end();
  return one_size ? fmt::format("{}", s.neurons) : show_widths(s.widths);
}

/// Bytes a second; 0 where no time is known.
double per_second(std::int64_t bytes, double seconds) {
  return seconds > 0 ? static_cast<double>(bytes) / seconds : 0;
}

/// How much of the copies of a run of so many seconds cost no time. `what` says in words what the bytes are.
void print_copies(const std::string& what, std::int64_t bytes, const StreamedCopies& copies, double seconds,
                  std::FILE* to) {
  fmt::print(to,
             "streaming: {} in {} ({:.3g} GB/s; the run needs {:.3g} GB/s), {} of it waited for: {:.1f} % "
             "hidden behind the computation\n",
             what, show_seconds(copies.load_seconds), per_second(bytes, copies.load_seconds) / 1e9,
             per_second(bytes, seconds - copies.waited_seconds) / 1e9, show_seconds(copies.waited_seconds),
             100 * copies.hidden());
}

/// What --memory came to: the plan, and how much of the loading cost no time.
void print_streaming(const ModelReport& r, std::FILE* to) {
  if (!r.sdnn->streaming) return;
  const SdnnStreaming& s = *r.sdnn->streaming;
  fmt::print(to, "streaming: at most {}: {} of {} layers at a time, {} batch{} of up to {} inputs{}\n",
             show_bytes(s.memory), s.window, r.sdnn->layers, s.batches, s.batches == 1 ? "" : "es", s.batch,
             s.regrouped == 0 ? "" : fmt::format(", {} of rows that were left of them", s.regrouped));
  if (s.loaded_bytes == 0) {
    fmt::print(to, "streaming: all weights were held, none was loaded in the run\n");
    return;
  }
  print_copies(show_bytes(s.loaded_bytes) + " of weights", s.loaded_bytes, s, r.times.inference(), to);
}

/// Of a bound on this process: whether it held.
std::string show_bound(const ModelReport& r) {
  if (!r.on_host || !r.sdnn->streaming) return "";
  const std::int64_t most = r.sdnn->streaming->memory;
  return fmt::format(", {} the bound of {}", r.peak_bytes <= most ? "within" : "above", show_bytes(most));
}

nlohmann::json json_of(const SdnnStreaming& s) {
  return {{"memory_bytes", s.memory},
          {"window_layers", s.window},
          {"batches", s.batches},
          {"largest_batch", s.batch},
          {"regrouped_batches", s.regrouped},
          {"loaded_bytes", s.loaded_bytes},
          {"load_seconds", s.load_seconds},
          {"waited_seconds", s.waited_seconds},
          {"hidden", s.hidden()}};
}

void print_sdnn(const ModelReport& r, std::FILE* to) {
  const SdnnFacts& s = *r.sdnn;
  const double seconds = r.times.inference();
  fmt::print(to, "data: {}{}, {}\n", s.searched.empty() ? "" : s.searched + ": ", s.weights_from,
             s.images_from);
  fmt::print(to, "network: {} neurons, {} layers, {} edges, bias {}, {}; {} inputs with {} non-zeros\n",
             show_neurons(s), s.layers, s.edges,
             s.bias_of_each_neuron ? "of each neuron" : fmt::format("{}", s.bias),
             std::isinf(s.cap) ? "no cap" : fmt::format("cap {}", s.cap), s.inputs, s.input_nonzeros);
  fmt::print(to, "pipeline: {} (class {}, {}{}): {}\n", r.pipeline, show_class(r), r.device, show_threads(r),
             r.about);
  fmt::print(to, "time: load {}, plan {}, inference {}{}\n", show_seconds(r.times.load),
             show_seconds(r.times.plan.value_or(0)), show_seconds(seconds), show_spread(r.times));
  fmt::print(to, "rate: {} (all edges), {} (active edges, {:.1f} % of all)\n",
             show_tera(all_edges(s), seconds), show_tera(s.active_edges, seconds),
             all_edges(s) > 0 ? 100 * s.active_edges / all_edges(s) : 0.0);
  print_computed(s, to);
  print_absorbed(s, to);
  print_streaming(r, to);
  fmt::print(to, "memory: peak {}{}\n", show_bytes(r.peak_bytes), show_bound(r));
  print_ranks(r, "inputs", to);
  print_gpus(r, to);
  if (r.verbose) print_layers(s, to);
  if (s.judgement.check) print_check(s, to);
  fmt::print(to, "{}\n", verdict_of(s));
}

nlohmann::json json_of_check(const SdnnFullCheck& c) {
  return {{"compared", c.all.compared},           {"misses", c.all.misses},
          {"max_err_over_bound", c.all.worst},    {"worst_layer", c.worst_layer + 1},
          {"fp64_categories", c.fp64_categories}, {"undecidable", c.undecidable},
          {"unsaturated", c.unsaturated}};
}

void add_sdnn(const ModelReport& r, nlohmann::json& json) {
  const SdnnFacts& s = *r.sdnn;
  const double seconds = r.times.inference();
  json["command"] = "sdnn";
  json["data"] = {{"weights", s.weights_from}, {"inputs", s.images_from}};
  json["pipeline"] = {{"name", r.pipeline},
                      {"class", std::string(1, static_cast<char>(r.structure))},
                      {"structure", to_string(r.structure)},
                      {"device", r.device},
                      {"threads", r.threads}};
  json["network"] = {
      {"neurons", s.neurons},
      {"layers", s.layers},
      {"edges", s.edges},
      {"bias", s.bias_of_each_neuron ? nlohmann::json("of each neuron") : nlohmann::json(s.bias)},
      {"cap", s.cap},  // null where there is none
      {"inputs", s.inputs},
      {"input_nonzeros", s.input_nonzeros}};
  if (!s.widths.empty()) json["network"]["widths"] = s.widths;
  json["tera_edges_per_second"] = {{"all", all_edges(s) / seconds / 1e12},
                                   {"active", s.active_edges / seconds / 1e12}};
  json["alive_rows"] = s.active_rows;
  if (!s.absorbed_rows.empty()) json["absorbed_rows"] = s.absorbed_rows;  // class C beside the pipeline's
  if (!s.computed.empty()) json["computed"] = json_of(s.computed);
  json["layer_seconds"] = s.layer_seconds;
  if (s.streaming) json["streaming"] = json_of(*s.streaming);
  if (s.judgement.check) json["check"] = json_of_check(*s.judgement.check);
  json["categories"] = {
      {"count", s.judgement.ids.size()}, {"ids", s.judgement.ids}, {"verdict", verdict_of(s)}};
}

// ---- GCN ----------------------------------------------------------------------------------------------------------

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

void print_gcn(const ModelReport& r, std::FILE* to) {
  const GcnFacts& g = *r.gcn;
  const double seconds = r.times.inference();
  if (g.contest)  // its programs print these two lines, and nothing before them
    fmt::print(to, "{}\n{:.8f}\n", show_row_sum(g), (seconds + g.normalise_seconds) * 1e3);
  fmt::print(to, "data: {}\n", g.from);
  fmt::print(to, "network: {} vertices, {} entries in A, features {} ({}), {}, {} layer{}\n", g.vertices,
             g.entries, g.features, show_features(g), show_widths(g.widths), g.layers,
             g.layers == 1 ? "" : "s");
  fmt::print(to, "pipeline: {} ({}, {}{}): {}; order by cost: {}{}\n", r.pipeline, r.dtype, r.device,
             show_threads(r), r.about, show_by_layer(g.orders), show_values_of_a(g));
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

void add_gcn(const ModelReport& r, nlohmann::json& json) {
  const GcnFacts& g = *r.gcn;
  json["command"] = "gcn";
  json["data"] = g.from;
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

}  // namespace

std::string show_rows(const char* noun, std::int64_t first, std::int64_t rows) {
  return rows == 0 ? fmt::format("no {}", noun) : fmt::format("{} {} to {}", noun, first + 1, first + rows);
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

std::string finding_of(const SdnnJudgement& part) {
  if (!part.differs()) return "";
  std::string text =
      fmt::format("missing {}, extra {}", show_ids(part.difference.missing), show_ids(part.difference.extra));
  if (part.check)
    text += fmt::format("; {} of {} elements outside their bound", part.check->all.misses,
                        part.check->all.compared);
  return text;
}

std::string finding_of(const SdnnJudgement& all, const std::vector<std::int64_t>& rows) {
  const auto part_of = [&](const Ids& ids) {
    Ids part;
    std::copy_if(ids.begin(), ids.end(), std::back_inserter(part),
                 [&](std::int32_t id) { return std::binary_search(rows.begin(), rows.end(), id - 1); });
    return part;
  };
  const SdnnIdDifference difference{part_of(all.difference.missing), part_of(all.difference.extra)};
  return difference.none()
             ? ""
             : fmt::format("missing {}, extra {}", show_ids(difference.missing), show_ids(difference.extra));
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

double ModelTimes::inference() const { return median(runs); }

bool ModelReport::differs() const {
  return sdnn ? sdnn->judgement.differs() : gcn && gcn->judgement.differs();
}

void print(const ModelReport& report, std::FILE* to) {
  if (report.sdnn) print_sdnn(report, to);
  if (report.gcn) print_gcn(report, to);
}

nlohmann::json to_json(const ModelReport& report) {
  nlohmann::json json;
  json["seconds"] = {
      {"load", report.times.load}, {"inference", report.times.inference()}, {"runs", report.times.runs}};
  if (report.times.plan) json["seconds"]["plan"] = *report.times.plan;
  if (report.times.cold) json["seconds"]["cold"] = *report.times.cold;
  if (report.sdnn) add_sdnn(report, json);
  if (report.gcn) add_gcn(report, json);
  json["peak_bytes"] = report.peak_bytes;
  add_ranks(report, json);
  add_gpus(report, json);
  json["right"] = !report.differs();
  return json;
}

}  // namespace plumb
