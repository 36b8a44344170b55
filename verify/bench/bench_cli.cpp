#include "verify/bench/bench_cli.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "datasets/io/output_file.hpp"
#include "reference/core/error.hpp"
#include "reference/core/text.hpp"
#include "tools/terminal.hpp"
#include "tools/version.hpp"
#include "verify/bench/compare.hpp"
#include "verify/bench/ladder.hpp"
#include "verify/bench/machine.hpp"
#include "verify/bench/result.hpp"
#include "verify/engine/child.hpp"
#include "verify/engine/confinement.hpp"
#include "verify/engine/manifest.hpp"
#include "verify/engine/operators.hpp"
#include "verify/judge/mistrust.hpp"
#include "verify/judge/runner.hpp"
#include "verify/selection/selection.hpp"
#include "verify/sweep/sweep.hpp"

namespace plumb {
namespace {

constexpr const char* kFooter =
    "examples:\n"
    "  bench --case 'spmv.f32' --device cpu                      the host ladder on the cases of tier full\n"
    "  bench --case 'gemm.f32(m=1022,n=1022,k=1022,fill=real,seed=1)' --variant '*/80*' --variant '*/2*'\n"
    "  bench --case 'spmm.*' --cold --json before.json --html ladder.html --svg plots\n"
    "  bench --case 'spmv.f64(matrix=web-Stanford.mtx.gz,fill=real,seed=1)'   a matrix of your own\n"
    "  bench roofs                                               what this machine reaches at best\n"
    "  bench compare before.json after.json --threshold 3        exit 1 when something became 3 % slower\n"
    "  bench draw before.json --markdown tables.md --svg plots   tables and plots of a stored report\n"
    "a time is printed only where the variant is judged right before and after it, and where it is not "
    "below\n"
    "max(bytes / roof, flop / roof); what fails is named instead. traffic and work are the case's own, not "
    "what a variant moves.\n"
    "exit codes: 0 all was right, 1 something was wrong, impossible or (compare) slower, 2 usage or "
    "environment, 3 nothing ran,\n"
    "            77 no GPU, 130 interrupted\n"
    "environment: OMP_NUM_THREADS  threads of the host variants and roofs; PLUMB_DATA as for verify\n"
    "             NVIDIA_TF32_OVERRIDE, CUBLAS_EMULATE_*: refused, because they change the vendor's "
    "arithmetic\n";

struct Options {
  std::string cases, tier = "full";
  std::vector<std::string> variants, fills, devices, plugins;
  bool cold = false, warm = false, dry_run = false;
  int samples = 30;
  double budget = 10, timeout = 120;
  std::string json, html, svg, markdown, command;
};

std::vector<std::string> pieces(const std::vector<std::string>& given) {
  std::vector<std::string> all;
  for (const std::string& text : given) {
    for (std::string& part : split(text, ',')) all.push_back(std::move(part));
  }
  return all;
}

// Cases of exactly one tier: the small ones of tier smoke exist to find faults, not to be timed. A whole id is taken as it is.
Plan plan(const Options& o) {
  CaseChoice cases;
  cases.cases = o.cases, cases.tier = parse_tier(o.tier, "--tier"), cases.this_tier_only = true;
  for (const std::string& word : o.fills) cases.fills.push_back(parse_fill(word, "--fill"));
  if (cases.fills.empty()) cases.fills.push_back(Fill::real);
  VariantChoice variants;
  variants.globs = o.variants, variants.devices = o.devices;
  variants.more = variants_of_plugins(o.plugins);
  return plan_jobs(select_cases(cases), variants);
}

// The stream for messages to a person: stderr where a report takes standard output.
std::FILE* console_of(std::initializer_list<std::string> reports) {
  const bool taken = std::any_of(reports.begin(), reports.end(),
                                 [](const std::string& p) { return !p.empty() && is_standard_output(p); });
  return taken ? stderr : stdout;
}

// Files are replaced after every case; what cannot be replaced (a pipe, a device) is written once, at the end.
void write_outputs(const Options& o, const BenchReport& report, bool last) {
  const auto due = [&](const std::string& path) {
    return !path.empty() && (last || is_regular_output(path));
  };
  if (due(o.json)) write_json(report, o.json);
  if (due(o.html)) write_text(o.html, bench_html(report));
  std::map<std::string, std::string> plots;
  if (!o.svg.empty()) plots = write_svgs(report, o.svg);
  if (!due(o.markdown)) return;
  const auto page = std::filesystem::absolute(o.markdown).parent_path();
  for (auto& [id, path] : plots) path = std::filesystem::absolute(path).lexically_relative(page).string();
  write_text(o.markdown, bench_markdown(report, plots));
}

// Times below a floor are refused only after the roofs were measured again: a disturbed roof is low.
void refuse(BenchReport& report, Progress& progress) {
  BenchReport trial = report;
  if (refuse_impossible(trial) > 0) {
    std::vector<std::string> devices;
    for (const Roof& r : report.roofs) {
      if (std::find(devices.begin(), devices.end(), r.device) == devices.end()) devices.push_back(r.device);
    }
    progress.say("a time is below its floor: measuring the roofs again");
    for (const std::string& d : devices) {
      report.roofs =
          better_of(std::move(report.roofs), measure_roofs(d == "gpu" ? Device::gpu : Device::cpu));
    }
  }
  refuse_impossible(report);
}

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

// One run of bench: machine and roofs, then every job under the clock.
class BenchRun {
 public:
  BenchRun(const Options& o, const std::vector<std::string>& libraries, std::vector<Job> jobs)
      : options_(o), libraries_(libraries), jobs_(std::move(jobs)) {}

