#include "verify/cli/options.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "reference/core/text.hpp"
#include "tools/version.hpp"
#include "verify/engine/sanitizer.hpp"

namespace plumb {
namespace {

constexpr const char* kFooter =
    "examples:\n"
    "  verify --case all                                   every operator, every variant, tier smoke\n"
    "  verify --case 'spmv.*' --variant 'cpu/*merge*'      one variant of one operator\n"
    "  verify --case 'spmv.f32(rows=1..1000,fill=exact)'   cases by their parameters\n"
    "  verify --case spmv --matrix web-Stanford.mtx.gz     a matrix of your own\n"
    "  verify --plugin ./libmine.so                        kernels of your own (tools/plumb new-plugin spmv mine)\n"
    "  verify --case all --html report.html --save-failing failing\n"
    "  verify --case 'spmv' --device simt --race           the GPU kernels without a GPU, every access checked for races\n"
    "  verify --case all --stress                          the GPU kernels with delays at their barriers and load beside them\n"
    "  verify --case all --sanitize memcheck,racecheck     the GPU kernels under compute-sanitizer\n"
    "  verify --mutants                                    does the judge kill every planted fault?\n"
    "  verify --list | --describe spmv | --explain nondeterministic\n"
    "exit codes: 0 all that ran passed, 1 a failure, 2 usage or bad input, 3 nothing ran, 4 the harness itself is broken,\n"
    "            77 everything was skipped for want of a GPU\n"
    "environment: OMP_NUM_THREADS  threads of the OpenMP variants and of the oracles\n"
    "             PLUMB_DEBUGGABLE the judge's process may be read by a debugger, and by the kernels it judges\n"
    "             PLUMB_DATA       folder of real data, for tools that read some\n";

std::vector<std::string> pieces(const std::vector<std::string>& given) {
  std::vector<std::string> all;
  for (const std::string& text : given) {
    for (std::string& part : split(text, ',')) all.push_back(std::move(part));
  }
  return all;
}

}  // namespace

std::optional<int> parse_options(int argc, char** argv, VerifyOptions& o) {
  CLI::App app{"verify: judges kernels element by element against a reference, with error bounds", "verify"};
  app.footer(kFooter);
  std::vector<std::string> fills, variants, devices;
  std::string tier = "smoke", shard, isolate = "variant", seed;
  bool list = false;
  std::vector<std::string> positional;
  app.add_option("--case", o.cases, "all, or GLOB[,GLOB...]: 'spmv.*', 'gemm.f32(m=1..*,n=7*)', a whole id as printed, or @FILE with such on its lines");
  app.add_option("--variant", variants, "GLOB[,GLOB...] of variants: 'gpu/*', 'cpu/*', 'user/*'");
  app.add_option("--device", devices, "cpu, gpu, simt (GPU kernels on the CPU executor: slow, needs no GPU) or all; default: cpu and gpu");
  app.add_option("--tier", tier, "smoke, full or stress; a tier includes the ones before it")->capture_default_str();
  app.add_option("--fill", fills, "exact,wide,index,real,positive,scaled,hostile; default: all that a case names");
  app.add_option("--seed", seed, "data from this seed instead of the cases' own; 'fresh' draws one");
  CLI::Option* const repeat =
      app.add_option("--repeat", o.run.repeat, "runs of each variant on each case, at least 2; with --stress 24 where not given")
          ->capture_default_str()->check(CLI::Range(2, 10000));
  app.add_option("--shard", shard, "I/N: the I-th of N parts, from 1");
  app.add_option("--jobs", o.jobs, "cases judged side by side; default: 1, and one per core with --device simt")->check(CLI::Range(1, 256));
  CLI::Option* const timeout = app.add_option("--timeout", o.run.timeout, "seconds for one run; with --sanitize 300 where not given")->capture_default_str()->check(CLI::PositiveNumber);
  app.add_flag("--fail-fast", o.fail_fast, "stop at the first failure");
  app.add_option("--first", o.run.first, "misses listed per failure, at most 10")->capture_default_str()->check(CLI::Range(0, 10));
  app.add_option("--isolate", isolate, "a child process per case, per variant, or none")->capture_default_str();
  app.add_option("--matrix", o.matrices, "judge the sparse operators on this file too (.mtx, .mtx.gz, .npz, edge list); repeatable");
  app.add_option("--plugin", o.plugins,
                 "judge the variants of this shared library, user/NAME (gpu/plugin/plugin_abi.h); repeatable. Alone, it selects them");
  app.add_flag("--race", o.run.race, "on the CPU executor with race detection; implies --device simt");
  std::string stress;  // not a number: newer CLI11 counts a number's flag where it is not given
  app.add_flag("--stress{1}", stress,
               "--stress or --stress=SEED: runs are disturbed: on a GPU by load, delays and other orders of blocks, on the CPU executor by "
               "other schedules; more of them, compared bit for bit. Implies --device gpu where none is named");
  app.add_option("--sanitize", o.sanitize,
                 "memcheck,racecheck,initcheck,synccheck or all: every GPU variant's smallest case of several tiles under "
                 "compute-sanitizer; with --mutants, the planted faults'");
  app.add_flag("--all-instruments", o.all_instruments,
               "with --mutants: try every instrument on every planted fault, also where another one has killed it");
  app.add_flag("--mutants", o.mutants, "run the planted faults; a survivor is exit 4");
  app.add_flag("--require-gpu", o.require_gpu, "no GPU is a failure (exit 1), not a skip (exit 77)");
  app.add_option("--json", o.json, "write a report, one JSON object per line");
  app.add_option("--junit", o.junit, "write a report as JUnit XML");
  app.add_option("--csv", o.csv, "write a report as CSV");
  app.add_option("--html", o.html, "write a report as one self-contained page");
  app.add_option("--markdown", o.markdown, "write a report as Markdown: a table per operator, for a pull request");
  app.add_option("--save-failing", o.save_failing,
                 "a folder: inputs, outputs, expected values and bounds of every failing record, as .npy");
  app.add_flag("--list", list, "list operators; or name what: --list ops | variants | cases | OPERATOR");
  app.add_option("--describe", o.describe, "one operator: cases with their reasons, variants, planted faults");
  app.add_option("--explain", o.explain, "a verdict, a fill, an instrument, or a word such as bound or poison");
  app.add_flag("--dry-run", o.dry_run, "say what would be judged, and judge nothing");
  app.add_flag("-v,--verbose", o.verbose, "a line for every record");
  app.add_flag("-q,--quiet", o.quiet, "failures and the last line only");
  app.add_flag("--no-color", o.no_color, "no colours, also on a terminal");
  app.set_version_flag("--version", std::string("plumbline ") + kVersion);
  app.add_option("what", positional, "for --list");
  for (int i = 0; i < argc; ++i) o.command += fmt::format("{}{}", i > 0 ? " " : "", argv[i]);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
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
    return 2;
  }

