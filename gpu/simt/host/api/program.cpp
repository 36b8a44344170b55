// A program's run on the executor: begun by its first call, its findings told when it ends; and the error that each call answers with.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "gpu/simt/host/api/devices.hpp"
#include "gpu/simt/host/api/operations.hpp"
#include "gpu/simt/host/api/report_files.hpp"
#include "gpu/simt/host/api/suppressions.hpp"
#include "gpu/simt/host/processor_faults.hpp"
#include "gpu/simt/state.hpp"
#include "reference/core/error.hpp"

namespace plumb::simt {

namespace {

struct Program {
  bool reporting = false;  // the program began the run by itself
  std::size_t reported = 0, noted = 0, suppressed = 0;
  cudaError_t last = cudaSuccess;
  cudaError_t stopped_by = cudaErrorLaunchFailure;
};
Program the_program;
Program& program() { return the_program; }

const char* plural(std::size_t n) { return n == 1 ? "" : "s"; }

/// Tells all that is left to tell; the exit code that it asks for, 0: none.
int tell_the_rest() {
  report_now();
  write_report_files();
  if (current().run.skipped > 0) {
    std::fprintf(stderr,
                 "%lld later launch%s did nothing: the program was stopped, as after an error on a device\n",
                 static_cast<long long>(current().run.skipped), current().run.skipped == 1 ? "" : "es");
  }
  if (program().reported == 0 && !current().run.shortage.empty()) {
    std::fprintf(stderr, "stopped: the CPU executor is %s; this says nothing about the kernels\n",
                 current().run.shortage.c_str());
    return 2;
  }
  if (program().suppressed > 0) std::fprintf(stderr, "%zu suppressed\n", program().suppressed);
  tell_unused_suppressions();
  if (program().noted > 0) std::fprintf(stderr, "%zu note%s\n", program().noted, plural(program().noted));
  if (program().reported == 0) return 0;
  std::fprintf(stderr, "%zu finding%s\n", program().reported, plural(program().reported));
  return 1;
}

void report_at_exit() {
  enter_engine().unlock();  // what waits for other launches
  const int code = tell_the_rest();
  if (code == 0) return;
  std::fflush(nullptr);
  _exit(code);
}

// A program that gives up (assert() in host code, an exception that nobody catches) mostly does so for wrong numbers: what was found says
// why. It ends by the signal all the same.
void report_at_abort(int signal) {
  std::signal(signal, SIG_DFL);
  const auto lock = try_enter_engine();
  if (!lock.owns_lock() || runs_in_kernel()) return;  // the executor's own end
  run_postponed();
  tell_the_rest();
  std::fflush(nullptr);
}

cudaError_t error_of(const Finding& f) {
  if (f.kind == FindingKind::trap && f.text.find("assertion failed") != std::string::npos)
    return cudaErrorAssert;
  if (f.kind == FindingKind::misaligned) return cudaErrorMisalignedAddress;
  return cudaErrorLaunchFailure;
}

}  // namespace

void report_now() {
  if (!program().reporting) return;
  std::vector<Finding> found = take_findings();
  for (Finding& f : found) {
    // What stopped the program is told in any case: all that follows is missing.
    const bool stopped_it = current().run.is_stopped && &f == &found.back();
    if (!stopped_it) f.suppressed = suppressed_by(f);
    add_to_report_files(f);
    if (!f.suppressed.empty()) {
      ++program().suppressed;
      continue;
    }
    std::fputs(f.describe().c_str(), stderr);
    ++(f.is_note ? program().noted : program().reported);
    if (current().run.is_stopped && !f.is_note) program().stopped_by = error_of(f);
  }
  if (!current().run.shortage.empty()) program().stopped_by = cudaErrorMemoryAllocation;
  if (!current().run.refusal.text.empty()) answer(static_cast<cudaError_t>(current().run.refusal.error));
}

// What the host would see after a finding that stops the device is no longer what the program says; a loop that waits for it never ends.
void end_if_stopped() {
  if (!program().reporting || !current().run.is_stopped) return;
  const char* go_on = std::getenv("PLUMB_SIMT_GO_ON");
  if (go_on == nullptr || *go_on == 0 || *go_on == '0') std::exit(1);  // report_at_exit() says the rest
}

void end_unsupported(const char* what, Here here) {
  if (!program().reporting) return;
  report_now();
  write_report_files();
  std::fprintf(stderr, "not supported by the CPU executor: %s\n", what);
  if (here.line > 0) std::fprintf(stderr, "  at %s:%d\n", here.file, here.line);
  std::fflush(nullptr);
  _exit(3);
}

void call_not_offered(const char* what, Here here) {
  begin_by_itself();
  end_unsupported(what, here);
}

bool runs_by_itself() { return program().reporting; }

namespace {

// A variable of the environment that chooses between two words; the first is what holds without it.
bool chooses_second(const char* variable, const char* first, const char* second) {
  const char* word = std::getenv(variable);
  if (word == nullptr || *word == 0 || std::strcmp(word, first) == 0) return false;
  if (std::strcmp(word, second) == 0) return true;
  std::fprintf(stderr, "%s=%s: it is '%s' or '%s'\n", variable, word, first, second);
  _exit(2);
}

// PLUMB_SIMT_CHIP: sm_80, or 80.
void choose_chip(Options& options) {
  const char* word = std::getenv("PLUMB_SIMT_CHIP");
  if (word == nullptr || *word == 0) return;
  options.chip = std::atoi(std::strncmp(word, "sm_", 3) == 0 ? word + 3 : word);
  options.chip_is_told = true;
  try {
    (void)limits_of(options.chip);
  } catch (const Error& e) {
    std::fprintf(stderr, "PLUMB_SIMT_CHIP=%s: %s\n", word, e.what());
    _exit(2);
  }
}

Options options_of_environment() {
  Options options;
  const char* seed = std::getenv("PLUMB_SIMT_SEED");
  if (seed != nullptr) options.seed = std::strtoull(seed, nullptr, 10);
  choose_chip(options);
  options.check = !chooses_second("PLUMB_SIMT_UNCHECKED", "0", "1");
  options.strict = chooses_second("PLUMB_SIMT_STRICT", "0", "1");
  options.volatile_is_atomic = chooses_second("PLUMB_SIMT_VOLATILE", "plain", "atomic");
  return options;
}

}  // namespace

void begin_by_itself() {
  give_signal_stack();
  if (current().run.begun) return;
  const auto lock = enter_engine();
  if (current().run.begun) return;
  Options options = options_of_environment();
  open_report_files(options.seed);
  options.trails = page_is_asked_for();
  read_suppressions();
  begin_run(options);
  if (!program().reporting) {
    std::atexit(&report_at_exit);
    const auto before = std::signal(SIGABRT, &report_at_abort);
    if (before != SIG_DFL) std::signal(SIGABRT, before);  // the program's own
  }
  program().reporting = true;
}

unsigned EngineMutex::leave() {
  const unsigned depth = depth_;
  for (unsigned i = 0; i < depth; ++i) unlock();
  return depth;
}
void EngineMutex::enter_again(unsigned depth) {
  for (unsigned i = 0; i < depth; ++i) lock();
}

EngineMutex& engine() {
  static EngineMutex& mutex = *new EngineMutex;  // outlives the program's own statics
  return mutex;
}

EngineLock enter_engine() {
  EngineLock lock(engine());
  run_postponed();
  return lock;
}

EngineLock try_enter_engine() { return EngineLock(engine(), std::try_to_lock); }

cudaError_t answer(cudaError_t e) {
  if (e != cudaSuccess) program().last = e;
  return e;
}

cudaError_t host_status() { return current().run.is_stopped ? answer(program().stopped_by) : cudaSuccess; }

}  // namespace plumb::simt

