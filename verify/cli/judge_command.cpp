#include "verify/cli/judge_command.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <omp.h>

#include "reference/core/error.hpp"
#include "reference/core/threads.hpp"
#include "tools/terminal.hpp"
#include "tools/version.hpp"
#include "verify/cli/needs.hpp"
#include "verify/engine/backend/cuda_driver.hpp"
#include "verify/engine/process/plugin_host.hpp"
#include "verify/engine/process/simt_device.hpp"
#include "verify/engine/process/user_files.hpp"
#include "verify/report/failure_folder.hpp"
#include "verify/report/reporter.hpp"
#include "verify/selection/built.hpp"
#include "verify/selection/selection.hpp"
#include "verify/selection/user_constants.hpp"
#include "verify/sweep/judge_sweep.hpp"
#include "verify/sweep/sanitize_sweep.hpp"
#include "verify/sweep/shrink_sweep.hpp"
#include "verify/sweep/sweep.hpp"

namespace plumb {
namespace {

// Kernels of Python. Those for a GPU run on the CPU executor, too, where that is asked for, or where there is no GPU, the file holds no others
// and no device is named; it then looks for races, as nothing else does.
std::vector<VariantInfo> variants_in_python(VerifyOptions& o) {
  if (o.python.empty()) return {};
  const bool simt = device_wanted(o.devices, Device::simt);
  std::vector<VariantInfo> all = variants_of_plugins(o.python, python_worker(simt));
  const auto on_gpu = [](const VariantInfo& v) { return v.device == Device::gpu; };
  const bool executor = simt || (o.devices.empty() && std::all_of(all.begin(), all.end(), on_gpu) &&
                                 !why_no_cuda_driver().empty());
  if (!executor) return all;
  if (o.devices.empty()) {
    o.devices = {"simt"};
    if (!o.quiet)
      fmt::print(stderr, "note: kernels for a GPU are judged on the CPU executor, as by --device simt\n");
  }
  if (o.devices == std::vector<std::string>{"simt"}) o.run.race = true;
  std::vector<VariantInfo> copies;
  std::copy_if(all.begin(), all.end(), std::back_inserter(copies), on_gpu);
  for (VariantInfo& v : all) v.program = python_worker(false);
  for (VariantInfo& v : copies) v.device = Device::simt, v.program = python_worker(true);
  all.insert(all.end(), copies.begin(), copies.end());
  return all;
}

// A plug-in alone is what is judged: its operators, its variants.
void select_plugins(VerifyOptions& o, const std::vector<VariantInfo>& of_plugins) {
  if (of_plugins.empty()) return;
  if (!o.plugins.empty() && o.devices == std::vector<std::string>{"simt"})
    throw Error(
        "--plugin and --device simt: a plug-in holds compiled device code, which the CPU executor cannot "
        "run; give "
        "it the source: tools/plumb --extra DIR verify, or tools/plumb simt FILES.cu");
  if (o.variants.empty()) o.variants = {"user/*"};
  if (!o.cases.empty()) return;
  std::set<std::string> ops;
  for (const VariantInfo& v : of_plugins) ops.insert(v.op);
  o.cases = fmt::format("{}", fmt::join(ops, ","));
}

// What the CPU executor holds: rungs of this tree, and a user's. False where its build is defective.
bool add_simt(VerifyOptions& o, std::vector<VariantInfo>& more) {
  std::vector<std::string> defects;
  for (VariantInfo& v : list_user_simt(defects)) more.push_back(std::move(v));
  if (rungs_wanted(o.variants)) {
    o.run.simt_program = simt_program();
    if (o.run.simt_program.empty())
      throw Error(
          fmt::format("--device simt: its worker is not beside {} (tools/plumb build plumb_simt_worker)",
                      this_program()));
    for (VariantInfo& v : list_simt(o.run.simt_program, defects)) more.push_back(std::move(v));
    for (VariantInfo& v : absent_from_simt()) more.push_back(std::move(v));
  }
  for (const std::string& d : defects) fmt::print(stderr, "broken harness: {}\n", d);
  return defects.empty();
}

void add_stress(const VerifyOptions& o, VariantChoice& choice) {
  if (o.run.stress == 0 || !device_wanted(o.devices, Device::gpu)) return;
  for (const char* worker : {"plumb_stress_worker", "plumb_user_stress_worker"}) {
    const std::string program = worker_beside(worker);
    if (program.empty()) continue;
    std::vector<std::string> ignored;  // it holds a part of what the CPU executor's manifest lists
    for (const VariantInfo& v : list_simt(program, ignored)) choice.stressed[type_key(v)] = program;
  }
  if (choice.stressed.empty() && !o.quiet && !o.dry_run)
    fmt::print(stderr,
               "--stress: plumb_stress_worker is not built, so nothing is delayed inside of kernels "
               "(tools/plumb verify --stress builds it)\n");
}

// What compute-sanitizer checks: variants in a type, each on a case that is found for it.
std::set<std::string> types_of(const std::vector<Job>& jobs) {
  std::set<std::string> types;
  for (const Job& job : jobs) {
    for (const VariantInfo& v : job.variants) types.insert(type_key(v));
  }
  return types;
}

int dry_run(const VerifyOptions& o, const Plan& plan) {
  if (o.tools.empty()) {
    for (const Job& job : plan.jobs) {
      for (const VariantInfo& v : job.variants) fmt::print("{}  {}\n", job.c.id(), v.name);
    }
    fmt::print("would judge {} records on {} cases\n", plan.records, plan.jobs.size());
    return kOk;
  }
  std::set<std::string> types = types_of(plan.jobs);
  const std::size_t records = types.size() * o.tools.size();
  for (const Job& job : plan.jobs) {
    for (const VariantInfo& v : job.variants) {
      if (types.erase(type_key(v)) > 0)
        fmt::print("{}.{}  {}  under {}\n", v.op, name(v.dtype), v.name, o.sanitize);
    }
  }
  fmt::print("would judge {} records, each on the smallest case of several tiles\n", records);
  return kOk;
}

struct UsedDevice {
  Device device;
  bool there;
  std::string line;  // what it is, or why it is not there
};

// A GPU as workers of another language see it: whether this program was built for one is nothing to them.
UsedDevice device_of_driver() {
  const std::string absent = why_no_cuda_driver();
  return {Device::gpu, absent.empty(),
          fmt::format("{}: {}", name(Device::gpu), absent.empty() ? describe_cuda_device() : absent)};
}

std::vector<UsedDevice> devices_of(const std::vector<Job>& jobs) {
  std::set<Device> used;
  bool by_driver = false;
  for (const Job& job : jobs) {
    for (const VariantInfo& v : job.variants) {
      by_driver = by_driver || v.is_of_framework_on_gpu();
      if (!v.is_of_framework_on_gpu()) used.insert(v.device);
    }
  }
  std::vector<UsedDevice> all;
  if (by_driver) all.push_back(device_of_driver());
  for (const Device d : used) {
    if (d == Device::simt) {
      all.push_back({d, true, "simt: the CPU executor"});
      continue;
    }
    const std::unique_ptr<Backend> backend = make_backend(d);
    const std::string absent = backend->why_not();
    all.push_back(
        {d, absent.empty(), fmt::format("{}: {}", name(d), absent.empty() ? backend->describe() : absent)});
  }
  return all;
}

std::vector<std::string> lines_of(const std::vector<UsedDevice>& devices) {
  std::vector<std::string> lines;
  for (const UsedDevice& d : devices) lines.push_back(d.line);
  return lines;
}

// Cases judged side by side where --jobs says nothing. The judge waits while a host variant runs and the variant while it is judged: two
// cases keep two cores at work. A device, large cases and a user's matrices may not have the memory for two.
int default_jobs(const VerifyOptions& o, const Plan& plan, const std::vector<UsedDevice>& devices) {
  const bool host_alone = std::all_of(devices.begin(), devices.end(), [](const UsedDevice& d) {
    return d.device == Device::cpu || !d.there;
  });
  const bool small = o.tier == Tier::smoke && o.matrices.empty();
  const bool apart = o.run.isolation != Isolation::none;
  if (!host_alone || !small || !apart || plan.jobs.size() < 2) return 1;
  std::size_t children = 0;
  for (const Job& job : plan.jobs) children = std::max(children, job.variants.size());
  const int threads = 2 * static_cast<int>(children) * omp_get_max_threads();
  return omp_get_max_threads() > 1 && startable_threads(threads) == threads ? 2 : 1;
}

// The reports of one run: all that are asked for, and the console.
class Reports {
 public:
  Reports(const VerifyOptions& o, const RunInfo& info) {
    out_ = o.report_on_stdout() ? stderr : stdout;
    color_ = !o.no_color && wants_color(out_);
    all_.push_back(make_console({color_, !o.quiet, o.verbose, o.quiet, out_, o.all || o.verbose}));
    if (!o.json.empty()) all_.push_back(make_json_lines(o.json));
    if (!o.junit.empty()) all_.push_back(make_junit(o.junit));
    if (!o.csv.empty()) all_.push_back(make_csv(o.csv));
    if (!o.html.empty()) all_.push_back(make_html(o.html));
    if (!o.markdown.empty()) all_.push_back(make_markdown(o.markdown));
    if (!o.save_failing.empty()) failures_.emplace(o.save_failing);
    planned_ = info.planned;
    for (const auto& r : all_) r->begin(info);
  }

