#include "verify/bench/bench_cli.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "datasets/io/output_file.hpp"
#include "reference/core/error.hpp"
#include "reference/core/exhaustion.hpp"
#include "reference/core/seed.hpp"
#include "reference/core/text.hpp"
#include "tools/help.hpp"
#include "tools/option_table.hpp"
#include "tools/terminal.hpp"
#include "tools/version.hpp"
#include "verify/bench/bench_run.hpp"
#include "verify/bench/compare.hpp"
#include "verify/bench/drawn_summary.hpp"
#include "verify/bench/ladder.hpp"
#include "verify/bench/machine.hpp"
#include "verify/bench/result.hpp"
#include "verify/engine/operator/operators.hpp"
#include "verify/engine/process/child.hpp"
#include "verify/engine/process/confinement.hpp"
#include "verify/engine/process/manifest.hpp"
#include "verify/judge/repro.hpp"
#include "verify/judge/runner.hpp"
#include "verify/selection/selection.hpp"
#include "verify/sweep/sweep.hpp"

namespace plumb {
namespace {

HelpWords help_words() {
  HelpWords w;
  w.first = {
      {"bench --case 'spmv.f32' --device cpu", "the host ladder on the cases of tier full"},
      {"bench --case 'spmm.*' --cold --json before.json --html ladder.html", "a page with its plots"},
      {"bench --drawn 8 --seed fresh --device gpu --limit 600", "cases that nobody chose"},
      {"bench roofs", "what this machine reaches at best"},
      {"bench compare before.json after.json --threshold 3", "exit 1 when something became 3 % slower"},
      {"bench draw before.json --markdown tables.md --svg plots", "tables and plots of a stored report"}};
  w.more = {
      {"bench --case 'gemm.f32(m=1022,n=1022,k=1022,fill=real,seed=1)' --variant '*/80*' --variant '*/2*'",
       ""},
      {"bench --case 'spmv.f64(matrix=web-Stanford.mtx.gz,fill=real,seed=1)'", "a matrix of your own"},
      {"bench --drawn 8 --json drawn.json --markdown drawn.md --svg plots", "and what they say together"},
      {"bench --case gcn --drawn 8 --seed fresh --device gpu", "whole networks, beside cuBLAS and cuSPARSE"}};
  w.notes = {{"what is printed",
              {{"time",
                "only where the variant is judged right before and after it, and where it is not below "
                "max(bytes / roof, flop / roof); what fails is named instead"},
               {"traffic, work", "the case's own, not what a variant moves"}}},
             {"exit codes",
              {{"0", "all was right"},
               {"1", "something was wrong, impossible or (compare) slower"},
               {"2", "usage or environment"},
               {"3", "nothing ran"},
               {"77", "no GPU"},
               {"130", "interrupted"}}},
             {"environment",
              {{"OMP_NUM_THREADS", "threads of the host variants and roofs"},
               {"PLUMB_DATA", "as for verify"},
               {"NVIDIA_TF32_OVERRIDE",
                "and CUBLAS_EMULATE_*: refused, because they change the vendor's arithmetic"}}}};
  return w;
}

std::vector<std::string> pieces(const std::vector<std::string>& given) {
  std::vector<std::string> all;
  for (const std::string& text : given) {
    for (std::string& part : split(text, ',')) all.push_back(std::move(part));
  }
  return all;
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
  std::FILE* const out = console_of({json});
  fmt::print(out, "{}\n{}", machine_table(report, terminal_columns(out)), roofs_table(report.roofs));
  if (!json.empty()) write_json(report, json);
  return kOk;
}

// Parts of one draw: the same seed and sizes, of different operators or limits.
void join_draws(std::optional<DrawnRun>& all, const std::optional<DrawnRun>& more, const std::string& path) {
  if (!more && !all) return;
  if (!more || !all || more->seed != all->seed || more->size != all->size)
    throw input_error(path, 0, "its cases were not drawn as the others': by --seed and sizes");
  all->cases += more->cases, all->mistrusted += more->mistrusted;
  all->not_begun.insert(all->not_begun.end(), more->not_begun.begin(), more->not_begun.end());
  all->variants_not_timed += more->variants_not_timed;
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
    join_draws(all.drawn, more.drawn, paths[i]);
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

int draw(const BenchReport& report, const BenchOptions& o) {
  if (o.html.empty() && o.svg.empty() && o.markdown.empty())
    fmt::print("{}", report.drawn ? drawn_table(report, terminal_columns(stdout)) : bench_markdown(report));
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

std::int64_t parse_uses(const std::string& text) {
  if (text == "many") return kManyUses;
  const std::int64_t uses = parse_size(text, "--uses");
  if (uses < 1)
    throw Error(fmt::format("--uses: not a number of runs from 1 on, nor 'many': '{}'", printable(text)));
  return uses;
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
  std::vector<std::string> adaptive;
  std::string roof_json, before, after, timeout, budget, seed, limit, case_budget, uses;
  double threshold = 5;
  CLI::App *roofs = nullptr, *compare = nullptr, *draw = nullptr;
};

void declare_drawing(CLI::App& app, BenchOptions& o, Typed& typed) {
  app.add_option(
         "--drawn", o.drawn,
         "N cases of each operator of --case (default: all), drawn for timing: sizes log-uniform in bytes "
         "from 64 KiB to eight second-level caches. Warm, unless --cold is given; a rung five times slower "
         "than the fastest of ours is run once")
      ->check(CLI::Range(1, 100000));
  app.add_option("--seed", typed.seed, "of --drawn: a number, or 'fresh'; default 1");
  app.add_option("--matrix", o.matrices,
                 "with --drawn: the sparse operators on this file too, with a drawn width; repeatable")
      ->take_all();
  app.add_option("--adaptive", typed.adaptive,
                 "with --drawn: GLOB[,GLOB...] of the rungs whose choice is rated; default '*_adaptive'");
  app.add_option(
      "--limit", typed.limit,
      "with --drawn: seconds for the whole run, shared equally among the operators; what is not timed "
      "by then is counted");
  app.add_option("--case-budget", typed.case_budget,
                 "with --drawn: seconds of one case after which no further variant is begun; default 10");
}

void declare_timing(CLI::App& app, BenchOptions& o, Typed& typed) {
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
  app.add_option(
      "--budget", typed.budget,
      "seconds of samples of each kind per variant; one that is cut short is marked noisy; default "
      "10, of drawn cases 0.3");
  app.add_option(
      "--uses", typed.uses,
      "how often a plan will be run: a number, or 'many'; adaptive rungs choose what takes the least "
      "time with its preparation, and of very many runs measure; default many");
  app.add_option("--timeout", typed.timeout, "seconds for a single run, beside the budget; default 120");
  app.add_option("--json", o.json, "write the report with every sample; compare reads it");
  app.add_option("--html", o.html, "write the report as one page with its plots");
  app.add_option("--svg", o.svg, "write a plot of each case into this folder");
  app.add_option(
      "--markdown", o.markdown,
      "write tables: our fastest beside the vendor's, and each ladder, with its plot where --svg writes one");
  app.add_option("--plugin", o.plugins, "time the variants of this shared library too; repeatable")
      ->take_all();
  declare_drawing(app, o, typed);
  app.add_flag("--dry-run", o.dry_run, "say what would be timed, and time nothing");
  app.set_version_flag("--version", std::string("plumbline ") + kVersion, "the version");
}

void declare_commands(CLI::App& app, BenchOptions& o, Typed& typed) {
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

// What is typed about drawn cases. `devices` and --budget have been read before.
void take_drawing(BenchOptions& o, const Typed& typed) {
  if (o.drawn == 0) {
    for (const auto& [given, option] : {std::pair{!typed.seed.empty(), "--seed"},
                                        {!o.matrices.empty(), "--matrix"},
                                        {!typed.adaptive.empty(), "--adaptive"},
                                        {!typed.limit.empty(), "--limit"},
                                        {!typed.case_budget.empty(), "--case-budget"}}) {
      if (given) throw Error(fmt::format("{} is for drawn cases: --drawn N (bench --help)", option));
    }
    return;
  }
  if (o.cases.empty()) o.cases = "all";
  if (!typed.seed.empty()) o.seed = parse_seed(typed.seed, "--seed");
  if (!typed.limit.empty()) o.limit = parse_seconds(typed.limit, "--limit");
  if (!typed.case_budget.empty()) o.case_budget = parse_seconds(typed.case_budget, "--case-budget");
  if (typed.budget.empty()) o.budget = 0.3;
  if (!typed.adaptive.empty()) o.adaptive = pieces(typed.adaptive);
  const char* const front = std::getenv("PLUMB_COMMAND");
  o.program = front != nullptr && *front != '\0' ? std::string(front) + " bench" : o.program;
}

int compare_files(const Typed& typed) {
  const BenchReport a = read_json(typed.before), b = read_json(typed.after);
  const CompareResult result = compare_reports(a, b, typed.threshold / 100);
  fmt::print("{}", compare_table(result, a, b, typed.threshold / 100, terminal_columns(stdout)));
  if (result.changes.empty()) return kNothingRan;
  return result.regressions > 0 ? kFailed : kOk;
}

int bench_checked(int argc, char** argv, const std::vector<std::string>& libraries) {
  BenchOptions o;
  Typed typed;
  for (int i = 0; i < argc; ++i) o.command += fmt::format("{}{}", i > 0 ? " " : "", argv[i]);
  CLI::App app{
      "bench: times kernels beside the vendor's, cold and warm, and quotes only what is judged right",
      "bench"};
  set_help(app, help_words(), asks_for_all(argc, argv));
  declare_timing(app, o, typed);
  need_first(app, {"--case", "--variant", "--device", "--tier", "--drawn", "--warm", "--cold", "--json",
                   "--html", "--svg"});
  declare_commands(app, o, typed);
  if (printed_option_table(app, "bench", argc, argv)) return kOk;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) { return e.get_exit_code() == 0 ? app.exit(e) : usage_error(app, e); }
  if (typed.compare->parsed()) return compare_files(typed);
  if (typed.draw->parsed()) return draw(joined(typed.drawn), o);
  refuse_changed_arithmetic();
  if (typed.roofs->parsed())
    return roofs(checked_devices(typed.roof_devices), typed.roof_json, o.command, libraries);
  o.program = shell_word(argv[0]);
  take_drawing(o, typed);
  if (o.cases.empty()) throw Error("say what to time: --case all, or --case GLOB (bench --help)");
  if (!typed.timeout.empty()) o.timeout = parse_seconds(typed.timeout, "--timeout");
  if (!typed.budget.empty()) o.budget = parse_seconds(typed.budget, "--budget");
  if (!typed.uses.empty()) o.uses = parse_uses(typed.uses);
  o.variants = pieces(typed.variants), o.fills = pieces(typed.fills);
  o.devices = checked_devices(typed.devices);
  if (harness_is_broken()) return kBrokenHarness;
  end_on_interrupt();
  // threads of children spin between parallel regions, as OpenMP's do by default: waking them would be timed
  setenv("GOMP_SPINCOUNT", "300000", 0);
  return run_bench(o, libraries);
}

int bench_code(int argc, char** argv, const std::vector<std::string>& libraries) {
  try {
    if (argc == 2 && std::strcmp(argv[1], "--worker") == 0) return worker_main();
    guard_judge();
    end_where_memory_is_exhausted(remove_unfinished_outputs);
    check_threads();
    read_matrices_once();
    const int code = bench_checked(argc, argv, libraries);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    std::fputs("error: standard output: cannot write\n", stderr);
    return code == kOk ? kUsage : code;
  } catch (const std::exception& e) {
    std::fputs(("error: " + ending_text(e) + "\n").c_str(),
               stderr);  // fmt throws where stderr cannot be written
    return kUsage;
  }
}

}  // namespace

int bench_main(int argc, char** argv, const std::vector<std::string>& libraries) {
  const int code = bench_code(argc, argv, libraries);
  note_own_end();
  return code;
}

}  // namespace plumb
