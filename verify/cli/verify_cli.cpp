#include "verify/cli/verify_cli.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "datasets/load_matrix.hpp"
#include "reference/core/error.hpp"
#include "reference/core/sparse_cases.hpp"
#include "reference/core/text.hpp"
#include "tools/version.hpp"
#include "verify/cli/listing.hpp"
#include "verify/cli/mutant_run.hpp"
#include "verify/cli/options.hpp"
#include "verify/cli/sanitize_run.hpp"
#include "verify/engine/confinement.hpp"
#include "verify/engine/manifest.hpp"
#include "verify/engine/plugin_host.hpp"
#include "verify/engine/sanitizer.hpp"
#include "verify/engine/simt_device.hpp"
#include "verify/report/failure_folder.hpp"
#include "verify/report/reporter.hpp"

namespace plumb {
namespace {

void on_interrupt(int signal) { stop_signal = signal; }

bool device_wanted(const VerifyOptions& o, Device d) {
  if (o.devices.empty()) return d != Device::simt;  // slow: only where it is asked for
  return std::find(o.devices.begin(), o.devices.end(), name(d)) != o.devices.end();
}

bool variant_wanted(const VerifyOptions& o, const std::string& variant) {
  return o.variants.empty() || std::any_of(o.variants.begin(), o.variants.end(), [&](const std::string& g) { return glob_match(g, variant); });
}

// The cases that --case, --tier, --fill, --seed and --matrix select, in the order of the list of operators.
std::vector<Case> select_cases(const VerifyOptions& o) {
  const CaseFilter filter(o.cases);
  std::vector<std::string> known;
  for (const auto& entry : operators()) known.push_back(entry->name());
  for (const std::string& glob : filter.operator_globs()) {
    if (std::none_of(known.begin(), known.end(), [&](const std::string& k) { return glob_match(glob, k); })) {
      throw Error(fmt::format("case '{}' matches no operator{} (verify --list)", printable(glob), did_you_mean(glob, known)));
    }
  }
  std::vector<Case> selected;
  const auto fill_wanted = [&](Fill f) { return o.fills.empty() || std::find(o.fills.begin(), o.fills.end(), f) != o.fills.end(); };
  for (const auto& entry : operators()) {
    std::vector<Case> cases = entry->cases();
    const bool sparse = std::any_of(cases.begin(), cases.end(), [](const Case& c) { return c.has("density"); });
    if (!o.matrices.empty()) {
      // the operator's parameters beside the matrix stay as in its first sparse case
      std::vector<Case> replaced;
      std::set<std::string> seen;
      for (const std::string& file : o.matrices) {
        for (Case c : cases) {
          if (!sparse || !c.has("density") || c.fill == Fill::index) continue;
          std::vector<std::pair<std::string, std::string>> params{{"matrix", file}};
          for (const auto& [key, value] : c.params) {
            if (key != "rows" && key != "cols" && key != "density" && key != "pattern") params.emplace_back(key, value);
          }
          c.params = params;
          c.tier = Tier::smoke;
          c.why = "the user's own matrix";
          if (seen.insert(c.id()).second) replaced.push_back(c);
        }
      }
      cases = std::move(replaced);
    }
    std::vector<Case> whole;
    for (const Case& c : filter.whole_ids()) {
      if (c.op == entry->name()) whole.push_back(c);
    }
    for (Case& c : cases) {
      if (o.seed) c.seed = *o.seed;
      const bool named = std::find(whole.begin(), whole.end(), c) != whole.end();
      if (named || (filter.matches(c) && c.tier <= o.tier && fill_wanted(c.fill))) selected.push_back(c);
    }
    for (const Case& c : whole) {
      if (std::find(selected.begin(), selected.end(), c) == selected.end()) selected.push_back(c);
    }
  }
  return selected;
}

std::string type_key(const VariantInfo& v) { return fmt::format("{}|{}|{}", v.op, v.name, static_cast<int>(v.dtype)); }

struct Job {
  Case c;
  std::vector<VariantInfo> variants;
};

// One thread's share of the work.
class Session {
 public:
  Session(const VerifyOptions& o, std::vector<Job> jobs, std::vector<std::unique_ptr<Reporter>>& reporters)
      : options_(o), jobs_(std::move(jobs)), reporters_(reporters) {}

