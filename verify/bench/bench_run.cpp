#include "verify/bench/bench_run.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "datasets/io/output_file.hpp"
#include "reference/core/error.hpp"
#include "tools/terminal.hpp"
#include "tools/version.hpp"
#include "verify/bench/drawn_plot.hpp"
#include "verify/bench/drawn_summary.hpp"
#include "verify/bench/gcn_case.hpp"
#include "verify/bench/ladder.hpp"
#include "verify/bench/machine.hpp"
#include "verify/bench/time_shares.hpp"
#include "verify/engine/operator/operators.hpp"
#include "verify/judge/mistrust.hpp"
#include "verify/judge/runner.hpp"
#include "verify/sweep/sweep.hpp"

namespace plumb {
namespace {

// Times below a floor are refused only after the roofs were measured again, and again: a disturbed roof is low.
void refuse(BenchReport& report, Progress& progress) {
  constexpr int kMeasuredAgain = 3;
  std::set<std::string> devices;
  for (const Roof& r : report.roofs) devices.insert(r.device);
  for (int again = 0; again < kMeasuredAgain; ++again) {
    BenchReport trial = report;
    if (refuse_impossible(trial) == 0) break;
    progress.say("a time is below its floor: measuring the roofs again");
    for (const std::string& d : devices) {
      report.roofs =
          better_of(std::move(report.roofs), measure_roofs(d == "gpu" ? Device::gpu : Device::cpu));
    }
  }
  refuse_impossible(report);
}

// A measurement of a roof takes at most so many times what a variant's samples take: who asks for little wants to see little soon.
constexpr double kRoofBudgets = 10;

// So many times slower than the fastest of ours: hopeless, and not timed any further.
constexpr double kHopeless = 5;

// The fastest of ours so far on one case, by device: what hopeless is measured by. Vendors and rungs whose choice is rated are always
// timed in full, and those of another arithmetic are no measure.
class FastestOfOurs {
 public:
  // Seconds above which `v` is hopeless; 0: it cannot be.
  [[nodiscard]] double hopeless_above(const VariantInfo& v, bool adaptive) const {
    const auto known = seconds_.find(v.device);
    return known == seconds_.end() || v.traits.library || adaptive ? 0 : kHopeless * known->second;
  }
  void take(const VariantInfo& v, const BenchResult& r) {
    if (v.traits.library || quoted(r) == nullptr || !is_of_own_type(r.arithmetic)) return;
    const auto [known, fresh] = seconds_.try_emplace(v.device, quoted(r)->summary.median);
    if (!fresh) known->second = std::min(known->second, quoted(r)->summary.median);
  }

 private:
  std::map<Device, double> seconds_;
};

BenchResult result_of(const Case& c, const VariantInfo& v, const Cost& cost, double output_bytes,
                      const Record& record, const Timing& timing) {
  BenchResult r;
  r.case_id = c.id(), r.op = c.op, r.dtype = std::string(name(c.dtype)), r.variant = v.name,
  r.device = std::string(name(v.device));
  r.arithmetic = v.traits.arithmetic, r.library = v.traits.library;
  r.verdict = std::string(name(record.verdict)), r.reason = record.reason, r.chosen = record.chosen;
  r.flop = cost.flop, r.bytes = cost.bytes, r.output_bytes = output_bytes;
  if (!is_passed(record.verdict)) return r;  // the time of a variant that failed is not quoted
  r.prepare = timing.prepare;
  if (timing.given_up) {
    r.single = (timing.warm.empty() ? timing.cold : timing.warm).front();
    return r;
  }
  r.kernels = timing.kernels;
  for (const auto& [samples, to] : {std::pair{&timing.warm, &r.warm}, {&timing.cold, &r.cold}}) {
    if (samples->empty()) continue;
    Measurement& m = to->emplace();
    m.samples = *samples;
    m.summary = summarise(*samples);
  }
  return r;
}

double output_bytes_of(const PreparedCase& prepared) {
  ImageLayout layout{Placement{}};
  (void)prepared.place(layout);
  double bytes = 0;
  for (const Segment& s : layout.segments()) {
    if (s.output) bytes += static_cast<double>(s.elements() * s.element_bytes());
  }
  return bytes;
}

/// Runs one variant of a case under the clock.
using Measure = std::function<BenchResult(const VariantInfo&, const TimingRequest&)>;

// One run of bench: machine and roofs, then every job under the clock.
class BenchRun {
 public:
  BenchRun(const BenchOptions& o, const std::vector<std::string>& libraries, std::vector<Job> jobs,
           std::optional<DrawnRun> drawn)
      : options_(o), libraries_(libraries), jobs_(std::move(jobs)) {
    report_.drawn = std::move(drawn);
  }