  void save_failures(RunOptions& run) {
    if (failures_) run.on_failure = [this](const Failure& f) { failures_->save(f); };
  }

  void take(const Record& r) {
    totals_.count(r);
    for (const auto& reporter : all_) reporter->record(r);
  }

  // Ends every report. Returns false where one could not be written.
  bool end(double seconds) {
    for (const auto& r : all_) r->end(totals_, seconds);
    std::vector<std::string> write_errors;
    for (const auto& r : all_) write_errors.push_back(r->write_error());
    if (failures_) write_errors.push_back(failures_->write_error());
    bool whole = true;
    for (const std::string& what : write_errors) {
      if (!what.empty()) fmt::print(stderr, "error: {}\n", what), whole = false;
    }
    if (stop_signal != 0) fmt::print(out_, "interrupted: {} of {} records\n", totals_.all(), planned_);
    fmt::print(out_, "{}\n", last_line(totals_, seconds, color_));
    std::fflush(out_);
    return whole;
  }

  [[nodiscard]] const Totals& totals() const { return totals_; }

 private:
  std::FILE* out_ = stdout;
  bool color_ = false;
  std::vector<std::unique_ptr<Reporter>> all_;
  std::optional<FailureFolder> failures_;
  Totals totals_;
  std::int64_t planned_ = 0;
};

void shrink(const VerifyOptions& o, const FirstFailures& first, const RunOptions& run) {
  std::FILE* const out = o.report_on_stdout() ? stderr : stdout;
  shrink_failures(first.all(), run, [&](const SmallerCase& s) {
    fmt::print(out, "smallest case on which {} fails alike ({}, of {}; {} cases judged):\n      repro: {}\n",
               s.failing.variant.name, name(s.failing.verdict), s.failing.c.id(), s.runs, s.repro);
    std::fflush(out);
  });
}

int judge(const VerifyOptions& o, const Plan& plan) {
  RunOptions run = o.run;
  require_child(run);
  const std::int64_t planned =
      o.tools.empty() ? plan.records : static_cast<std::int64_t>(types_of(plan.jobs).size() * o.tools.size());
  const std::vector<UsedDevice> devices = devices_of(plan.jobs);
  const int workers = o.jobs > 0 ? o.jobs : default_jobs(o, plan, devices);
  Reports reports(o,
                  {o.command, kVersion, make_backend(Device::cpu)->describe(), lines_of(devices), planned});
  reports.save_failures(run);
  const auto start = std::chrono::steady_clock::now();
  std::optional<FirstFailures> first;
  if ((o.shrink || o.drawn > 0) && o.tools.empty()) first.emplace(plan.jobs);
  const auto take = [&](const Record& r) {
    reports.take(r);
    if (first) first->take(r);
  };
  const std::exception_ptr failure =
      o.tools.empty() ? judge_jobs(plan.jobs, run, {workers, o.fail_fast, o.all}, take)
                      : sanitize_jobs(plan.jobs, run, {o.tools, workers, o.fail_fast}, take);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!failure && first) shrink(o, *first, run);
  const bool whole = reports.end(seconds);
  if (failure) std::rethrow_exception(failure);
  const ExitCode code = exit_code(reports.totals());
  if (code == kFailed && stop_signal == 0) return kFailed;
  if (!whole) return kUsage;
  return stop_signal != 0 ? kSignalled + stop_signal : code;
}

}  // namespace