  if (!stress.empty()) {
    const auto [end, status] = std::from_chars(stress.data(), stress.data() + stress.size(), o.run.stress);
    if (status != std::errc() || end != stress.data() + stress.size() || o.run.stress == 0) {
      throw Error(fmt::format("--stress={}: a seed is a whole number from 1 on", printable(stress)));
    }
  }
  o.variants = pieces(variants);
  o.devices = pieces(devices);
  for (const std::string& d : o.devices) {
    static const std::vector<std::string> kDevices = {"cpu", "gpu", "simt", "all"};
    if (std::find(kDevices.begin(), kDevices.end(), d) == kDevices.end()) {
      throw Error(fmt::format("--device: unknown word '{}'{} (known: cpu, gpu, simt, all)", printable(d), did_you_mean(d, kDevices)));
    }
  }
  if (std::find(o.devices.begin(), o.devices.end(), "all") != o.devices.end()) o.devices = {"cpu", "gpu", "simt"};
  if (o.run.race && o.devices.empty() && !o.mutants) o.devices = {"simt"};
  if (!o.sanitize.empty()) {
    (void)parse_tools(o.sanitize);
    if (o.run.race || o.run.stress != 0) throw Error("--sanitize goes alone: not with --race or --stress");
    const bool others = std::any_of(o.devices.begin(), o.devices.end(), [](const std::string& d) { return d != "gpu"; });
    if (others) throw Error("--sanitize judges kernels on a GPU: --device gpu, or none named");
    o.devices = {"gpu"};
    // the tools take their time, and several of them at once fit on a device
    if (o.jobs == 0) o.jobs = static_cast<int>(std::clamp(std::thread::hardware_concurrency() / 2, 1u, 4u));
    if (timeout->count() == 0) o.run.timeout = 300;
  }
  if (o.run.stress != 0) {
    if (o.devices.empty() && !o.mutants) o.devices = {"gpu"};
    if (repeat->count() == 0) o.run.repeat = 24;
  }
  const bool simt = std::find(o.devices.begin(), o.devices.end(), "simt") != o.devices.end();
  if (o.run.race && !simt && !o.mutants) throw Error("--race judges kernels on the CPU executor: --device simt");
  if (o.jobs == 0) o.jobs = simt && o.devices.size() == 1 ? static_cast<int>(std::max(1u, std::thread::hardware_concurrency())) : 1;
  for (const std::string& word : pieces(fills)) o.fills.push_back(parse_fill(word, "--fill"));
  o.tier = parse_tier(tier, "--tier");
  if (isolate == "none") {
    o.run.isolation = Isolation::none;
  } else if (isolate == "variant") {
    o.run.isolation = Isolation::variant;
  } else if (isolate == "case") {
    o.run.isolation = Isolation::run;
  } else {
    throw Error(fmt::format("--isolate: unknown word '{}'{} (known: case, variant, none)", printable(isolate),
                            did_you_mean(isolate, {"case", "variant", "none"})));
  }
  if (seed == "fresh") {
    std::uint64_t drawn = 0;
    if (getentropy(&drawn, sizeof drawn) != 0) throw Error("--seed fresh: no randomness to be had");
    o.seed = drawn >> 16;
  } else if (!seed.empty()) {
    o.seed = static_cast<std::uint64_t>(parse_size(seed, "--seed"));
  }
  if (!shard.empty()) {
    int consumed = 0;
    if (std::sscanf(shard.c_str(), "%d/%d%n", &o.shard, &o.shards, &consumed) != 2 || consumed != static_cast<int>(shard.size()) ||
        o.shard < 1 || o.shard > o.shards) {
      throw Error(fmt::format("--shard: not I/N with 1 <= I <= N: {}", printable(shard)));
    }
    --o.shard;
  }
  if (list) o.list = positional.empty() ? "ops" : positional.front();
  if (!list && !positional.empty()) {
    throw Error(fmt::format("unexpected word '{}' (verify --help)", printable(positional.front())));
  }
  return std::nullopt;
}

}  // namespace plumb