  int run() {
    if (const int code = leave_out_absent(); code != kOk) return code;
    if (report_.drawn) share_time();
    describe();
    TimingRequest timing;
    timing.samples = options_.samples, timing.budget = options_.budget;
    timing.warm = options_.warm || !options_.cold;
    timing.cold = options_.cold || (!options_.warm && !report_.drawn);
    RunOptions run_options;
    run_options.timeout = options_.timeout, run_options.uses = options_.uses;
    Sweep sweep(1, run_options);  // one at a time: another would disturb the clock
    const std::exception_ptr failure = sweep.run(
        jobs_.size(), [&](std::size_t j) { return jobs_[j].c.op; },
        [&](Runner& runner, std::size_t j) { time_job(runner, j, timing); });
    report_.complete = failure == nullptr && stop_signal == 0;
    write_outputs(options_, report_, true);
    if (failure) std::rethrow_exception(failure);
    return finish();
  }

 private:
  // Without a GPU its rungs are one line, not a record each.
  int leave_out_absent() {
    const std::string absent = make_backend(Device::gpu)->why_not();
    const auto on_gpu = [](const VariantInfo& v) { return v.device == Device::gpu; };
    bool wanted = false;
    for (Job& job : jobs_) {
      wanted = wanted || std::any_of(job.variants.begin(), job.variants.end(), on_gpu);
      if (!absent.empty()) std::erase_if(job.variants, on_gpu);
      for (const VariantInfo& v : job.variants) (v.device == Device::gpu ? gpu_ : cpu_) = true;
      planned_ += job.variants.size();
    }
    std::erase_if(jobs_, [](const Job& job) { return job.variants.empty(); });
    if (wanted && !absent.empty()) print("skipped: gpu/*: " + absent);
    if (planned_ > 0) return kOk;
    return absent.empty() ? kNothingRan : kNoDevice;
  }

  void describe() {
    report_.version = kVersion, report_.command = options_.command,
    report_.uses = options_.uses == kManyUses ? 0 : options_.uses;
    report_.machine = describe_machine(libraries_, gpu_);
    progress_.say("measuring roofs");
    for (const auto& [used, device] : {std::pair{cpu_, Device::cpu}, {gpu_, Device::gpu}}) {
      if (!used) continue;
      for (Roof& r : measure_roofs(device, kRoofBudgets * options_.budget))
        report_.roofs.push_back(std::move(r));
    }
    report_.machine.emplace_back("clocks before", clocks_now(gpu_));
    report_.machine.emplace_back("clocks after", "");
    progress_.clear();
    fmt::print(out_, "{}\nroofs, measured now\n{}", machine_table(report_, terminal_columns(out_)),
               roofs_table(report_.roofs));
    std::fflush(out_);
  }

  void share_time() {
    report_.drawn->cases = static_cast<std::int64_t>(jobs_.size());
    std::vector<std::string> operators;
    for (const Job& job : jobs_) operators.push_back(job.c.op);
    constexpr double kNone = std::numeric_limits<double>::infinity();
    shares_.emplace(options_.limit > 0 ? options_.limit : kNone, options_.case_budget, std::move(operators));
  }

  void time_job(Runner& runner, std::size_t j, const TimingRequest& timing) {
    const Job& job = jobs_[j];
    const std::string id = job.c.id();
    if (shares_ && !shares_->may_begin(j, clock_.seconds())) {
      report_.drawn->not_begun.push_back(id), at_ += job.variants.size();
      return;
    }
    progress_.say(fmt::format("[{}/{}] {}: data and reference", at_, planned_, id));
    if (names_gcn(job.c.op)) {
      const GcnCase network(job.c);
      time_variants(
          j, [&](const VariantInfo& v, const TimingRequest& t) { return network.time(v, t); }, timing);
    } else if (!time_operator(runner, j, timing)) {
      return;
    }
    refuse(report_, progress_);
    rate_against_vendor(report_);
    report_.machine.back().second = clocks_now(gpu_);
    progress_.clear();
    tell(id);
    // after every case, so that a run that ends early leaves a report
    write_outputs(options_, report_, false);
  }

