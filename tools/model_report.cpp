#include "tools/model_report.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "tools/model_report_parts.hpp"
#include "tools/terminal.hpp"

namespace plumb {

namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n == 0 ? 0 : n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
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

/// Bytes a second; 0 where no time is known.
double per_second(std::int64_t bytes, double seconds) {
  return seconds > 0 ? static_cast<double>(bytes) / seconds : 0;
}

}  // namespace

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

std::string show_widths(const std::vector<std::int64_t>& w) {
  constexpr std::size_t kShown = 8;
  if (w.size() <= kShown) return fmt::format("{}", fmt::join(w, "-"));
  const auto half = static_cast<std::ptrdiff_t>(kShown / 2);
  return fmt::format("{}-...-{}", fmt::join(w.begin(), w.begin() + half, "-"),
                     fmt::join(w.end() - half, w.end(), "-"));
}

void print_copies(const std::string& what, std::int64_t bytes, const StreamedCopies& copies, double seconds,
                  std::FILE* to) {
  fmt::print(to,
             "streaming: {} in {} ({:.3g} GB/s; the run needs {:.3g} GB/s), {} of it waited for: {:.1f} % "
             "hidden behind the computation\n",
             what, show_seconds(copies.load_seconds), per_second(bytes, copies.load_seconds) / 1e9,
             per_second(bytes, seconds - copies.waited_seconds) / 1e9, show_seconds(copies.waited_seconds),
             100 * copies.hidden());
}

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

std::string show_rows(const char* noun, std::int64_t first, std::int64_t rows) {
  return rows == 0 ? fmt::format("no {}", noun) : fmt::format("{} {} to {}", noun, first + 1, first + rows);
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
