#include "verify/cli/options.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "datasets/io/output_file.hpp"
#include "reference/core/error.hpp"
#include "reference/core/seed.hpp"
#include "reference/core/text.hpp"
#include "tools/help.hpp"
#include "tools/option_table.hpp"
#include "tools/version.hpp"
#include "verify/engine/process/confinement.hpp"
#include "verify/selection/selection.hpp"

namespace plumb {
namespace {

HelpWords help_words() {
  HelpWords w;
  w.first = {
      {"verify --case 'spmv.*'", "every kernel of one operator that runs here"},
      {"verify --case all --variant 'cpu/*'", "every operator, the host kernels alone"},
      {"verify --case 'spmv.f32(rows=1..1000)'", "cases by their parameters"},
      {"verify --case spmv --matrix mine.mtx", "on a matrix of your own"},
      {"verify --case spmv --device simt --race", "the GPU kernels without a GPU, checked for races"},
      {"verify --case all --html report.html", "a page of all results"},
      {"verify --explain nondeterministic", "what a word of the output means"},
  };
  w.more = {
      {"verify --case 'spmv.*' --variant 'cpu/*merge*'", "one variant of one operator"},
      {"verify --case gemm --drawn 200 --seed fresh", "new cases; a failing one is made small"},
      {"verify --case gcn --drawn 20 --device simt", "whole networks, as infer gcn --drawn"},
      {"verify --plugin ./libmine.so", "kernels of your own (tools/plumb new-plugin spmv mine)"},
      {"verify --python my_kernels.py", "kernels of your own in Python (docs/python.md)"},
      {"verify --case spmv --matrix web-Stanford.mtx.gz",
       "its pattern with drawn values, and its own values (fill=own)"},
      {"verify --case all --save-failing failing", "the arrays of every failure"},
      {"verify --case all --quiet --json /dev/stdout | jq", "a report goes to a pipe, all else to stderr"},
      {"verify --case spmv --device cpu --race", "the host kernels under ThreadSanitizer, with tools/plumb"},
      {"verify --case all --stress", "the GPU kernels with delays at their barriers and load beside them"},
      {"verify --case all --sanitize memcheck,racecheck", "the GPU kernels under compute-sanitizer"},
      {"verify --mutants", "does the judge kill every mutant?"},
      {"verify --mutate 'spmv/cpu/*' --sample 200", "machine-made mutants of those variants"},
      {"verify --list | --describe spmv", "what there is"},
      {"verify report trend reports/*.json", "stored reports one after the other: a page, a badge"},
  };
  w.notes = {
      {"globs",
       {{"*", "any text"},
        {"?", "any one character; there is no [..] and no {..}"},
        {"a..b", "in parameters: a range of numbers, * an open end"}}},
      {"exit codes",
       {{"0", "all that ran passed"},
        {"1", "a failure (where several codes hold: 1 before 2)"},
        {"2", "usage or bad input"},
        {"3", "nothing ran"},
        {"4", "the harness itself is broken"},
        {"77", "everything was skipped for want of a GPU"}}},
      {"environment",
       {{"NO_COLOR", "no colours, also on a terminal"},
        {"OMP_NUM_THREADS", "threads of the OpenMP variants and of the oracles"},
        {"PLUMB_DEBUGGABLE", "the judge's process may be read by a debugger, and by the kernels it judges"},
        {"PLUMB_DATA", "folder of real data, for tools that read some"},
        {"PLUMB_PYTHON", "the interpreter of --python (default: python3)"},
        {"PLUMB_COMMAND", "how repro lines call verify's front end (set by tools/plumb)"}}},
  };
  return w;
}

std::vector<std::string> pieces(const std::vector<std::string>& given) {
  std::vector<std::string> all;
  for (const std::string& text : given) {
    for (std::string& part : split(text, ',')) all.push_back(std::move(part));
  }
  return all;
}

// Options as typed, for what takes more than one step to understand.
struct Typed {
  std::vector<std::string> fills, variants, devices, what;
  std::string tier = "smoke", shard, isolate = "variant", seed, timeout, stress;
  bool list = false, repeat = false;
};

// The ten that people need first.
void declare_first(CLI::App& app, VerifyOptions& o, Typed& typed) {
  app.option_defaults()->group(kFirstOptions);
  app.add_option("--case", o.cases,
                 "all, or GLOB[,GLOB...]: 'spmv.*', 'gemm.f32(m=1..*,n=7*)', a whole id as printed, or @FILE "
                 "with such on its lines")
      ->type_name("GLOB");
  app.add_option("--variant", typed.variants, "GLOB[,GLOB...] of variants: 'gpu/*', 'cpu/*', 'user/*'")
      ->type_name("GLOB");
  app.add_option(
      "--device", typed.devices,
      "cpu, gpu, simt (GPU kernels on the CPU executor: slow, needs no GPU) or all; default: cpu and gpu");
  app.add_flag(
      "--race", o.run.race,
      "with race detection: GPU kernels on the CPU executor (--device simt, implied), or host kernels "
      "under ThreadSanitizer with LLVM's Archer (--device cpu, with tools/plumb), one of the two");
  app.add_option(
         "--matrix", o.matrices,
         "judge the sparse operators on this file (.mtx, .mtx.gz, .npz, edge list) and on nothing else; "
         "repeatable. Values are drawn by fill, and fill=own takes those of the file")
      ->type_name("FILE");
  app.add_option("--tier", typed.tier, "smoke, full or stress; a tier includes the ones before it")
      ->capture_default_str();
  app.add_flag("--all", o.all,
               "print every failure in full, and judge a variant on every case, also after three timeouts, "
               "crashes or errors in a row");
  app.add_option("--html", o.html, "write a report as one self-contained page")->type_name("FILE");
  app.add_flag("--list", typed.list,
               "list operators; or name what: --list ops | variants | cases | OPERATOR");
  app.add_option("--explain", o.explain,
                 "a verdict, a fill, an instrument, or a word such as bound or poison");
}

void declare_selection(CLI::App& app, VerifyOptions& o, Typed& typed) {
  app.option_defaults()->group("cases and variants");
  app.add_option("--fill", typed.fills,
                 "exact,wide,index,real,positive,scaled,hostile,few,own; default: all that a case names");
  app.add_option("--seed", typed.seed, "data from this seed instead of the cases' own; 'fresh' draws one")
      ->type_name("N");
  app.add_flag(
      "--listed", o.listed,
      "only the cases that contracts list, without the tiers' covering arrays: for slow instruments");
  app.add_flag("--listed-too", o.listed_too, "with --matrix: the operators' own cases as well");
  app.add_option("--drawn", o.drawn,
                 "N cases of each operator of --case (default: all), drawn from the description of its "
                 "parameters by --seed "
                 "(default 1; fresh draws one and prints it), in place of the listed ones; implies --shrink")
      ->check(CLI::Range(1, 1000000));
  app.add_flag("--shrink", o.shrink,
               "for the first failure of each variant: the smallest case that still fails in the same way");
  app.add_option("--plugin", o.plugins,
                 "judge the variants of this shared library, user/NAME (gpu/plugin/plugin_abi.h); "
                 "repeatable. Alone, it selects them")
      ->type_name("LIB");
  app.add_option("--python", o.python,
                 "judge the variants that this file or module of Python declares (@plumbline.variant), "
                 "user/NAME; repeatable. Alone, it selects them");
  app.add_option("--shard", typed.shard, "I/N: the I-th of N parts, from 1")->type_name("I/N");
}

CLI::Option* declare_run(CLI::App& app, VerifyOptions& o, Typed& typed) {
  app.option_defaults()->group("how they are run");
  CLI::Option* const repeat = app.add_option("--repeat", o.run.repeat,
                                             "runs of each variant on each case, at least 2; where not given "
                                             "24 with --stress, and of the rungs "
                                             "on the CPU executor 2 on most cases of a tier")
                                  ->capture_default_str()
                                  ->check(CLI::Range(2, 10000));
  app.add_option("--jobs", o.jobs,
                 "cases judged side by side; default: 1, but 2 of host variants alone at tier smoke, and one "
                 "per core with --device simt")
      ->check(CLI::Range(1, 256));
  app.add_option(
         "--timeout", typed.timeout,
         "seconds for one run, without those that it waits for a processor; default 60, with --sanitize 300")
      ->type_name("SECONDS");
  app.add_flag("--fail-fast", o.fail_fast, "stop at the first failure");
  app.add_option("--first", o.run.first, "misses listed per failure, at most 10")
      ->capture_default_str()
      ->check(CLI::Range(0, 10));
  app.add_option("--isolate", typed.isolate, "a child process per case, per variant, or none")
      ->capture_default_str();
  app.add_flag("--require-gpu", o.require_gpu, "no GPU is a failure (exit 1), not a skip (exit 77)");
  app.add_flag("--dry-run", o.dry_run, "say what would be judged, and judge nothing");
  return repeat;
}

void declare_instruments(CLI::App& app, VerifyOptions& o, Typed& typed) {
  app.option_defaults()->group("instruments");
  app.add_option("--seeds", o.run.seeds,
                 "N schedules of each case on the CPU executor: orders of threads, moments of copies and, "
                 "with --race, "
                 "the values that CUDA's memory allows; findings of all, each with its schedule. Implies "
                 "--device simt")
      ->check(CLI::Range(2, 100000));
  app.add_option("--schedule", o.run.schedule,
                 "the first schedule of each case on the CPU executor, as a repro line names it");
  // not a number: newer CLI11 counts a number's flag where it is not given
  app.add_flag(
      "--stress{1}", typed.stress,
      "--stress or --stress=SEED: runs are disturbed: on a GPU by load, delays and other orders of blocks, "
      "on the CPU executor by other schedules, on the host by threads that are made to collide; more of "
      "them, compared bit for bit. Implies --device gpu where none is named");
  app.add_option("--sanitize", o.sanitize,
                 "memcheck,racecheck,initcheck,synccheck or all: every GPU variant's smallest case of "
                 "several tiles under compute-sanitizer; with --mutants, the mutants'");
  app.add_flag("--mutants", o.mutants,
               "run the kernels that are wrong on purpose; one that survives is exit 4");
  app.add_option(
         "--mutate", o.mutate,
         "GLOB of variants whose sources are mutated by machine, every mutant judged: with tools/plumb "
         "(tools/plumb verify --mutate help)")
      ->type_name("GLOB");
  app.add_option("--schemata", o.schemata, "what --mutate runs: a file of lines 'NUMBER VARIANT'")->group("");
  app.add_option("--constants-of", o.constants_of,
                 "with --schemata: drawn cases too, of sizes beside this source's constants; repeatable")
      ->group("");
  app.add_flag("--all-instruments", o.all_instruments,
               "with --mutants: try every instrument on every mutant, also where another one has killed it");
}

void declare_reports(CLI::App& app, VerifyOptions& o, Typed& typed) {
  app.option_defaults()->group("reports and words");
  app.add_option("--json", o.json, "write a report, one JSON object per line")->type_name("FILE");
  app.add_option("--junit", o.junit, "write a report as JUnit XML")->type_name("FILE");
  app.add_option("--csv", o.csv, "write a report as CSV")->type_name("FILE");
  app.add_option("--markdown", o.markdown,
                 "write a report as Markdown: a table per operator, for a pull request")
      ->type_name("FILE");
  app.add_option("--save-failing", o.save_failing,
                 "a folder: inputs, outputs, expected values and bounds of every failing record, as .npy")
      ->type_name("DIR");
  app.add_flag("--why", o.why,
               "with --list cases: the class that each case covers, per parameter, and the kinds of runs "
               "that it is drawn for");
  app.add_option("--describe", o.describe,
                 "one operator: its contract, cases with their reasons, variants, mutants")
      ->type_name("OP");
  app.add_flag("-v,--verbose", o.verbose, "a line for every record");
  app.add_flag("-q,--quiet", o.quiet, "failures and the last line only");
  app.add_flag("--no-color", o.no_color, "no colours, also on a terminal");
  app.set_version_flag("--version", std::string("plumbline ") + kVersion, "the version");
  app.add_option("what", typed.what, "for --list")->group("");
}

int usage_error(const CLI::App& app, const CLI::ParseError& e) {
  if (e.get_exit_code() == 0) return app.exit(e);
  std::string hint;
  if (dynamic_cast<const CLI::ExtrasError*>(&e) != nullptr) {
    std::vector<std::string> known;
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
    for (const std::string& extra : app.remaining()) {
      if (hint.empty()) hint = did_you_mean(extra, known);
    }
  }
  fmt::print(stderr, "error: {}{} (verify --help)\n", e.what(), hint);
  return kUsage;
}

bool names(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::vector<std::string> checked_devices(const std::vector<std::string>& given) {
  static const std::vector<std::string> kDevices = {"cpu", "gpu", "simt", "all"};
  std::vector<std::string> devices = pieces(given);
  for (const std::string& d : devices) {
    if (!names(kDevices, d))
      throw Error(fmt::format("--device: unknown word '{}'{} (known: cpu, gpu, simt, all)", printable(d),
                              did_you_mean(d, kDevices)));
  }
  if (names(devices, "all")) return {"cpu", "gpu", "simt"};
  return devices;
}

std::uint64_t stress_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (status != std::errc() || end != text.data() + text.size() || seed == 0)
    throw Error(fmt::format("--stress={}: a seed is a whole number from 1 on", printable(text)));
  return seed;
}

Isolation isolation_of(const std::string& word) {
  if (word == "none") return Isolation::none;
  if (word == "variant") return Isolation::variant;
  if (word == "case") return Isolation::run;
  throw Error(fmt::format("--isolate: unknown word '{}'{} (known: case, variant, none)", printable(word),
                          did_you_mean(word, {"case", "variant", "none"})));
}

void take_shard(const std::string& text, VerifyOptions& o) {
  int consumed = 0;
  if (std::sscanf(text.c_str(), "%d/%d%n", &o.shard, &o.shards, &consumed) != 2 ||
      consumed != static_cast<int>(text.size()) || o.shard < 1 || o.shard > o.shards) {
    throw Error(fmt::format("--shard: not I/N with 1 <= I <= N: {}", printable(text)));
  }
  --o.shard;
}

// GPU kernels are judged by the CPU executor, host kernels by ThreadSanitizer: two instruments in two builds.
void apply_race(VerifyOptions& o) {
  if (!o.run.race) return;
  if (o.devices.empty() && !o.mutants) o.devices = {"simt"};
  const bool host = names(o.devices, "cpu"), simt = names(o.devices, "simt");
  if (host && o.devices.size() > 1)
    throw Error(
        "--race: host kernels are judged under ThreadSanitizer, in a build of its own, "
        "and GPU kernels on the CPU executor: run it twice, with --device cpu and with --device simt");
  if (host && !is_thread_sanitized())
    throw Error(
        "--race --device cpu judges under ThreadSanitizer, and this program was built without it: "
        "tools/plumb verify --race --device cpu builds one that has it");
  for (const char* const option : {"halt_on_error=1", "ignore_noninstrumented_modules=1"}) {
    const char* const set = std::getenv("TSAN_OPTIONS");
    if (host && std::string(set != nullptr ? set : "").find(option) == std::string::npos)
      throw Error(
          fmt::format("--race --device cpu: TSAN_OPTIONS lacks {}, without which right code is reported: "
                      "tools/plumb verify --race --device cpu sets it",
                      option));
  }
  if (!host && !simt && !o.mutants) throw Error("--race judges kernels on --device simt or --device cpu");
}

// What --sanitize and --stress imply, and what they go with.
void apply_instruments(VerifyOptions& o, const Typed& typed) {
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  if (!o.mutate.empty())
    throw Error(
        "--mutate compiles what it judges: tools/plumb verify --mutate GLOB, with no word before it but "
        "--extra DIR");
  apply_race(o);
  if (!o.sanitize.empty()) {
    o.tools = parse_tools(o.sanitize);
    if (o.run.race || o.run.stress != 0) throw Error("--sanitize goes alone: not with --race or --stress");
    const bool others =
        std::any_of(o.devices.begin(), o.devices.end(), [](const std::string& d) { return d != "gpu"; });
    if (others) throw Error("--sanitize judges kernels on a GPU: --device gpu, or none named");
    o.devices = {"gpu"};
    // the tools take their time, and several of them at once fit on a device
    if (o.jobs == 0) o.jobs = std::clamp(cores / 2, 1, 4);
    if (typed.timeout.empty()) o.run.timeout = 300;
  }
  if (o.run.stress != 0) {
    if (o.devices.empty() && !o.mutants) o.devices = {"gpu"};
    if (!typed.repeat) o.run.repeat = 24;
  }
  const bool simt = names(o.devices, "simt");
  if (o.jobs == 0 && simt && o.devices.size() == 1) o.jobs = cores;
}

// What --seeds and --schedule imply, and what they go with.
void apply_schedules(VerifyOptions& o, const Typed& typed) {
  if (o.run.seeds == 0 && !o.run.schedule) return;
  const char* const given = o.run.seeds != 0 ? "--seeds" : "--schedule";
  if (o.devices.empty()) o.devices = {"simt"};
  if (!names(o.devices, "simt") || o.mutants)
    throw Error(fmt::format("{} works only with --device simt, and not with --mutants", given));
  if (o.run.stress != 0)
    throw Error(fmt::format("{} goes without --stress, which draws schedules itself", given));
  if (o.run.seeds == 0) return;
  if (typed.repeat) throw Error("--seeds N is N runs: without --repeat");
  o.run.repeat = o.run.seeds;
}

// Two reports in one file would overwrite each other.
void check_reports(const VerifyOptions& o) {
  std::vector<std::string> places;
  for (const std::string& path : o.reports()) {
    std::error_code failed;
    const std::string place =
        std::filesystem::weakly_canonical(std::filesystem::absolute(path), failed).string();
    if (names(places, place) && path != "/dev/null")
      throw Error(fmt::format("{}: two reports cannot be written to one file", printable(path, 200)));
    places.push_back(place);
  }
}

}  // namespace

void refuse_options(const std::string& command, std::initializer_list<std::pair<bool, const char*>> given) {
  for (const auto& [is_given, option] : given) {
    if (is_given) throw Error(fmt::format("{} does not take {}", command, option));
  }
}

std::vector<std::string> VerifyOptions::reports() const {
  std::vector<std::string> paths;
  for (const std::string* path : {&json, &junit, &csv, &html, &markdown}) {
    if (!path->empty()) paths.push_back(*path);
  }
  return paths;
}

bool VerifyOptions::report_on_stdout() const {
  const std::vector<std::string> paths = reports();
  return std::any_of(paths.begin(), paths.end(), is_standard_output);
}

std::optional<int> parse_options(int argc, char** argv, VerifyOptions& o) {
  CLI::App app{"verify: judges kernels element by element against a reference, with error bounds", "verify"};
  set_help(app, help_words(), asks_for_all(argc, argv));
  Typed typed;
  declare_first(app, o, typed);
  declare_selection(app, o, typed);
  const CLI::Option* const repeat = declare_run(app, o, typed);
  declare_instruments(app, o, typed);
  declare_reports(app, o, typed);
  if (printed_option_table(app, "verify", argc, argv)) return kOk;
  for (int i = 0; i < argc; ++i) o.command += fmt::format("{}{}", i > 0 ? " " : "", argv[i]);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) { return usage_error(app, e); }

  typed.repeat = repeat->count() > 0;
  if (!typed.timeout.empty()) o.run.timeout = parse_seconds(typed.timeout, "--timeout");
  if (!typed.stress.empty()) o.run.stress = stress_seed(typed.stress);
  o.variants = pieces(typed.variants);
  o.devices = checked_devices(typed.devices);
  apply_schedules(o, typed);
  apply_instruments(o, typed);
  o.run.spare = !typed.repeat && o.run.seeds == 0 && !o.run.schedule && o.run.stress == 0 && o.drawn == 0;
  for (const std::string& word : pieces(typed.fills)) o.fills.push_back(parse_fill(word, "--fill"));
  o.tier = parse_tier(typed.tier, "--tier");
  o.run.isolation = isolation_of(typed.isolate);
  if (!typed.seed.empty()) o.seed = parse_seed(typed.seed, "--seed");
  if (!typed.shard.empty()) take_shard(typed.shard, o);
  if (typed.list) o.list = typed.what.empty() ? "ops" : typed.what.front();
  if (!typed.list && !typed.what.empty())
    throw Error(fmt::format("unexpected word '{}' (verify --help)", printable(typed.what.front())));
  check_reports(o);
  return std::nullopt;
}

}  // namespace plumb
