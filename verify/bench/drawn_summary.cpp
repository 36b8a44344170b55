#include "verify/bench/drawn_summary.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include <fmt/format.h>

#include "tools/terminal.hpp"
#include "verify/bench/ladder.hpp"
#include "verify/judge/repro.hpp"
#include "verify/report/table.hpp"

namespace plumb {
namespace {

// 0: there is none.
double time_of(const BenchResult& r) {
  if (const Measurement* m = quoted(r)) return m->summary.median;
  return std::max(r.single, 0.0);
}

void take_faster(const BenchResult*& best, const BenchResult& r) {
  if (best == nullptr || time_of(r) < time_of(*best)) best = &r;
}

std::string repro(const BenchReport& report, std::initializer_list<const BenchResult*> results) {
  std::string line = report.drawn ? report.drawn->program : "bench";
  for (const BenchResult* r : results) {
    if (r == *results.begin())
      line += fmt::format(" --case {} --device {}{}", shell_word(r->case_id), r->device,
                          r->warm ? " --warm" : "");
    line += fmt::format(" --variant {}", shell_word(r->variant));
  }
  return line;
}

DrawnRatio ratio_over(const BenchReport& report, const std::vector<DrawnCase>& cases,
                      const BenchResult* DrawnCase::*ours) {
  DrawnRatio r;
  std::vector<double> ratios;
  for (const DrawnCase& c : cases) {
    const double ratio = c.ratio(c.*ours);
    if (ratio <= 0) continue;
    ratios.push_back(ratio);
    r.noisy += c.noisy() ? 1 : 0;
    if (r.worst > 0 && ratio >= r.worst) continue;
    r.worst = ratio, r.worst_case = c.vendor->case_id;
    r.worst_repro = repro(report, {c.vendor, c.*ours});
  }
  r.cases = static_cast<int>(ratios.size());
  r.mean = geometric_mean(ratios), r.percentile_5 = percentile(ratios, 0.05);
  return r;
}

DrawnRegret regret_over(const BenchReport& report, const std::vector<DrawnCase>& cases) {
  DrawnRegret r;
  std::vector<double> regrets;
  for (const DrawnCase& c : cases) {
    const double regret = c.regret();
    if (regret < 0) continue;
    regrets.push_back(regret);
    if (regrets.size() > 1 && regret <= r.worst) continue;
    r.worst = regret, r.worst_case = c.best->case_id;
    r.worst_repro = repro(report, {c.best, c.adaptive});
  }
  r.cases = static_cast<int>(regrets.size());
  r.median = percentile(regrets, 0.5), r.percentile_95 = percentile(regrets, 0.95);
  return r;
}

DrawnPayment payment_over(const std::vector<DrawnCase>& cases) {
  DrawnPayment p;
  std::vector<double> runs;
  for (const DrawnCase& c : cases) {
    if (c.adaptive == nullptr || c.adaptive->pays_after < 0) continue;
    runs.push_back(c.adaptive->pays_after);
    p.never += std::isinf(runs.back()) ? 1 : 0;
  }
  p.cases = static_cast<int>(runs.size());
  if (runs.empty()) return p;
  // a case's own: between a number and never there is no mean
  const auto middle = runs.begin() + static_cast<std::ptrdiff_t>(runs.size() / 2);
  std::nth_element(runs.begin(), middle, runs.end());
  p.median = *middle;
  return p;
}

std::string speed(double ratio) { return ratio > 0 ? fmt::format("{:.2f}x", ratio) : "-"; }
std::string loss(const DrawnRegret& of, double regret) {
  return of.cases > 0 ? fmt::format("{:.1f} %", 100 * regret) : "-";
}
std::string named(const DrawnSummary& s) { return fmt::format("{}.{} {}", s.op, s.dtype, s.device); }

// Every operator's worst case of each figure, as "what: id" and the command below it.
std::string worst_cases(const std::vector<DrawnSummary>& summaries, std::size_t columns) {
  std::string text;
  for (const DrawnSummary& s : summaries) {
    const auto add = [&](const std::string& what, const std::string& id, const std::string& command) {
      text +=
          wrapped_text(fmt::format("{}, {}: {}", named(s), what, id), columns, 2) + "    " + command + "\n";
    };
    if (s.best.cases > 0)
      add(fmt::format("best of ours {} the vendor's speed", speed(s.best.worst)), s.best.worst_case,
          s.best.worst_repro);
    if (s.regret.cases > 0 && s.regret.worst > 0)
      add(fmt::format("adaptive rung {} slower than the best", loss(s.regret, s.regret.worst)),
          s.regret.worst_case, s.regret.worst_repro);
  }
  return text;
}

std::string with_time(const BenchResult* r) {
  if (r == nullptr) return "-";
  return fmt::format("{} {}{}", r->variant, time_text(time_of(*r)), r->has_times() ? "" : " (one run)");
}

}  // namespace

double DrawnCase::ratio(const BenchResult* ours) const {
  return vendor == nullptr || ours == nullptr ? 0 : time_of(*vendor) / time_of(*ours);
}

double DrawnCase::regret() const {
  return best == nullptr || adaptive == nullptr ? -1 : time_of(*adaptive) / time_of(*best) - 1;
}

bool DrawnCase::noisy() const {
  const auto wide = [](const BenchResult* r) {
    return r != nullptr && (quoted(*r) == nullptr || quoted(*r)->summary.wide());
  };
  return wide(vendor) || wide(best) || wide(adaptive);
}

std::vector<DrawnCase> drawn_cases_of(const BenchReport& report) {
  std::vector<DrawnCase> cases;
  for (const BenchResult& r : report.results) {
    if (time_of(r) <= 0 || !is_of_own_type(r.arithmetic)) continue;
    const auto same = [&](const DrawnCase& c) {
      return c.any().case_id == r.case_id && c.any().device == r.device;
    };
    // results of a case stand together: it is among the last
    const auto known = std::find_if(cases.rbegin(), cases.rend(), same);
    DrawnCase& c = known != cases.rend() ? *known : cases.emplace_back();
    take_faster(r.library ? c.vendor : c.best, r);
    if (r.adaptive) take_faster(c.adaptive, r);
  }
  return cases;
}

std::vector<DrawnSummary> summarise_drawn(const BenchReport& report) {
  std::vector<DrawnSummary> all;
  std::vector<std::vector<DrawnCase>> cases;
  for (const DrawnCase& c : drawn_cases_of(report)) {
    const BenchResult& r = c.any();
    std::size_t at = 0;
    while (at < all.size() && !(all[at].op == r.op && all[at].dtype == r.dtype && all[at].device == r.device))
      ++at;
    if (at == all.size()) all.push_back({r.op, r.dtype, r.device, 0, {}, {}, {}, {}}), cases.emplace_back();
    cases[at].push_back(c);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].cases = static_cast<int>(cases[i].size());
    all[i].best = ratio_over(report, cases[i], &DrawnCase::best);
    all[i].adaptive = ratio_over(report, cases[i], &DrawnCase::adaptive);
    all[i].regret = regret_over(report, cases[i]);
    all[i].payment = payment_over(cases[i]);
  }
  return all;
}

