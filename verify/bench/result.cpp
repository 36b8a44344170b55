#include "verify/bench/result.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "datasets/io/output_file.hpp"
#include "reference/core/error.hpp"
#include "verify/bench/drawn_summary.hpp"

namespace plumb {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;

Json json_of(const Measurement& m) {
  return {{"median_s", m.summary.median}, {"low_s", m.summary.low}, {"high_s", m.summary.high},
          {"noisy", m.summary.noisy},     {"floor_s", m.floor},     {"share_of_roof", m.share_of_roof()},
          {"vendor_ratio", m.vendor},     {"samples_s", m.samples}};
}

Measurement measurement_of(const Json& j) {
  Measurement m;
  m.samples = j.at("samples_s").get<std::vector<double>>();
  m.summary = summarise(m.samples);
  m.floor = j.at("floor_s").get<double>();
  m.vendor = j.at("vendor_ratio").get<double>();
  return m;
}

// Of pays_after: a number, or "never".
Json runs_json(double runs) { return std::isinf(runs) ? Json("never") : Json(runs); }

Json json_of(const DrawnRatio& r) {
  return {{"cases", r.cases},
          {"noisy_cases", r.noisy},
          {"geometric_mean", r.mean},
          {"percentile_5", r.percentile_5},
          {"worst", r.worst},
          {"worst_case", r.worst_case},
          {"worst_repro", r.worst_repro}};
}

Json json_of(const DrawnPayment& p) {
  Json j{{"cases", p.cases}, {"never", p.never}};
  if (p.median >= 0) j["median"] = runs_json(p.median);
  return j;
}

Json json_of(const DrawnRun& run, const std::vector<DrawnSummary>& summaries) {
  Json operators = Json::array();
  for (const DrawnSummary& s : summaries) {
    operators.push_back({{"op", s.op},
                         {"dtype", s.dtype},
                         {"device", s.device},
                         {"cases", s.cases},
                         {"best_own_speed_beside_vendor", json_of(s.best)},
                         {"adaptive_speed_beside_vendor", json_of(s.adaptive)},
                         {"regret",
                          {{"cases", s.regret.cases},
                           {"median", s.regret.median},
                           {"percentile_95", s.regret.percentile_95},
                           {"worst", s.regret.worst},
                           {"worst_case", s.regret.worst_case},
                           {"worst_repro", s.regret.worst_repro}}},
                         {"adaptive_pays_after", json_of(s.payment)}});
  }
  return {{"program", run.program},
          {"seed", run.seed},
          {"of_an_operator", run.of_an_operator},
          {"least_bytes", run.size.least_bytes},
          {"most_bytes", run.size.most_bytes},
          {"most_multiply_adds", run.size.most_work},
          {"most_entries", run.size.most_entries},
          {"limit_s", run.limit},
          {"cases", run.cases},
          {"cases_mistrusted", run.mistrusted},
          {"cases_not_begun", run.not_begun},
          {"variants_not_timed", run.variants_not_timed},
          {"operators", operators}};
}

DrawnRun drawn_run_of(const Json& j) {
  DrawnRun run;
  run.program = j.at("program").get<std::string>(), run.seed = j.at("seed").get<std::uint64_t>();
  run.of_an_operator = j.at("of_an_operator").get<int>();
  run.size = {j.at("least_bytes").get<double>(), j.at("most_bytes").get<double>(),
              j.at("most_multiply_adds").get<double>(), j.at("most_entries").get<double>()};
  run.limit = j.at("limit_s").get<double>(), run.cases = j.at("cases").get<std::int64_t>();
  run.mistrusted = j.at("cases_mistrusted").get<std::int64_t>();
  run.not_begun = j.at("cases_not_begun").get<std::vector<std::string>>();
  run.variants_not_timed = j.at("variants_not_timed").get<std::int64_t>();
  return run;
}

Arithmetic arithmetic_of(const std::string& word) {
  for (int a = 0; a <= static_cast<int>(Arithmetic::by_lse); ++a) {
    if (name(static_cast<Arithmetic>(a)) == word) return static_cast<Arithmetic>(a);
  }
  throw Error(fmt::format("unknown arithmetic '{}'", printable(word)));
}

Device device_of(const std::string& word) { return word == "gpu" ? Device::gpu : Device::cpu; }

// The fastest library variant on the same case and device; null: there is none.
const BenchResult* vendor_of(const BenchReport& report, const BenchResult& r) {
  const BenchResult* best = nullptr;
  for (const BenchResult& v : report.results) {
    if (v.case_id != r.case_id || v.device != r.device || !v.library || quoted(v) == nullptr) continue;
    if (best == nullptr || quoted(v)->summary.median < quoted(*best)->summary.median) best = &v;
  }
  return best;
}

double pays_after(const BenchReport& report, const BenchResult& r) {
  if (r.library || r.prepare < 0 || quoted(r) == nullptr) return -1;
  const BenchResult* vendor = vendor_of(report, r);
  if (vendor == nullptr) return -1;
  const double gain = quoted(*vendor)->summary.median - quoted(r)->summary.median,
               more = r.prepare - std::max(vendor->prepare, 0.0);
  if (gain <= 0) return std::numeric_limits<double>::infinity();
  return more > 0 ? std::ceil(more / gain) : 0;
}

// For reports of 0.1, which lack the key "library": a number from 80 stands for a library there.
bool is_numbered_as_library(const std::string& variant) {
  const std::size_t slash = variant.find('/');
  if (slash == std::string::npos || slash + 2 >= variant.size()) return false;
  if (variant.compare(0, slash, "cpu") != 0 && variant.compare(0, slash, "gpu") != 0) return false;
  const char tens = variant[slash + 1];
  return (tens == '8' || tens == '9') && std::isdigit(static_cast<unsigned char>(variant[slash + 2])) != 0;
}

}  // namespace