// What tools/simt-nvcc puts in the place of a library's functions that the executor does not have.
extern "C" void plumb_simt_call_not_offered(const char* function) {
  plumb::simt::call_not_offered(function, {"", 0});
}

// ---- errors ----

cudaError_t cudaPeekAtLastError() {
  const plumb::simt::EngineLock lock(plumb::simt::engine());
  plumb::simt::run_what_may_be_refused();
  const cudaError_t sticky = plumb::simt::host_status();
  return sticky != cudaSuccess ? sticky : plumb::simt::program().last;
}
cudaError_t cudaGetLastError() {
  const cudaError_t e = cudaPeekAtLastError();
  plumb::simt::program().last = cudaSuccess;
  return e;
}
const char* cudaGetErrorString(cudaError_t e) {
  switch (e) {
#define PLUMB_CUDA_ERROR(name, value, text) \
  case name:                                \
    return text;
    PLUMB_CUDA_ERRORS(PLUMB_CUDA_ERROR)
#undef PLUMB_CUDA_ERROR
  }
  return "unrecognized error code";
}
const char* cudaGetErrorName(cudaError_t e) {
  switch (e) {
#define PLUMB_CUDA_ERROR(name, value, text) \
  case name:                                \
    return #name;
    PLUMB_CUDA_ERRORS(PLUMB_CUDA_ERROR)
#undef PLUMB_CUDA_ERROR
  }
  return "unrecognized error code";
}