  void run() {
    std::vector<std::thread> threads;
    for (int t = 1; t < options_.jobs; ++t) threads.emplace_back([this] { work(); });
    work();
    for (std::thread& t : threads) t.join();
  }

  void sanitize() {
    std::vector<SanitizeTarget> targets;
    std::map<std::string, std::size_t> at;
    for (const Job& job : jobs_) {
      for (const VariantInfo& v : job.variants) {
        const auto [known, is_new] = at.emplace(type_key(v), targets.size());
        if (is_new) targets.push_back({v, {}});
        targets[known->second].cases.push_back(job.c);
      }
    }
    plumb::sanitize(options_, std::move(targets), [this](const Record& r) { take(r); });
  }

  [[nodiscard]] const Totals& totals() const { return totals_; }
  [[nodiscard]] bool stopped() const { return stop_; }

 private:
  void work() {
    Runner runner(options_.run);
    std::string op;
    for (std::size_t j; (j = next_++) < jobs_.size() && !stop_ && stop_signal == 0;) {
      const Job& job = jobs_[j];
      if (job.c.op != op) runner.forget_workers();
      op = job.c.op;
      try {
        const std::unique_ptr<PreparedCase> prepared = find_operator(op).prepare(job.c);
        const std::string mistrust = runner.mistrust(job.c, *prepared);
        if (!mistrust.empty()) {
          Record r;
          r.case_id = job.c.id(), r.op = op, r.dtype = std::string(name(job.c.dtype)), r.variant = "(the case itself)";
          r.verdict = Verdict::mistrusted, r.reason = mistrust, r.repro = fmt::format("verify --case '{}'", r.case_id);
          take(r);
          continue;
        }
        for (const VariantInfo& v : job.variants) {
          if (stop_ || stop_signal != 0) break;
          const Record record = runner.judge(job.c, *prepared, v);
          if (stop_signal == 0) take(record);
        }
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
        stop_ = true;
      }
    }
  }

  void take(const Record& r) {
    const std::lock_guard lock(mutex_);
    totals_.count(r);
    for (const auto& reporter : reporters_) reporter->record(r);
    if (options_.fail_fast && is_failed(r.verdict)) stop_ = true;
  }