  // False where the case proves nothing.
  bool time_operator(Runner& runner, std::size_t j, const TimingRequest& timing) {
    const Job& job = jobs_[j];
    const std::unique_ptr<PreparedCase> prepared = find_operator(job.c.op).prepare(job.c);
    if (const std::string mistrust = why_mistrusted(job.c, *prepared); !mistrust.empty()) {
      progress_.clear();
      print("\n" + job.c.id());
      print("not timed: mistrusted: " + mistrust, 2);
      at_ += job.variants.size();
      if (report_.drawn) {
        ++report_.drawn->mistrusted;
      } else if (!job.c.has("matrix")) {  // of a user's matrix a case may prove nothing
        ++wrong_;
      }
      return false;
    }
    const double output_bytes = output_bytes_of(*prepared);
    const Measure measure = [&](const VariantInfo& v, const TimingRequest& request) {
      Timing measured;
      const Record record = runner.judge_timed(job.c, *prepared, v, request, measured);
      // otherwise idle threads of a host variant spin while the next variant is timed
      if (v.device == Device::cpu) runner.forget_workers();
      return result_of(job.c, v, prepared->cost(), output_bytes, record, measured);
    };
    time_variants(j, measure, timing);
    return true;
  }

  // Of ours, chooses its kernel by the case, or is the pipeline that is taken unasked.
  [[nodiscard]] bool is_adaptive(const VariantInfo& v) const {
    if (v.traits.library) return false;
    return names_gcn(v.op) ? is_taken_unasked(v) : matches_any(options_.adaptive, v.name);
  }

  void time_variants(std::size_t j, const Measure& measure, TimingRequest timing) {
    const Job& job = jobs_[j];
    const double deadline =
        shares_ ? shares_->deadline(j, clock_.seconds()) : std::numeric_limits<double>::infinity();
    FastestOfOurs fastest;
    int of_ours = 0;
    const std::size_t begin = report_.results.size();
    for (const VariantInfo& v : job.variants) {
      if (stop_signal != 0) break;
      progress_.say(fmt::format("[{}/{}] {}  {}", ++at_, planned_, v.name, job.c.id()));
      // never the libraries and the first of ours: a case that is begun gives a ratio
      if (of_ours > 0 && clock_.seconds() > deadline) {
        ++report_.drawn->variants_not_timed;
        continue;
      }
      of_ours += v.traits.library ? 0 : 1;
      const bool adaptive = is_adaptive(v);
      if (report_.drawn) timing.give_up_above = fastest.hopeless_above(v, adaptive);
      BenchResult r = measure(v, timing);
      if (stop_signal != 0) break;  // its run ended early: its times mean nothing
      r.adaptive = adaptive;
      fastest.take(v, r);
      report_.results.push_back(std::move(r));
    }
    time_slow_libraries_again(job, measure, timing, begin);
  }

  // A library that is slower than our simplest loop is the yardstick of all ratios: what was timed may have been the scheduler.
  void time_slow_libraries_again(const Job& job, const Measure& measure, TimingRequest timing,
                                 std::size_t begin) {
    timing.give_up_above = 0;
    for (std::size_t i = begin; i < report_.results.size() && stop_signal == 0; ++i) {
      const BenchResult first = report_.results[i];
      const BenchResult* const simpler = first.library ? simplest_faster(report_, first) : nullptr;
      const auto v = std::find_if(job.variants.begin(), job.variants.end(), [&](const VariantInfo& w) {
        return w.name == first.variant && name(w.device) == first.device;
      });
      if (simpler == nullptr || v == job.variants.end()) continue;
      progress_.say(fmt::format("{} again: it was slower than {}", first.variant, simpler->variant));
      const BenchResult second = measure(*v, timing);
      if (stop_signal == 0) report_.results[i] = better_timing(first, second, *simpler);
    }
  }