  int run() {
    if (const int code = leave_out_absent(); code != kOk) return code;
    describe();
    TimingRequest timing;
    timing.samples = options_.samples, timing.budget = options_.budget;
    timing.cold = options_.cold || !options_.warm, timing.warm = options_.warm || !options_.cold;
    RunOptions run_options;
    run_options.timeout = options_.timeout;
    Sweep sweep(1, run_options);  // one at a time: another would disturb the clock
    const std::exception_ptr failure = sweep.run(
        jobs_.size(), [&](std::size_t j) { return jobs_[j].c.op; },
        [&](Runner& runner, std::size_t j) { time_job(runner, jobs_[j], timing); });
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
    if (wanted && !absent.empty()) fmt::print(out_, "skipped: gpu/*: {}\n", absent);
    if (planned_ > 0) return kOk;
    return absent.empty() ? kNothingRan : kNoDevice;
  }

  void describe() {
    report_.version = kVersion, report_.command = options_.command;
    report_.machine = describe_machine(libraries_, gpu_);
    progress_.say("measuring roofs");
    for (const auto& [used, device] : {std::pair{cpu_, Device::cpu}, {gpu_, Device::gpu}}) {
      if (!used) continue;
      for (Roof& r : measure_roofs(device)) report_.roofs.push_back(std::move(r));
    }
    report_.machine.emplace_back("clocks before", clocks_now(gpu_));
    report_.machine.emplace_back("clocks after", "");
    progress_.clear();
    fmt::print(out_, "{}\nroofs, measured now\n{}", machine_table(report_), roofs_table(report_.roofs));
    std::fflush(out_);
  }

  void time_job(Runner& runner, const Job& job, const TimingRequest& timing) {
    const std::string id = job.c.id();
    progress_.say(fmt::format("[{}/{}] {}: data and reference", at_, planned_, id));
    const std::unique_ptr<PreparedCase> prepared = find_operator(job.c.op).prepare(job.c);
    if (const std::string mistrust = why_mistrusted(job.c, *prepared); !mistrust.empty()) {
      progress_.clear();
      fmt::print(out_, "\n{}\n  not timed: mistrusted: {}\n", id, mistrust);
      at_ += job.variants.size(), ++wrong_;
      return;
    }
    const double output_bytes = output_bytes_of(*prepared);
    for (const VariantInfo& v : job.variants) {
      if (stop_signal != 0) break;
      progress_.say(fmt::format("[{}/{}] {}  {}", ++at_, planned_, v.name, id));
      Timing measured;
      const Record record = runner.judge_timed(job.c, *prepared, v, timing, measured);
      // otherwise idle threads of a host variant spin while the next variant is timed
      if (v.device == Device::cpu) runner.forget_workers();
      if (stop_signal != 0) break;  // its run ended early: its times mean nothing
      report_.results.push_back(result_of(job.c, v, prepared->cost(), output_bytes, record, measured));
    }
    refuse(report_, progress_);
    rate_against_vendor(report_);
    report_.machine.back().second = clocks_now(gpu_);
    progress_.clear();
    fmt::print(out_, "{}", ladder_table(report_, id));
    std::fflush(out_);
    write_outputs(options_, report_,
                  false);  // after every case, so that a run that ends early leaves a report
  }