std::string drawn_case_lines(const BenchReport& report, const std::string& case_id) {
  std::string text;
  for (const DrawnCase& c : drawn_cases_of(report)) {
    if (c.any().case_id != case_id) continue;
    text += fmt::format("{}: best {}, ", case_id, with_time(c.best));
    text += c.vendor == nullptr
                ? "no library variant"
                : fmt::format("{} the speed of {}", speed(c.ratio(c.best)), with_time(c.vendor));
    if (c.adaptive != nullptr)
      text += fmt::format("; adaptive {}, {:.1f} % slower than the best", with_time(c.adaptive),
                          100 * c.regret());
    text += "\n";
  }
  return text;
}

std::string drawn_head(const BenchReport& report) {
  const DrawnRun& d = *report.drawn;
  std::string text = fmt::format(
      "{} cases drawn for timing, {} of each operator, seed {}: {} to {}, at most {:.3g} multiply-adds and "
      "{:.3g} entries\n",
      d.cases, d.of_an_operator, d.seed, show_bytes(static_cast<std::int64_t>(d.size.least_bytes)),
      show_bytes(static_cast<std::int64_t>(d.size.most_bytes)), d.size.most_work, d.size.most_entries);
  if (!d.not_begun.empty() || d.variants_not_timed > 0) {
    text += fmt::format("not timed for want of time{}: {} cases, and {} variants of the others\n",
                        d.limit > 0 ? fmt::format(" (limit {} s)", d.limit) : "", d.not_begun.size(),
                        d.variants_not_timed);
  }
  if (report.uses > 0) text += fmt::format("adaptive rungs chose for {} runs of a plan\n", report.uses);
  if (d.mistrusted > 0) text += fmt::format("not timed because they prove nothing: {} cases\n", d.mistrusted);
  return text;
}