int run_judging(VerifyOptions o) {
  VariantChoice choice;
  choice.more = variants_of_plugins(o.plugins);
  const std::vector<VariantInfo> python = variants_in_python(o);
  choice.more.insert(choice.more.end(), python.begin(), python.end());
  select_plugins(o, choice.more);
  if (o.drawn > 0 && !o.matrices.empty()) throw Error("--drawn and --matrix: choose one");
  if (o.cases.empty() && (!o.matrices.empty() || o.drawn > 0)) o.cases = "all";
  if (o.cases.empty()) throw Error("say what to judge: --case all, or --case GLOB (verify --help)");
  if (!user_files().empty() && o.variants.empty()) o.variants = {"user/*"};
  if (const std::string note = choose_device_of_folder(o); !note.empty() && !o.quiet)
    fmt::print(stderr, "note: {}\n", note);
  if (rungs_wanted(o.variants)) require_kernels(o.cases, device_wanted(o.devices, Device::simt));
  if (device_wanted(o.devices, Device::simt) && !add_simt(o, choice.more)) return kBrokenHarness;
  add_stress(o, choice);
  choice.globs = o.variants, choice.devices = o.devices;

  CaseChoice cases;
  cases.cases = o.cases, cases.tier = o.tier, cases.fills = o.fills, cases.seed = o.seed;
  cases.matrices = o.matrices, cases.listed_too = o.listed_too, cases.drawn = o.drawn;
  const CaseSpeed speed = speed_of(o.devices, !rungs_wanted(o.variants));
  if (!o.listed) cases.covers = speed;
  if (on_executor(speed)) cases.limit = {5e4, 3e5};
  if (o.drawn > 0) {
    const UserConstants constants = user_constants(choice);
    cases.beside = constants.beside;
    for (const std::string& note : constants.notes) {
      if (!o.quiet) fmt::print(stderr, "note: sizes beside the constants of {}\n", note);
    }
  }
  const ChosenCases chosen = select_cases(cases);
  if (!o.quiet) {
    for (const std::string& note : chosen.notes) fmt::print(stderr, "note: {}\n", note);
  }
  const Plan plan = plan_jobs(chosen, choice, o.shard, o.shards);
  if (plan.jobs.empty()) {
    fmt::print(o.report_on_stdout() ? stderr : stdout, "verify: nothing to judge: {}\n", plan.why_none);
    return kNothingRan;
  }
  return o.dry_run ? dry_run(o, plan) : judge(o, plan);
}

}  // namespace plumb