int refuse_impossible(BenchReport& report) {
  int refused = 0;
  for (BenchResult& r : report.results) {
    const RoofSet roofs = roof_set(report.roofs, device_of(r.device));
    const Dtype dtype = r.dtype == "f32" ? Dtype::f32 : Dtype::f64;
    std::string why;
    for (const bool cold : {false, true}) {
      std::optional<Measurement>& m = cold ? r.cold : r.warm;
      if (!m) continue;
      m->floor = floor_seconds(roofs, dtype, r.arithmetic, {r.flop, r.bytes}, r.output_bytes, cold);
      m->impossible = m->summary.median * kRoofAllowance < m->floor;
      if (m->impossible && why.empty()) {
        why = fmt::format(
            "{:.3g} us {} is below the floor of {:.3g} us that {:.4g} flop and {:.4g} bytes need under the "
            "measured roofs",
            m->summary.median * 1e6, cold ? "cold" : "warm", m->floor * 1e6, r.flop, r.bytes);
      }
    }
    if (why.empty()) continue;
    ++refused;
    r.verdict = "impossible", r.reason = why;
    r.warm.reset(), r.cold.reset();
  }
  return refused;
}

void rate_against_vendor(BenchReport& report) {
  for (const bool cold : {false, true}) {
    const auto times = [&](BenchResult& r) -> std::optional<Measurement>& { return cold ? r.cold : r.warm; };
    for (BenchResult& r : report.results) {
      if (!times(r)) continue;
      double best = 0;
      bool wide = times(r)->summary.wide();
      for (BenchResult& v : report.results) {
        if (v.case_id != r.case_id || v.device != r.device || !v.library || !times(v)) continue;
        const double median = times(v)->summary.median;
        if (best > 0 && median >= best) continue;
        best = median;
        wide = times(r)->summary.wide() || times(v)->summary.wide();
      }
      times(r)->vendor = wide                                       ? 0
                         : best > 0 && times(r)->summary.median > 0 ? best / times(r)->summary.median
                                                                    : 0;
    }
  }
  for (BenchResult& r : report.results) r.pays_after = pays_after(report, r);
}

bool is_of_own_type(Arithmetic a) { return a == Arithmetic::native || a == Arithmetic::flushed; }

const Measurement* quoted(const BenchResult& r) { return r.warm ? &*r.warm : r.cold ? &*r.cold : nullptr; }