  // A case's ladder; a drawn one's line, on stderr: the report is what they say together.
  void tell(const std::string& id) {
    if (report_.drawn) {
      fmt::print(stderr, "[{:.0f} s] {}", clock_.seconds(), drawn_case_lines(report_, id));
    } else {
      fmt::print(out_, "{}", ladder_table(report_, id, terminal_columns(out_)));
    }
    std::fflush(out_);
  }

  // Lines of a text at the terminal's present width.
  void print(const std::string& text, std::size_t indent = 0) {
    fmt::print(out_, "{}", wrapped_text(text, terminal_columns(out_), indent));
  }

  int finish() {
    std::map<std::string, int> failures;
    int timed = 0;
    for (const BenchResult& r : report_.results) {
      if (r.has_times() || r.single >= 0) {
        ++timed;
      } else if (r.verdict != name(Verdict::unsupported) && r.verdict != name(Verdict::skip)) {
        ++wrong_, ++failures[r.verdict];
      }
    }
    std::string what;
    for (const auto& [verdict, count] : failures)
      what += fmt::format("{}{} {}", what.empty() ? ": " : ", ", count, verdict);
    if (report_.drawn) fmt::print(out_, "\n{}", drawn_table(report_, terminal_columns(out_)));
    fmt::print(out_, "\n");
    print("clocks before: " + report_.machine[report_.machine.size() - 2].second);
    print("clocks after:  " + report_.machine.back().second);
    if (stop_signal != 0)
      print(fmt::format("interrupted: {} of {} variants", report_.results.size(), planned_));
    print(fmt::format("bench: {} timed, {} not timed because wrong{}", timed, wrong_, what));
    if (stop_signal != 0) return kSignalled + stop_signal;
    return wrong_ > 0 ? kFailed : timed > 0 ? kOk : kNothingRan;
  }

  const BenchOptions& options_;
  const std::vector<std::string>& libraries_;
  std::vector<Job> jobs_;
  BenchReport report_;
  Progress progress_;
  bool cpu_ = false, gpu_ = false;
  std::size_t planned_ = 0, at_ = 0;
  std::int64_t wrong_ = 0;
  Stopwatch clock_;
  std::optional<TimeShares> shares_;  // of drawn cases
  std::FILE* out_ = console_of({options_.json, options_.html, options_.markdown});
};

}  // namespace

std::FILE* console_of(std::initializer_list<std::string> reports) {
  const bool taken = std::any_of(reports.begin(), reports.end(),
                                 [](const std::string& p) { return !p.empty() && is_standard_output(p); });
  return taken ? stderr : stdout;
}

void write_outputs(const BenchOptions& o, const BenchReport& report, bool last) {
  const auto due = [&](const std::string& path) {
    return !path.empty() && (last || is_regular_output(path));
  };
  if (due(o.json)) write_json(report, o.json);
  if (due(o.html)) write_text(o.html, bench_html(report));
  std::map<std::string, std::string> plots;
  if (!o.svg.empty()) plots = report.drawn ? write_drawn_svgs(report, o.svg) : write_svgs(report, o.svg);
  if (!due(o.markdown)) return;
  const auto page = std::filesystem::absolute(o.markdown).parent_path();
  for (auto& [what, path] : plots) path = std::filesystem::absolute(path).lexically_relative(page).string();
  write_text(o.markdown, report.drawn ? drawn_markdown(report, plots) : bench_markdown(report, plots));
}

int run_bench(const BenchOptions& o, const std::vector<std::string>& libraries) {
  std::optional<DrawnRun> drawn;
  if (o.drawn > 0) drawn = describe_draw(o);
  Plan planned = plan_bench(o, drawn);
  if (planned.jobs.empty()) {
    fmt::print("bench: nothing to time: {}\n", planned.why_none);
    return kNothingRan;
  }
  if (o.dry_run) {
    for (const Job& job : planned.jobs) {
      for (const VariantInfo& v : job.variants) fmt::print("{}  {}\n", job.c.id(), v.name);
    }
    return kOk;
  }
  require_child({});
  return BenchRun(o, libraries, std::move(planned.jobs), std::move(drawn)).run();
}

}  // namespace plumb
