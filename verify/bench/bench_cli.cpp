#include "verify/bench/bench_cli.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "datasets/load_matrix.hpp"
#include "reference/core/error.hpp"
#include "reference/core/sparse_cases.hpp"
#include "reference/core/text.hpp"
#include "tools/version.hpp"
#include "verify/bench/compare.hpp"
#include "verify/bench/ladder.hpp"
#include "verify/bench/machine.hpp"
#include "verify/bench/result.hpp"
#include "verify/engine/confinement.hpp"
#include "verify/engine/manifest.hpp"
#include "verify/engine/plugin_host.hpp"
#include "verify/engine/runner.hpp"

namespace plumb {
namespace {

void on_interrupt(int signal) { stop_signal = signal; }

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

bool any_matches(const std::vector<std::string>& globs, const std::string& text) {
  return globs.empty() ||
         std::any_of(globs.begin(), globs.end(), [&](const std::string& g) { return glob_match(g, text); });
}

struct Job {
  Case c;
  std::vector<VariantInfo> variants;
};

// Cases of exactly one tier: the small ones of tier smoke exist to find faults, not to be timed. A whole id is taken as it is.
std::vector<Case> select_cases(const Options& o) {
  const CaseFilter filter(o.cases);
  const Tier tier = parse_tier(o.tier, "--tier");
  std::vector<Fill> fills;
  for (const std::string& word : o.fills) fills.push_back(parse_fill(word, "--fill"));
  if (fills.empty()) fills.push_back(Fill::real);
  std::vector<std::string> known;
  for (const auto& entry : operators()) known.push_back(entry->name());
  for (const std::string& glob : filter.operator_globs()) {
    if (std::none_of(known.begin(), known.end(), [&](const std::string& k) { return glob_match(glob, k); })) {
      throw Error(fmt::format("case '{}' matches no operator{} (verify --list)", printable(glob),
                              did_you_mean(glob, known)));
    }
  }
  std::vector<Case> selected;
  for (const auto& entry : operators()) {
    for (const Case& c : entry->cases()) {
      if (filter.matches(c) && c.tier == tier && std::find(fills.begin(), fills.end(), c.fill) != fills.end())
        selected.push_back(c);
    }
    for (const Case& c : filter.whole_ids()) {
      if (c.op == entry->name() && std::find(selected.begin(), selected.end(), c) == selected.end())
        selected.push_back(c);
    }
  }
  return selected;
}

std::vector<Job> plan(const Options& o) {
  std::vector<Job> jobs;
  std::vector<std::string> all;
  std::vector<VariantInfo> of_plugins;
  for (const std::string& path : o.plugins) {
    for (VariantInfo& v : list_plugin(path)) of_plugins.push_back(std::move(v));
  }
  bool matched = false;
  for (const Case& c : select_cases(o)) {
    Job job{c, {}};
    std::vector<VariantInfo> variants = find_operator(c.op).variants(Device::gpu);
    std::copy_if(of_plugins.begin(), of_plugins.end(), std::back_inserter(variants),
                 [&](const VariantInfo& v) { return v.op == c.op; });
    for (const VariantInfo& v : variants) {
      if (v.mutant) continue;
      all.push_back(v.name);
      if (!any_matches(o.variants, v.name)) continue;
      matched = true;
      if (v.dtype == c.dtype && (o.devices.empty() || std::find(o.devices.begin(), o.devices.end(),
                                                                name(v.device)) != o.devices.end())) {
        job.variants.push_back(v);
      }
    }
    if (!job.variants.empty()) jobs.push_back(std::move(job));
  }
  if (!matched && !all.empty()) {
    throw Error(fmt::format("--variant '{}' matches no variant{} (verify --list variants)",
                            printable(o.variants.front()), did_you_mean(o.variants.front(), all)));
  }
  return jobs;
}

class Progress {
 public:
  Progress() : on_(isatty(STDERR_FILENO) != 0) {}
  ~Progress() { clear(); }
  void say(const std::string& text) const {
    if (on_) fmt::print(stderr, "\r\033[K{}", printable(text, 150));
    if (on_) std::fflush(stderr);
  }
  void clear() const {
    if (on_) fmt::print(stderr, "\r\033[K");
  }