 public:
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  const VerifyOptions& options_;
  std::vector<Job> jobs_;
  std::vector<std::unique_ptr<Reporter>>& reporters_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  Totals totals_;
  std::exception_ptr failure_;
};

int judge_cases(VerifyOptions o) {
  std::vector<VariantInfo> of_plugins;
  for (const std::string& path : o.plugins) {
    for (VariantInfo& v : list_plugin(path)) {
      const auto same = [&](const VariantInfo& other) { return other.op == v.op && other.name == v.name && other.dtype == v.dtype; };
      if (std::any_of(of_plugins.begin(), of_plugins.end(), same)) {
        throw input_error(path, 0, fmt::format("another plug-in has a variant {} of {} too", v.name, v.op));
      }
      of_plugins.push_back(std::move(v));
    }
  }
  if (!of_plugins.empty()) {  // alone, a plug-in is what is judged
    if (o.variants.empty()) o.variants = {"user/*"};
    if (o.cases.empty()) {
      std::set<std::string> ops;
      for (const VariantInfo& v : of_plugins) ops.insert(v.op);
      o.cases = fmt::format("{}", fmt::join(ops, ","));
    }
  }
  std::vector<VariantInfo> of_simt;
  if (!o.devices.empty() && device_wanted(o, Device::simt)) {
    o.run.simt_program = simt_program();
    if (o.run.simt_program.empty()) throw Error(fmt::format("--device simt: its worker is not beside {}", this_program()));
    std::vector<std::string> defects;
    of_simt = list_simt(o.run.simt_program, defects);
    for (const std::string& d : defects) fmt::print(stderr, "broken harness: {}\n", d);
    if (!defects.empty()) return kBrokenHarness;
    for (VariantInfo& v : absent_from_simt()) of_simt.push_back(std::move(v));
  }
  std::set<std::string> stressed;  // what plumb_stress_worker holds
  const std::string stress_program = o.run.stress != 0 && device_wanted(o, Device::gpu) ? worker_beside("plumb_stress_worker") : "";
  if (!stress_program.empty()) {
    std::vector<std::string> ignored;  // it holds a part of what the CPU executor's manifest lists
    for (const VariantInfo& v : list_simt(stress_program, ignored)) stressed.insert(type_key(v));
  }
  const std::vector<Case> cases = select_cases(o);
  std::vector<Job> jobs;
  std::int64_t planned = 0;
  bool variant_matched = o.variants.empty();
  std::vector<std::string> all_variants;
  std::string op;
  std::vector<VariantInfo> variants;
  std::int64_t position = 0;
  for (const Case& c : cases) {
    if (c.op != op) {
      variants = find_operator(op = c.op).variants(Device::gpu);
      for (const std::vector<VariantInfo>* more : {&of_plugins, &of_simt}) {
        for (const VariantInfo& v : *more) {
          if (v.op == op) variants.push_back(v);
        }
      }
    }
    Job job{c, {}};
    for (const VariantInfo& v : variants) {
      if (v.mutant) continue;
      all_variants.push_back(v.name);
      if (v.dtype != c.dtype || !variant_wanted(o, v.name)) continue;
      variant_matched = true;
      if (!device_wanted(o, v.device)) continue;
      job.variants.push_back(v);
      if (v.device == Device::gpu && stressed.count(type_key(v)) != 0) job.variants.back().program = stress_program;
    }
    if (position++ % o.shards != o.shard || job.variants.empty()) continue;
    planned += static_cast<std::int64_t>(job.variants.size());
    jobs.push_back(std::move(job));
  }
  if (!variant_matched && !all_variants.empty()) {
    std::sort(all_variants.begin(), all_variants.end());
    all_variants.erase(std::unique(all_variants.begin(), all_variants.end()), all_variants.end());
    throw Error(fmt::format("--variant '{}' matches no variant{} (verify --list variants)", printable(o.variants.front()),
                            did_you_mean(o.variants.front(), all_variants)));
  }
  const std::size_t tools = o.sanitize.empty() ? 0 : parse_tools(o.sanitize).size();
  std::set<std::string> types;  // a variant in a type is what the tools check, each on a case they find
  if (tools > 0) {
    for (const Job& job : jobs) {
      for (const VariantInfo& v : job.variants) types.insert(type_key(v));
    }
    planned = static_cast<std::int64_t>(types.size() * tools);
  }
  if (o.dry_run) {
    for (const Job& job : jobs) {
      for (const VariantInfo& v : job.variants) {
        if (tools == 0) fmt::print("{}  {}\n", job.c.id(), v.name);
        else if (types.erase(type_key(v)) > 0) fmt::print("{}.{}  {}  under {}\n", v.op, name(v.dtype), v.name, o.sanitize);
      }
    }
    if (tools == 0) fmt::print("would judge {} records on {} cases\n", planned, jobs.size());
    else fmt::print("would judge {} records, each on the smallest case of several tiles\n", planned);
    return jobs.empty() ? kNothingRan : kOk;
  }

  const bool terminal = isatty(STDERR_FILENO) != 0;
  std::vector<std::unique_ptr<Reporter>> reporters;
  reporters.push_back(make_console({!o.no_color && isatty(STDOUT_FILENO) != 0, terminal && !o.quiet, o.verbose, o.quiet}));
  if (!o.json.empty()) reporters.push_back(make_json_lines(o.json));
  if (!o.junit.empty()) reporters.push_back(make_junit(o.junit));
  if (!o.csv.empty()) reporters.push_back(make_csv(o.csv));
  if (!o.html.empty()) reporters.push_back(make_html(o.html));
  if (!o.markdown.empty()) reporters.push_back(make_markdown(o.markdown));
  std::optional<FailureFolder> failures;
  if (!o.save_failing.empty()) {
    failures.emplace(o.save_failing);
    o.run.on_failure = [&](const Failure& f) { failures->save(f); };
  }
  RunInfo info{o.command, kVersion, make_backend(Device::cpu)->describe(), {}, planned};
  for (const auto& r : reporters) r->begin(info);

  const auto start = std::chrono::steady_clock::now();
  if (o.run.stress != 0 && device_wanted(o, Device::gpu) && stress_program.empty() && !o.quiet) {
    fmt::print(stderr, "--stress: plumb_stress_worker is not built, so nothing is delayed inside of kernels (tools/plumb verify --stress builds it)\n");
  }
  Session session(o, std::move(jobs), reporters);
  o.sanitize.empty() ? session.run() : session.sanitize();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (const auto& r : reporters) r->end(session.totals(), seconds);
  bool trouble = false;
  for (const auto& r : reporters) {
    if (r->trouble().empty()) continue;
    fmt::print(stderr, "error: {}\n", r->trouble());
    trouble = true;
  }
  if (failures && !failures->trouble().empty()) {
    fmt::print(stderr, "error: {}\n", failures->trouble());
    trouble = true;
  }
  if (stop_signal != 0) fmt::print("interrupted: {} of {} records\n", session.totals().all(), planned);
  fmt::print("{}\n", last_line(session.totals(), seconds));
  std::fflush(stdout);
  session.rethrow();
  if (trouble) return kUsage;
  if (stop_signal != 0) return 128 + stop_signal;
  const ExitCode code = exit_code(session.totals());
  return code == kNoDevice && o.require_gpu ? kFailed : code;
}

int verify_checked(int argc, char** argv) {
  VerifyOptions o;
  if (const auto done = parse_options(argc, argv, o)) return *done;
  // a file is read once, however many cases are made of it, and a bad one is known before anything is judged
  const auto matrices = std::make_shared<std::map<std::string, Csr<double>>>();
  const auto reading = std::make_shared<std::mutex>();
  set_matrix_reader([matrices, reading](const std::string& path) {
    const std::lock_guard lock(*reading);
    const auto known = matrices->find(path);
    return known != matrices->end() ? known->second : matrices->emplace(path, load_matrix<double>(path)).first->second;
  });
  for (const std::string& path : o.matrices) matrices->emplace(path, load_matrix<double>(path));

  if (!o.list.empty()) return print_list(o.list, o.cases);
  if (!o.describe.empty()) return print_description(o.describe);
  if (!o.explain.empty()) return print_explanation(o.explain);

  std::vector<std::string> defects = manifest_defects();
  if (!arithmetic_self_test()) defects.push_back("this build's arithmetic fails the self-test: compensated sums or NaN comparisons are broken");
  if (!defects.empty()) {
    for (const std::string& d : defects) fmt::print(stderr, "broken harness: {}\n", d);
    return kBrokenHarness;
  }
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESETHAND;  // a second Ctrl-C ends at once
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
  if (o.mutants) {
    if (o.cases.empty()) o.cases = "all";
    return run_mutants(o);
  }
  if (o.cases.empty() && !o.matrices.empty()) o.cases = "all";
  if (o.cases.empty() && o.plugins.empty()) throw Error("say what to judge: --case all, or --case GLOB (verify --help)");
  return judge_cases(o);
}

}  // namespace

int verify_main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--worker") == 0) return worker_main();
  // neither guarded nor confined: what injects itself to watch it must be able to
  const bool watched = argc > 2 && std::strcmp(argv[1], "--sanitized") == 0;
  if (!watched) guard_judge();
  try {
    if (watched) return sanitized_main(argc, argv);
    const int code = verify_checked(argc, argv);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      if (errno == EPIPE) return 128 + SIGPIPE;
      fmt::print(stderr, "error: standard output: {}\n", std::strerror(errno));
      return kUsage;
    }
    return code;
  } catch (const std::system_error& e) {
    if (e.code().value() == EPIPE) return 128 + SIGPIPE;  // nobody listens: as quiet as any other program in a pipe
    fmt::print(stderr, "error: {}\n", e.what());
    return kUsage;
  } catch (const std::exception& e) {
    if (stop_signal != 0) {  // a child that was being asked ended with us: no error of its own
      fmt::print(stderr, "interrupted\n");
      return 128 + stop_signal;
    }
    fmt::print(stderr, "error: {}\n", e.what());
    return kUsage;
  }
}

}  // namespace plumb