  int finish() {
    std::map<std::string, int> failures;
    int timed = 0;
    for (const BenchResult& r : report_.results) {
      if (r.has_times()) {
        ++timed;
      } else if (r.verdict != name(Verdict::unsupported) && r.verdict != name(Verdict::skip)) {
        ++wrong_, ++failures[r.verdict];
      }
    }
    std::string what;
    for (const auto& [verdict, count] : failures)
      what += fmt::format("{}{} {}", what.empty() ? ": " : ", ", count, verdict);
    fmt::print(out_, "\nclocks before: {}\nclocks after:  {}\n",
               report_.machine[report_.machine.size() - 2].second, report_.machine.back().second);
    if (stop_signal != 0)
      fmt::print(out_, "interrupted: {} of {} variants\n", report_.results.size(), planned_);
    fmt::print(out_, "bench: {} timed, {} not timed because wrong{}\n", timed, wrong_, what);
    if (stop_signal != 0) return kSignalled + stop_signal;
    return wrong_ > 0 ? kFailed : timed > 0 ? kOk : kNothingRan;
  }

  const Options& options_;
  const std::vector<std::string>& libraries_;
  std::vector<Job> jobs_;
  BenchReport report_;
  Progress progress_;
  bool cpu_ = false, gpu_ = false;
  std::size_t planned_ = 0, at_ = 0;
  int wrong_ = 0;
  std::FILE* out_ = console_of({options_.json, options_.html, options_.markdown});
};

int run(const Options& o, const std::vector<std::string>& libraries) {
  Plan planned = plan(o);
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
  return BenchRun(o, libraries, std::move(planned.jobs)).run();
}

int roofs(const std::vector<std::string>& devices, const std::string& json, const std::string& command,
          const std::vector<std::string>& libraries) {
  const auto wanted = [&](const char* d) {
    return devices.empty() || std::find(devices.begin(), devices.end(), d) != devices.end();
  };
  const std::string absent = make_backend(Device::gpu)->why_not();
  if (!absent.empty() && !devices.empty() && wanted("gpu")) {
    fmt::print("skipped: gpu: {}\n", absent);
    if (!wanted("cpu")) return kNoDevice;
  }
  const bool gpu = wanted("gpu") && absent.empty();
  BenchReport report;
  report.version = kVersion, report.command = command;
  report.machine = describe_machine(libraries, gpu);
  Progress progress;
  progress.say("measuring roofs");
  if (wanted("cpu")) report.roofs = measure_roofs(Device::cpu);
  if (gpu) {
    for (Roof& r : measure_roofs(Device::gpu)) report.roofs.push_back(std::move(r));
  }
  report.machine.emplace_back("clocks after", clocks_now(gpu));
  progress.clear();
  fmt::print(console_of({json}), "{}\n{}", machine_table(report), roofs_table(report.roofs));
  if (!json.empty()) write_json(report, json);
  return kOk;
}

// Several reports as one: machine and roofs of the first, results in order, the last of equal ones. Throws Error where
// they are of different devices or processors.
BenchReport joined(const std::vector<std::string>& paths) {
  const auto chip = [](const BenchReport& report) {
    std::string names;
    for (const auto& [key, value] : report.machine) {
      if (key == "processor" || key == "device") names += (names.empty() ? "" : "; ") + value;
    }
    return names;
  };
  BenchReport all = read_json(paths.front());
  for (std::size_t i = 1; i < paths.size(); ++i) {
    BenchReport more = read_json(paths[i]);
    if (chip(more) != chip(all)) throw input_error(paths[i], 0, "is of another machine", chip(more));
    for (BenchResult& r : more.results) {
      const auto same = std::find_if(all.results.begin(), all.results.end(), [&](const BenchResult& have) {
        return have.case_id == r.case_id && have.variant == r.variant && have.device == r.device;
      });
      if (same != all.results.end())
        *same = std::move(r);
      else
        all.results.push_back(std::move(r));
    }
  }
  rate_against_vendor(all);
  return all;
}

int draw(const BenchReport& report, const Options& o) {
  if (o.html.empty() && o.svg.empty() && o.markdown.empty()) fmt::print("{}", bench_markdown(report));
  write_outputs(o, report, true);
  return report.results.empty() ? kNothingRan : kOk;
}

std::vector<std::string> checked_devices(const std::vector<std::string>& given) {
  std::vector<std::string> devices = pieces(given);
  for (const std::string& d : devices) {
    static const std::vector<std::string> kKnown = {"cpu", "gpu", "all"};
    if (std::find(kKnown.begin(), kKnown.end(), d) == kKnown.end()) {
      throw Error(fmt::format("--device: unknown word '{}'{} (known: cpu, gpu, all)", printable(d),
                              did_you_mean(d, kKnown)));
    }
  }
  if (std::find(devices.begin(), devices.end(), "all") != devices.end()) devices.clear();
  return devices;
}

int usage_error(const CLI::App& app, const CLI::ParseError& e) {
  std::string hint;
  std::vector<std::string> known;
  const auto collect = [&](const CLI::App& a) {
    for (const CLI::Option* option : a.get_options()) {
      for (const std::string& word : option->get_lnames()) known.push_back("--" + word);
    }
  };
  collect(app);
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    known.push_back(sub->get_name());
    if (sub->parsed()) collect(*sub);
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&e) != nullptr) {
    for (const std::string& extra : app.remaining(true)) {
      if (hint.empty()) hint = did_you_mean(extra, known);
    }
  }
  fmt::print(stderr, "error: {}{} (bench --help)\n", e.what(), hint);
  return kUsage;
}

