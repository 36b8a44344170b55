// A program's run on the executor, begun by its first call, and the error that each call answers with.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#include "gpu/simt/host/api/runtime/devices.hpp"
#include "gpu/simt/host/api/runtime/operations.hpp"
#include "gpu/simt/host/ends.hpp"
#include "gpu/simt/host/processor_faults.hpp"
#include "gpu/simt/host/report/report_files.hpp"
#include "gpu/simt/host/report/suppressions.hpp"
#include "gpu/simt/host/report/telling.hpp"
#include "gpu/simt/state.hpp"
#include "reference/core/error.hpp"

namespace plumb::simt {

namespace {

cudaError_t last_error = cudaSuccess;

}  // namespace

// What the host would see after a finding that stops the device is no longer what the program says; a loop that waits for it never ends.
void end_if_stopped() {
  if (!is_telling() || !current().run.is_stopped) return;
  end_if_cut();
  const char* go_on = std::getenv("PLUMB_SIMT_GO_ON");
  if (go_on == nullptr || *go_on == 0 || *go_on == '0') std::exit(1);  // what is told at exit() says the rest
}

void end_unsupported(const char* what, Here here) {
  if (!is_telling()) return;
  report_now();
  write_report_files("what the executor does not support");
  std::fprintf(stderr, "not supported by the CPU executor: %s\n", what);
  if (here.line > 0) std::fprintf(stderr, "  at %s:%d\n", here.file, here.line);
  std::fflush(nullptr);
  leave(3);
}

void call_not_offered(const char* what, Here here) {
  begin_by_itself();
  end_unsupported(what, here);
}

bool runs_by_itself() { return is_telling(); }

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
  options.trails = page_is_asked_for();
  read_suppressions();
  begin_run(options);
  if (!is_telling()) watch_ends();
  begin_telling(options.seed);
}

void EngineMutex::unlock() {
  if (depth_ == 1 && is_telling() && !runs_in_kernel()) {
    try {
      tell_at_leaving();
    } catch (const std::bad_alloc&) {}  // it is found at the end
  }
  unlock_quietly();
}

void EngineMutex::begin_as_child() {
  const bool is_mine = owner_ == std::this_thread::get_id();
  const unsigned depth = is_mine ? depth_ : 0;
  new (&mutex_) std::recursive_mutex;
  depth_ = 0;
  enter_again(depth);
}

unsigned EngineMutex::leave() {
  const unsigned depth = depth_;
  for (unsigned i = 0; i < depth; ++i) unlock_quietly();
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
  if (e != cudaSuccess) last_error = e;
  return e;
}

cudaError_t host_status() { return current().run.is_stopped ? answer(stopped_by()) : cudaSuccess; }

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
  return sticky != cudaSuccess ? sticky : plumb::simt::last_error;
}
cudaError_t cudaGetLastError() {
  const cudaError_t e = cudaPeekAtLastError();
  plumb::simt::last_error = cudaSuccess;
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
