#include "verify/cli/verify_cli.hpp"

#include <signal.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include <fmt/format.h>

#include "datasets/io/output_file.hpp"
#include "reference/core/error.hpp"
#include "reference/core/exhaustion.hpp"
#include "verify/cli/gcn_command.hpp"
#include "verify/cli/judge_command.hpp"
#include "verify/cli/listing.hpp"
#include "verify/cli/mutants_command.hpp"
#include "verify/cli/needs.hpp"
#include "verify/cli/options.hpp"
#include "verify/cli/report_command.hpp"
#include "verify/cli/schemata_command.hpp"
#include "verify/engine/process/child.hpp"
#include "verify/engine/process/confinement.hpp"
#include "verify/engine/process/manifest.hpp"
#include "verify/judge/repro.hpp"
#include "verify/judge/sanitizer.hpp"
#include "verify/selection/selection.hpp"
#include "verify/sweep/sweep.hpp"

namespace plumb {
namespace {

int verify_checked(int argc, char** argv) {
  VerifyOptions o;
  if (const auto done = parse_options(argc, argv, o)) return *done;
  set_called_as(argv[0]);
  if (!o.list.empty())
    return print_list(o.list, {o.cases, o.tier, speed_of(o.devices, !rungs_wanted(o.variants)), o.why});
  if (!o.describe.empty()) return print_description(o.describe);
  if (!o.explain.empty()) return print_explanation(o.explain);
  if (o.cases == "gcn") return judge_gcns(o);
  check_threads();
  if (harness_is_broken()) return kBrokenHarness;
  if (const std::string why = o.require_gpu ? make_backend(Device::gpu)->why_not() : ""; !why.empty()) {
    fmt::print(stderr, "failed: --require-gpu: {}\n", why);
    return kFailed;
  }
  read_matrices_once();
  end_on_interrupt();
  if (!o.schemata.empty()) return run_schemata(o);
  return o.mutants ? run_mutants(o) : run_judging(std::move(o));
}

// Without fmt, which throws where stderr cannot be written either.
void say(const std::string& line) { std::fputs((line + "\n").c_str(), stderr); }

int report_error(const std::exception& e) {
  if (const auto* system = dynamic_cast<const std::system_error*>(&e);
      system != nullptr && system->code().value() == EPIPE)
    return kSignalled + SIGPIPE;  // the reader of the pipe has gone: end silently, as other programs do
  if (stop_signal != 0) {         // the signal also ended the child that was asked: no error of its own
    say("interrupted");
    return kSignalled + stop_signal;
  }
  say("error: " + ending_text(e));
  return kUsage;
}

int verify_code(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--worker") == 0) return worker_main();
  // neither guarded nor confined: compute-sanitizer must be able to inject itself
  const bool watched = argc > 2 && std::strcmp(argv[1], "--sanitized") == 0;
  if (!watched) {
    guard_judge();
    end_where_memory_is_exhausted(remove_unfinished_outputs);
  }
  try {
    if (watched) return sanitized_main(argc, argv);
    if (argc > 1 && std::strcmp(argv[1], "--needs") == 0) return print_needs(argc - 1, argv + 1);
    const bool reports = argc > 1 && std::strcmp(argv[1], "report") == 0;
    const int code = reports ? report_main(argc - 1, argv + 1) : verify_checked(argc, argv);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      if (errno == EPIPE) return kSignalled + SIGPIPE;
      say(fmt::format("error: standard output: {}", std::strerror(errno)));
      return code == kFailed ? kFailed : kUsage;
    }
    return code;
  } catch (const std::exception& e) { return report_error(e); }
}

}  // namespace

int verify_main(int argc, char** argv) {
  const int code = verify_code(argc, argv);
  note_own_end();
  return code;
}

}  // namespace plumb