// Options as typed, and the subcommand.
struct Typed {
  std::vector<std::string> variants, fills, devices, roof_devices, drawn;
  std::string roof_json, before, after, timeout, budget;
  double threshold = 5;
  CLI::App *roofs = nullptr, *compare = nullptr, *draw = nullptr;
};

void declare_timing(CLI::App& app, Options& o, Typed& typed) {
  app.add_option(
      "--case", o.cases,
      "all, or GLOB[,GLOB...] as for verify, a whole id of any size, or @FILE with such on its lines");
  app.add_option("--variant", typed.variants,
                 "GLOB[,GLOB...] of variants: 'gpu/*', 'cpu/*', '*/80*'; repeatable");
  app.add_option("--device", typed.devices, "cpu, gpu or all; default: all that are present");
  app.add_option("--tier", o.tier,
                 "smoke, full or stress: cases of exactly this tier; a whole id is taken as it is")
      ->capture_default_str();
  app.add_option("--fill", typed.fills, "fills of the cases taken; default real");
  app.add_flag("--cold", o.cold, "caches emptied before every sample (neither --cold nor --warm: both)");
  app.add_flag("--warm", o.warm, "sample after sample");
  app.add_option("--samples", o.samples, "samples of each kind, at least 20")
      ->capture_default_str()
      ->check(CLI::Range(kFewestSamples, 100000));
  app.add_option("--budget", typed.budget,
                 "seconds of samples of each kind per variant; one that is cut short is marked noisy")
      ->default_str("10");
  app.add_option("--timeout", typed.timeout, "seconds for a single run, beside the budget; default 120");
  app.add_option("--json", o.json, "write the report with every sample; compare reads it");
  app.add_option("--html", o.html, "write the report as one page with its plots");
  app.add_option("--svg", o.svg, "write a plot of each case into this folder");
  app.add_option(
      "--markdown", o.markdown,
      "write tables: our fastest beside the vendor's, and each ladder, with its plot where --svg writes one");
  app.add_option("--plugin", o.plugins, "time the variants of this shared library too; repeatable")
      ->take_all();
  app.add_flag("--dry-run", o.dry_run, "say what would be timed, and time nothing");
  app.set_version_flag("--version", std::string("plumbline ") + kVersion);
}