std::string drawn_table(const BenchReport& report, std::size_t columns) {
  const std::vector<DrawnSummary> summaries = summarise_drawn(report);
  std::string text;
  std::istringstream head(drawn_head(report));
  for (std::string line; std::getline(head, line);) text += wrapped_text(line, columns);
  text += wrapped_text(
      "best, adaptive: speed of the best of ours and of the adaptive rung, beside the vendor's; slower: the "
      "adaptive "
      "rung's time above that of the best of ours",
      columns);
  TextTable table("operator", {"cases", "best: mean", "5th %", "worst", "adaptive: mean", "5th %", "worst",
                               "slower: median", "95th %", "worst", "noisy", "pays after"});
  for (const DrawnSummary& s : summaries) {
    std::vector<TextCell> cells{{std::to_string(s.cases)}};
    for (const DrawnRatio* r : {&s.best, &s.adaptive}) {
      for (const double ratio : {r->mean, r->percentile_5, r->worst}) cells.push_back({speed(ratio)});
    }
    for (const double regret : {s.regret.median, s.regret.percentile_95, s.regret.worst})
      cells.push_back({loss(s.regret, regret)});
    cells.push_back({std::to_string(s.best.noisy)});
    cells.push_back({pays_text(s.payment.median)});
    table.add(named(s), std::move(cells));
  }
  for (const std::string& line : table.lines(columns)) text += line + "\n";
  const std::string worst = worst_cases(summaries, columns);
  return worst.empty() ? text : text + "worst cases, and how to time them alone:\n" + worst;
}

std::string drawn_markdown(const BenchReport& report, const std::map<std::string, std::string>& plots) {
  const std::vector<DrawnSummary> summaries = summarise_drawn(report);
  std::string text = fmt::format(
      "{}\n`/ vendor`: the time of the fastest library variant over ours, above 1 is faster: geometric mean, "
      "5th percentile, worst.\n`regret`: how much slower the adaptive rung is than the fastest of ours: "
      "median, "
      "95th percentile, worst.\nVariants that compute in another arithmetic are left out. `noisy`: cases "
      "with a "
      "time whose interval is wider than 5 %. `pays after`: the runs after which what the adaptive rung "
      "prepares has "
      "paid\nbeside the vendor's fastest with its own preparation, median.\n\n"
      "| operator | cases | best / vendor | 5th % | worst | adaptive / vendor | 5th % | worst | regret | "
      "95th % | "
      "worst | noisy | pays after |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
      drawn_head(report));
  for (const DrawnSummary& s : summaries) {
    text += fmt::format("| {} | {} ", named(s), s.cases);
    for (const DrawnRatio* r : {&s.best, &s.adaptive})
      text += fmt::format("| {} | {} | {} ", speed(r->mean), speed(r->percentile_5), speed(r->worst));
    const DrawnRegret& g = s.regret;
    text += fmt::format("| {} | {} | {} | {} | {} |\n", loss(g, g.median), loss(g, g.percentile_95),
                        loss(g, g.worst), s.best.noisy, pays_text(s.payment.median));
  }
  for (const auto& [op, path] : plots)
    text += fmt::format("\n![{}: speed beside the vendor's by size]({})\n", op, path);
  text += fmt::format("\nThe worst cases, and the commands that time them alone:\n\n```\n{}```\n",
                      worst_cases(summaries, 0));
  text +=
      "\n| case | best of ours | vendor | speed / vendor | adaptive | regret | prepare | pays after |\n"
      "|---|---|---|---|---|---|---|---|\n";
  for (const DrawnCase& c : drawn_cases_of(report)) {
    const double prepare = c.adaptive != nullptr ? c.adaptive->prepare : -1;
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", c.any().case_id, with_time(c.best),
                        with_time(c.vendor), speed(c.ratio(c.best)), with_time(c.adaptive),
                        c.regret() < 0 ? "-" : fmt::format("{:.1f} %", 100 * c.regret()),
                        prepare < 0 ? "-" : time_text(prepare),
                        pays_text(c.adaptive != nullptr ? c.adaptive->pays_after : -1));
  }
  return fmt::format("{}\n```\n{}\n{}```\n", text, machine_table(report), roofs_table(report.roofs));
}

}  // namespace plumb
