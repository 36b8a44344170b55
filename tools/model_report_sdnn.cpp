// What is said of a run of a sparse DNN.
#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "tools/model_report_parts.hpp"
#include "tools/terminal.hpp"

namespace plumb {

namespace {

using Ids = std::vector<std::int32_t>;

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

std::string show_neurons(const SdnnFacts& s) {
  const bool one_size =
      std::adjacent_find(s.widths.begin(), s.widths.end(), std::not_equal_to<>()) == s.widths.end();
  return one_size ? fmt::format("{}", s.neurons) : show_widths(s.widths);
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

nlohmann::json json_of_check(const SdnnFullCheck& c) {
  return {{"compared", c.all.compared},           {"misses", c.all.misses},
          {"max_err_over_bound", c.all.worst},    {"worst_layer", c.worst_layer + 1},
          {"fp64_categories", c.fp64_categories}, {"undecidable", c.undecidable},
          {"unsaturated", c.unsaturated}};
}

}  // namespace

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
  print_absorbed(s, to);
  print_streaming(r, to);
  fmt::print(to, "memory: peak {}{}\n", show_bytes(r.peak_bytes), show_bound(r));
  print_ranks(r, "inputs", to);
  print_gpus(r, to);
  if (r.verbose) print_layers(s, to);
  if (s.judgement.check) print_check(s, to);
  fmt::print(to, "{}\n", verdict_of(s));
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
  json["layer_seconds"] = s.layer_seconds;
  if (s.streaming) json["streaming"] = json_of(*s.streaming);
  if (s.judgement.check) json["check"] = json_of_check(*s.judgement.check);
  json["categories"] = {
      {"count", s.judgement.ids.size()}, {"ids", s.judgement.ids}, {"verdict", verdict_of(s)}};
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

}  // namespace plumb