void declare_commands(CLI::App& app, Options& o, Typed& typed) {
  typed.roofs = app.add_subcommand("roofs", "measure what this machine reaches at best");
  typed.roofs->add_option("--device", typed.roof_devices, "cpu, gpu or all; default: all that are present");
  typed.roofs->add_option("--json", typed.roof_json, "write them as a report without results");
  typed.compare = app.add_subcommand("compare", "compare two reports, result by result");
  typed.compare->add_option("A", typed.before, "the report before")->required();
  typed.compare->add_option("B", typed.after, "the report after")->required();
  typed.compare->add_option("--threshold", typed.threshold, "per cent by which a result may become slower")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1e6));
  typed.compare->footer(
      "example:\n  bench compare before.json after.json --threshold 3\n"
      "exit 1 when a result is slower by more than the threshold, and by more than chance:\n"
      "its 95 % interval lies apart from the other, or Mann-Whitney gives it less than 1 %\n");
  typed.draw = app.add_subcommand("draw", "tables, a page and plots from stored reports");
  typed.draw
      ->add_option("REPORT", typed.drawn,
                   "reports of one machine, joined; of a result in several the last counts")
      ->required();
  typed.draw->add_option("--markdown", o.markdown,
                         "write tables: our fastest beside the vendor's, and each ladder");
  typed.draw->add_option("--html", o.html, "write one page with its plots");
  typed.draw->add_option("--svg", o.svg, "write a plot of each case into this folder");
  typed.draw->footer("example:\n  bench draw spmv.json spmm.json --markdown RESULTS.md --svg plots\n");
  app.require_subcommand(0, 1);
}

int compare_files(const Typed& typed) {
  const BenchReport a = read_json(typed.before), b = read_json(typed.after);
  const CompareResult result = compare_reports(a, b, typed.threshold / 100);
  fmt::print("{}", compare_table(result, a, b, typed.threshold / 100));
  if (result.changes.empty()) return kNothingRan;
  return result.regressions > 0 ? kFailed : kOk;
}

int bench_checked(int argc, char** argv, const std::vector<std::string>& libraries) {
  Options o;
  Typed typed;
  for (int i = 0; i < argc; ++i) o.command += fmt::format("{}{}", i > 0 ? " " : "", argv[i]);
  CLI::App app{
      "bench: times kernels beside the vendor's, cold and warm, and quotes only what is judged right",
      "bench"};
  app.footer(kFooter);
  declare_timing(app, o, typed);
  declare_commands(app, o, typed);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) { return e.get_exit_code() == 0 ? app.exit(e) : usage_error(app, e); }
  if (typed.compare->parsed()) return compare_files(typed);
  if (typed.draw->parsed()) return draw(joined(typed.drawn), o);
  refuse_changed_arithmetic();
  if (typed.roofs->parsed())
    return roofs(checked_devices(typed.roof_devices), typed.roof_json, o.command, libraries);
  if (o.cases.empty()) throw Error("say what to time: --case all, or --case GLOB (bench --help)");
  if (!typed.timeout.empty()) o.timeout = parse_seconds(typed.timeout, "--timeout");
  if (!typed.budget.empty()) o.budget = parse_seconds(typed.budget, "--budget");
  o.variants = pieces(typed.variants), o.fills = pieces(typed.fills);
  o.devices = checked_devices(typed.devices);
  if (harness_is_broken()) return kBrokenHarness;
  end_on_interrupt();
  // threads of children spin between parallel regions, as OpenMP's do by default: waking them would be timed
  setenv("GOMP_SPINCOUNT", "300000", 0);
  return run(o, libraries);
}

}  // namespace

int bench_main(int argc, char** argv, const std::vector<std::string>& libraries) {
  try {
    if (argc == 2 && std::strcmp(argv[1], "--worker") == 0) return worker_main();
    guard_judge();
    check_threads();
    read_matrices_once();
    const int code = bench_checked(argc, argv, libraries);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    std::fputs("error: standard output: cannot write\n", stderr);
    return code == kOk ? kUsage : code;
  } catch (const std::exception& e) {
    std::fputs(fmt::format("error: {}\n", e.what()).c_str(),
               stderr);  // fmt throws where stderr cannot be written
    return kUsage;
  }
}

}  // namespace plumb