std::string to_json(const BenchReport& report) {
  Json machine = Json::object(), roofs = Json::array(), results = Json::array();
  for (const auto& [key, value] : report.machine) machine[key] = value;
  for (const Roof& r : report.roofs)
    roofs.push_back({{"device", r.device}, {"name", r.name}, {"value", r.value}, {"unit", r.unit}});
  for (const BenchResult& r : report.results) {
    Json j{{"case", r.case_id},
           {"op", r.op},
           {"dtype", r.dtype},
           {"variant", r.variant},
           {"device", r.device},
           {"arithmetic", std::string(name(r.arithmetic))},
           {"library", r.library},
           {"verdict", r.verdict},
           {"reason", r.reason},
           {"chosen", r.chosen},
           {"flop", r.flop},
           {"bytes", r.bytes},
           {"output_bytes", r.output_bytes}};
    if (r.adaptive) j["adaptive"] = true;
    if (r.single >= 0) j["left_out_single_s"] = r.single;
    if (r.prepare >= 0) j["prepare_s"] = r.prepare;
    if (r.pays_after >= 0) j["pays_after"] = runs_json(r.pays_after);
    Json kernels = Json::array();
    for (const KernelUse& k : r.kernels) {
      kernels.push_back({{"name", k.name},
                         {"registers", k.registers},
                         {"shared_bytes", k.shared_bytes},
                         {"local_bytes", k.local_bytes},
                         {"threads", k.threads},
                         {"blocks", k.blocks}});
    }
    if (!kernels.empty()) j["kernels"] = kernels;
    if (r.warm) j["warm"] = json_of(*r.warm);
    if (r.cold) j["cold"] = json_of(*r.cold);
    results.push_back(std::move(j));
  }
  Json all{{"plumbline_bench", kFormat},
           {"version", report.version},
           {"command", report.command},
           {"machine", machine},
           {"roofs", roofs},
           {"results", results}};
  if (report.uses > 0) all["uses"] = report.uses;
  if (report.drawn) all["drawn"] = json_of(*report.drawn, summarise_drawn(report));
  return all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

BenchReport from_json(const std::string& text, const std::string& file) {
  BenchReport report;
  try {
    const Json all = Json::parse(text);
    if (!all.is_object() || !all.contains("plumbline_bench"))
      throw input_error(file, 0, "not a report of bench --json");
    if (all.at("plumbline_bench").get<int>() != kFormat) {
      throw input_error(file, 0, "a report in another format",
                        std::to_string(all.at("plumbline_bench").get<int>()));
    }
    report.version = all.at("version").get<std::string>();
    report.command = all.at("command").get<std::string>();
    for (const auto& [key, value] : all.at("machine").items())
      report.machine.emplace_back(key, value.get<std::string>());
    for (const Json& r : all.at("roofs")) {
      report.roofs.push_back({r.at("device").get<std::string>(), r.at("name").get<std::string>(),
                              r.at("value").get<double>(), r.at("unit").get<std::string>()});
    }
    for (const Json& j : all.at("results")) {
      BenchResult& r = report.results.emplace_back();
      for (const auto& [key, to] : {std::pair{"case", &r.case_id},
                                    {"op", &r.op},
                                    {"dtype", &r.dtype},
                                    {"variant", &r.variant},
                                    {"device", &r.device},
                                    {"verdict", &r.verdict},
                                    {"reason", &r.reason},
                                    {"chosen", &r.chosen}}) {
        *to = j.at(key).get<std::string>();
      }
      r.arithmetic = arithmetic_of(j.at("arithmetic").get<std::string>());
      r.library = j.contains("library") ? j.at("library").get<bool>() : is_numbered_as_library(r.variant);
      r.flop = j.at("flop").get<double>(), r.bytes = j.at("bytes").get<double>(),
      r.output_bytes = j.at("output_bytes").get<double>();
      r.prepare = j.value("prepare_s", -1.0);
      if (j.contains("pays_after")) {
        r.pays_after = j.at("pays_after").is_string() ? std::numeric_limits<double>::infinity()
                                                      : j.at("pays_after").get<double>();
      }
      r.adaptive = j.value("adaptive", false), r.single = j.value("left_out_single_s", -1.0);
      if (j.contains("kernels")) {
        for (const Json& k : j.at("kernels")) {
          r.kernels.push_back({k.at("name").get<std::string>(), k.at("registers").get<int>(),
                               k.at("shared_bytes").get<int>(), k.at("local_bytes").get<int>(),
                               k.at("threads").get<int>(), k.at("blocks").get<std::int64_t>()});
        }
      }
      if (j.contains("warm")) r.warm = measurement_of(j.at("warm"));
      if (j.contains("cold")) r.cold = measurement_of(j.at("cold"));
    }
    report.uses = all.value("uses", std::int64_t{0});
    if (all.contains("drawn")) report.drawn = drawn_run_of(all.at("drawn"));
  } catch (const nlohmann::json::exception& e) {
    throw input_error(file, 0, "not a report of bench --json", e.what());
  }
  return report;
}

void write_text(const std::string& path, const std::string& text) {
  OutputFile file(path);
  file.write(text);
  file.commit();
}

void write_json(const BenchReport& report, const std::string& path) { write_text(path, to_json(report)); }

BenchReport read_json(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw input_error(path, 0, "cannot be read", std::strerror(errno));
  std::stringstream text;
  text << file.rdbuf();
  return from_json(text.str(), path);
}

}  // namespace plumb