 private:
  bool on_;
};

void write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.flush();
  if (!file) throw input_error(path, 0, "cannot be written", std::strerror(errno));
}

void write_outputs(const Options& o, const BenchReport& report) {
  if (!o.json.empty()) write_json(report, o.json);
  if (!o.html.empty()) write_text(o.html, bench_html(report));
  std::map<std::string, std::string> plots;
  if (!o.svg.empty()) plots = write_svgs(report, o.svg);
  if (o.markdown.empty()) return;
  const auto page = std::filesystem::absolute(o.markdown).parent_path();
  for (auto& [id, path] : plots) path = std::filesystem::absolute(path).lexically_relative(page).string();
  write_text(o.markdown, bench_markdown(report, plots));
}

// Times below a floor are refused only after the roofs were measured again: a disturbed roof is low.
void refuse(BenchReport& report, const Progress& progress) {
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
  r.arithmetic = v.traits.arithmetic;
  r.verdict = std::string(name(record.verdict)), r.reason = record.reason, r.chosen = record.chosen;
  r.flop = cost.flop, r.bytes = cost.bytes, r.output_bytes = output_bytes;
  if (!is_passed(record.verdict)) return r;  // an unverified time is not quoted
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

int run(const Options& o, const std::vector<std::string>& libraries) {
  std::vector<Job> jobs = plan(o);
  if (jobs.empty()) {
    fmt::print("bench: nothing to time: no case of tier {} matches '{}' (verify --list cases)\n", o.tier,
               printable(o.cases));
    return kNothingRan;
  }
  if (o.dry_run) {
    for (const Job& job : jobs) {
      for (const VariantInfo& v : job.variants) fmt::print("{}  {}\n", job.c.id(), v.name);
    }
    return kOk;
  }
  const std::string absent = make_backend(Device::gpu)->unavailable();
  bool wanted = false, cpu = false, gpu = false;
  std::size_t planned = 0;
  for (Job& job : jobs) {
    const auto on_gpu = [](const VariantInfo& v) { return v.device == Device::gpu; };
    wanted = wanted || std::any_of(job.variants.begin(), job.variants.end(), on_gpu);
    if (!absent.empty())
      job.variants.erase(std::remove_if(job.variants.begin(), job.variants.end(), on_gpu),
                         job.variants.end());
    for (const VariantInfo& v : job.variants) (v.device == Device::gpu ? gpu : cpu) = true;
    planned += job.variants.size();
  }
  if (wanted && !absent.empty()) fmt::print("skipped: gpu/*: {}\n", absent);
  if (planned == 0) return absent.empty() ? kNothingRan : kNoDevice;

  const Progress progress;
  BenchReport report;
  report.version = kVersion, report.command = o.command;
  report.machine = describe_machine(libraries, gpu);
  progress.say("measuring roofs");
  for (const auto& [used, device] : {std::pair{cpu, Device::cpu}, {gpu, Device::gpu}}) {
    if (!used) continue;
    for (Roof& r : measure_roofs(device)) report.roofs.push_back(std::move(r));
  }
  report.machine.emplace_back("clocks before", clocks_now(gpu));
  report.machine.emplace_back("clocks after", "");
  progress.clear();
  fmt::print("{}\nroofs, measured now\n{}", machine_table(report), roofs_table(report.roofs));
  std::fflush(stdout);

  TimingRequest timing;
  timing.samples = o.samples, timing.budget = o.budget;
  timing.cold = o.cold || !o.warm, timing.warm = o.warm || !o.cold;
  RunOptions run_options;
  run_options.timeout = o.timeout;
  Runner runner(run_options);
  std::size_t at = 0;
  int wrong = 0, timed = 0;
  std::string op;
  for (const Job& job : jobs) {
    if (stop_signal != 0) break;
    if (job.variants.empty()) continue;
    if (job.c.op != op) runner.forget_workers();
    op = job.c.op;
    const std::string id = job.c.id();
    progress.say(fmt::format("[{}/{}] {}: data and reference", at, planned, id));
    const std::unique_ptr<PreparedCase> prepared = find_operator(op).prepare(job.c);
    if (const std::string mistrust = runner.mistrust(job.c, *prepared); !mistrust.empty()) {
      fmt::print("\n{}\n  not timed: mistrusted: {}\n", id, mistrust);
      at += job.variants.size(), ++wrong;
      continue;
    }
    const double output_bytes = output_bytes_of(*prepared);
    for (const VariantInfo& v : job.variants) {
      if (stop_signal != 0) break;
      progress.say(fmt::format("[{}/{}] {}  {}", ++at, planned, v.name, id));
      Timing measured;
      const Record record = runner.judge_timed(job.c, *prepared, v, timing, measured);
      // a host variant's idle threads would spin under the next one's clock
      if (v.device == Device::cpu) runner.forget_workers();
      if (stop_signal != 0) break;  // its run ended early: what it said is worth nothing
      report.results.push_back(result_of(job.c, v, prepared->cost(), output_bytes, record, measured));
    }
    refuse(report, progress);
    rate_against_vendor(report);
    report.machine.back().second = clocks_now(gpu);
    progress.clear();
    fmt::print("{}", ladder_table(report, id));
    std::fflush(stdout);
    write_outputs(o, report);  // after every case: what ended early is a report of what had run
  }
  std::map<std::string, int> failures;
  for (const BenchResult& r : report.results) {
    if (r.has_times()) {
      ++timed;
    } else if (r.verdict != name(Verdict::unsupported) && r.verdict != name(Verdict::skip)) {
      ++wrong, ++failures[r.verdict];
    }
  }
  std::string what;
  for (const auto& [verdict, count] : failures)
    what += fmt::format("{}{} {}", what.empty() ? ": " : ", ", count, verdict);
  fmt::print("\nclocks before: {}\nclocks after:  {}\n", report.machine[report.machine.size() - 2].second,
             report.machine.back().second);
  if (stop_signal != 0) fmt::print("interrupted: {} of {} variants\n", report.results.size(), planned);
  fmt::print("bench: {} timed, {} not timed because wrong{}\n", timed, wrong, what);
  if (stop_signal != 0) return 128 + stop_signal;
  return wrong > 0 ? kFailed : timed > 0 ? kOk : kNothingRan;
}

int roofs(const std::vector<std::string>& devices, const std::string& json, const std::string& command,
          const std::vector<std::string>& libraries) {
  const auto wanted = [&](const char* d) {
    return devices.empty() || std::find(devices.begin(), devices.end(), d) != devices.end();
  };
  const std::string absent = make_backend(Device::gpu)->unavailable();
  if (!absent.empty() && !devices.empty() && wanted("gpu")) {
    fmt::print("skipped: gpu: {}\n", absent);
    if (!wanted("cpu")) return kNoDevice;
  }
  const bool gpu = wanted("gpu") && absent.empty();
  BenchReport report;
  report.version = kVersion, report.command = command;
  report.machine = describe_machine(libraries, gpu);
  const Progress progress;
  progress.say("measuring roofs");
  if (wanted("cpu")) report.roofs = measure_roofs(Device::cpu);
  if (gpu) {
    for (Roof& r : measure_roofs(Device::gpu)) report.roofs.push_back(std::move(r));
  }
  report.machine.emplace_back("clocks after", clocks_now(gpu));
  progress.clear();
  fmt::print("{}\n{}", machine_table(report), roofs_table(report.roofs));
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
  write_outputs(o, report);
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

int bench_checked(int argc, char** argv, const std::vector<std::string>& libraries) {
  Options o;
  for (int i = 0; i < argc; ++i) o.command += fmt::format("{}{}", i > 0 ? " " : "", argv[i]);
  CLI::App app{
      "bench: times kernels beside the vendor's, cold and warm, and quotes only what is judged right",
      "bench"};
  app.footer(kFooter);
  std::vector<std::string> variants, fills, devices, roof_devices, drawn;
  std::string roof_json, before, after;
  double threshold = 5;
  app.add_option("--case", o.cases, "all, or GLOB[,GLOB...] as for verify, a whole id of any size, or @FILE with such on its lines");
  app.add_option("--variant", variants, "GLOB[,GLOB...] of variants: 'gpu/*', 'cpu/*', '*/80*'; repeatable");
  app.add_option("--device", devices, "cpu, gpu or all; default: all that are present");
  app.add_option("--tier", o.tier,
                 "smoke, full or stress: cases of exactly this tier; a whole id is taken as it is")
      ->capture_default_str();
  app.add_option("--fill", fills, "fills of the cases taken; default real");
  app.add_flag("--cold", o.cold, "caches emptied before every sample (neither --cold nor --warm: both)");
  app.add_flag("--warm", o.warm, "sample after sample");
  app.add_option("--samples", o.samples, "samples of each kind, at least 20")
      ->capture_default_str()
      ->check(CLI::Range(kFewestSamples, 100000));
  app.add_option("--budget", o.budget,
                 "seconds of samples of each kind per variant; one that is cut short is marked noisy")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--timeout", o.timeout, "seconds for a single run, beside the budget")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--json", o.json, "write the report with every sample; compare reads it");
  app.add_option("--html", o.html, "write the report as one page with its plots");
  app.add_option("--svg", o.svg, "write a plot of each case into this folder");
  app.add_option("--markdown", o.markdown, "write tables: our fastest beside the vendor's, and each ladder, with its plot where --svg writes one");
  app.add_option("--plugin", o.plugins, "time the variants of this shared library too; repeatable")
      ->take_all();
  app.add_flag("--dry-run", o.dry_run, "say what would be timed, and time nothing");
  app.set_version_flag("--version", std::string("plumbline ") + kVersion);
  CLI::App* roofs_command = app.add_subcommand("roofs", "measure what this machine reaches at best");
  roofs_command->add_option("--device", roof_devices, "cpu, gpu or all; default: all that are present");
  roofs_command->add_option("--json", roof_json, "write them as a report without results");
  roofs_command->footer("example:\n  bench roofs --device gpu --json roofs.json\n");
  CLI::App* compare_command = app.add_subcommand("compare", "compare two reports, result by result");
  compare_command->add_option("A", before, "the report before")->required();
  compare_command->add_option("B", after, "the report after")->required();
  compare_command->add_option("--threshold", threshold, "per cent by which a result may become slower")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1e6));
  compare_command->footer(
      "example:\n  bench compare before.json after.json --threshold 3\n"
      "exit 1 when a result is slower by more than the threshold, and by more than chance:\n"
      "its 95 % interval lies apart from the other, or Mann-Whitney gives it less than 1 %\n");
  CLI::App* draw_command = app.add_subcommand("draw", "tables, a page and plots from stored reports");
  draw_command
      ->add_option("REPORT", drawn, "reports of one machine, joined; of a result in several the last counts")
      ->required();
  draw_command->add_option("--markdown", o.markdown,
                           "write tables: our fastest beside the vendor's, and each ladder");
  draw_command->add_option("--html", o.html, "write one page with its plots");
  draw_command->add_option("--svg", o.svg, "write a plot of each case into this folder");
  draw_command->footer("example:\n  bench draw spmv.json spmm.json --markdown RESULTS.md --svg plots\n");
  app.require_subcommand(0, 1);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);
    return usage_error(app, e);
  }
  if (compare_command->parsed()) {
    const BenchReport a = read_json(before), b = read_json(after);
    const CompareResult result = compare_reports(a, b, threshold / 100);
    fmt::print("{}", compare_table(result, a, b, threshold / 100));
    if (result.changes.empty()) return kNothingRan;
    return result.regressions > 0 ? kFailed : kOk;
  }
  if (draw_command->parsed()) return draw(joined(drawn), o);
  refuse_changed_arithmetic();
  if (roofs_command->parsed()) return roofs(checked_devices(roof_devices), roof_json, o.command, libraries);
  if (o.cases.empty()) throw Error("say what to time: --case all, or --case GLOB (bench --help)");
  o.variants = pieces(variants), o.fills = pieces(fills), o.devices = checked_devices(devices);

  std::vector<std::string> defects = manifest_defects();
  if (!arithmetic_self_test())
    defects.push_back(
        "this build's arithmetic fails the self-test: compensated sums or NaN comparisons are broken");
  for (const std::string& d : defects) fmt::print(stderr, "broken harness: {}\n", d);
  if (!defects.empty()) return kBrokenHarness;
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESETHAND;  // a second Ctrl-C ends at once
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
  // children wait as OpenMP does by default: asleep at once, every parallel region would begin with a wake-up
  setenv("GOMP_SPINCOUNT", "300000", 0);
  return run(o, libraries);
}

}  // namespace

int bench_main(int argc, char** argv, const std::vector<std::string>& libraries) {
  const auto matrices = std::make_shared<std::map<std::string, Csr<double>>>();
  set_matrix_reader([matrices](const std::string& path) {
    const auto known = matrices->find(path);
    return known != matrices->end() ? known->second
                                    : matrices->emplace(path, load_matrix<double>(path)).first->second;
  });
  try {
    if (argc == 2 && std::strcmp(argv[1], "--worker") == 0) return worker_main();
    guard_judge();
    return bench_checked(argc, argv, libraries);
  } catch (const std::exception& e) {
    fmt::print(stderr, "error: {}\n", e.what());
    return kUsage;
  }
}

}  // namespace plumb
