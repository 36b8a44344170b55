// Kernels that attack their judge (adversary/kernels.cpp), each in a child process as `verify` runs it: every one gets its verdict,
// and a right kernel judged after it passes. One that got away would be a defect of the engine.
#include <omp.h>

#include <doctest/doctest.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "verify/engine/operator/operators.hpp"
#include "verify/engine/process/confinement.hpp"
#include "verify/judge/mistrust.hpp"
#include "verify/judge/runner.hpp"

using namespace plumb;

namespace {

Record judge_on(const Case& c, const std::string& variant, double timeout = 60, OomCounter counter = {}) {
  static const bool guarded = [] {
    guard_judge();
    return true;
  }();
  (void)guarded;
  RunOptions options;
  options.program = PLUMB_ADVERSARY;
  options.timeout = timeout;
  options.oom_counter = std::move(counter);
  Runner runner(options);
  const OperatorEntry& entry = find_operator(c.op);
  const auto prepared = entry.prepare(c);
  REQUIRE(why_mistrusted(c, *prepared).empty());
  VariantInfo v;
  v.op = c.op, v.name = "cpu/" + variant;
  return runner.judge(c, *prepared, v);
}

Record judge(const std::string& variant, double timeout = 60, OomCounter counter = {}, int seed = 5) {
  const Case c = parse_case(fmt::format("transpose.f32(rows=37,cols=23,fill=real,seed={})", seed));
  return judge_on(c, variant, timeout, std::move(counter));
}

// Children of this process, zombies too.
bool childless() { return waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD; }

// Judges the variant "killed", whose process is killed the first `times` times that it runs.
Record judge_killed(int times, OomCounter counter) {
  char path[] = "/tmp/plumbline-kills-XXXXXX";
  const int file = mkstemp(path);
  REQUIRE(file >= 0);
  REQUIRE(ftruncate(file, times) == 0);
  close(file);
  setenv("PLUMB_TEST_KILLS", path, 1);
  Record r = judge("killed", 60, std::move(counter));
  unlink(path);
  return r;
}

// The output of `verify` on one case under a limit of the shell. A minute bounds a hang.
std::string judged_under(const std::string& limit) {
  const std::string command =
      limit + "; timeout -s KILL 60 " PLUMB_VERIFY
              " --case 'transpose.f32(rows=37,cols=23,fill=real,seed=5)' --variant 'cpu/01*' 2>&1";
  std::FILE* pipe = popen(("sh -c \"" + command + "\"").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  char buffer[512];
  while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) text += buffer;
  const int status = pclose(pipe);
  CHECK_MESSAGE((WIFEXITED(status) && WEXITSTATUS(status) != 128 + SIGKILL), "hung");
  return text;
}

bool has_detail(const Record& r, const std::string& words) {
  return std::any_of(r.detail.begin(), r.detail.end(),
                     [&](const std::string& line) { return line.find(words) != std::string::npos; });
}

void meets(const std::string& variant, const std::set<Verdict>& verdicts, const std::string& words = "",
           double timeout = 60) {
  INFO(variant);
  const Record r = judge(variant, timeout);
  INFO(r.reason);
  CHECK_MESSAGE(verdicts.count(r.verdict) == 1, name(r.verdict));
  // a sanitizer's runtime turns a SIGSEGV into an exit of its own
  if (!is_sanitized()) CHECK(r.reason.find(words) != std::string::npos);
  CHECK(childless());
  CHECK(judge("right").verdict == Verdict::pass);
}

}  // namespace

TEST_CASE("a correct kernel passes in a child process over many runs") {
  const Record r = judge("right");
  CHECK(r.verdict == Verdict::pass);
  CHECK(r.runs > 16);
}

TEST_CASE("a kernel that writes nothing, or old content of its memory, never finds the answer there") {
  meets("writes_nothing", {Verdict::unwritten});
  meets("recycled", {Verdict::fail, Verdict::unwritten, Verdict::nondeterministic});
}

TEST_CASE("a kernel that is correct only for the first calls, or only until the data changes, fails") {
  meets("ten_calls", {Verdict::fail, Verdict::nondeterministic});
  meets("caches_by_pointer", {Verdict::fail}, "old answer");
  meets("static_state", {Verdict::fail, Verdict::nondeterministic});
}

TEST_CASE("a kernel that goes wrong at its 17th, 100th or 200th call is not right, and the call is named") {
  for (const char* kernel : {"wrong_at_call_17", "wrong_at_call_100", "wrong_from_call_200"}) {
    CAPTURE(std::string(kernel));
    const Record r = judge(kernel);
    CHECK((r.verdict == Verdict::fail || r.verdict == Verdict::nondeterministic));
    REQUIRE(!r.detail.empty());
    CHECK(r.detail.front().find("in a row, on the same data, differed from the first") != std::string::npos);
  }
}

TEST_CASE("what is kept under one size meets another size at the same addresses") {
  const Record r = judge("keeps_order_by_rows");
  CHECK(r.verdict == Verdict::fail);
  CHECK_MESSAGE(r.reason.starts_with("new data, old answer?"), r.reason);
  CHECK(has_detail(r, "a fresh process gives the right answer on it"));
}

TEST_CASE("a kernel that is wrong on a twin alone and remembers nothing is not said to remember") {
  // right where the first element is negative in the case: in some twins it is not
  int told = 0;
  for (int seed = 1; seed <= 40; ++seed) {
    const Record r = judge("loses_a_sign", 60, {}, seed);
    CHECK(r.reason.find("old answer") == std::string::npos);
    told += has_detail(r, "gives it wrong too: nothing was remembered") ? 1 : 0;
  }
  CHECK(told > 0);
}

TEST_CASE("what a failing run has and a passing one has not is named") {
  int named = 0;
  for (int seed = 1; seed <= 200 && named == 0; ++seed) {
    const Record r = judge("wrong_with_odd_teams", 60, {}, seed);
    if (is_passed(r.verdict)) continue;
    CHECK(has_detail(r, "every run that failed, and no other, has"));
    CHECK(has_detail(r, "OpenMP threads: 33"));
    ++named;
  }
  CHECK(named == 1);
}

TEST_CASE("what a kernel prints is shown where it does not pass") {
  const Record r = judge("says_and_fails");
  CHECK(r.verdict == Verdict::fail);
  CHECK(has_detail(r, "its process printed: row 3 has no entries"));
  for (const std::string& line : judge("chatters").detail) CHECK(line.find("printed") == std::string::npos);
}

TEST_CASE("what grows is found where an array is empty, and is not the runtime's") {
  if (is_sanitized()) return;
  const Case empty = parse_case("transpose.f32(rows=37,cols=0,fill=real,seed=5)");
  const Record r = judge_on(empty, "leaks_without_elements");
  CHECK(r.verdict == Verdict::error);
  CHECK_MESSAGE(r.reason.starts_with("leaks blocks of the heap: 1 a call"), r.reason);
  CHECK(judge("leaks_without_elements").verdict == Verdict::pass);
  const Record tasks = judge("tasks_with_dependences");
  CHECK_MESSAGE(tasks.verdict == Verdict::pass, tasks.reason);
  const Record taken = judge("takes_what_went_uncounted");
  CHECK_MESSAGE(taken.verdict == Verdict::pass, taken.reason);
  meets("leaks_by_the_runtime", {Verdict::error}, "leaks blocks of the heap: 1 a call");
}

TEST_CASE("a plan that is used again and again is judged by each of its runs") {
  const Record r = judge("plan_wears_out");
  CHECK((r.verdict == Verdict::fail || r.verdict == Verdict::nondeterministic));
  REQUIRE(!r.detail.empty());
  CHECK(r.detail.front().find("run 11 of 16 of one plan") != std::string::npos);
}

TEST_CASE("threads that another problem of the same arrays is the first to want are none that were left") {
  for (int seed = 1; seed <= 8; ++seed) {
    const Case c = parse_case(fmt::format("reduce.f32(kind=max,n=49,fill=real,seed={})", seed));
    const Record r = judge_on(c, "threads_for_sums");
    CHECK_MESSAGE(r.verdict == Verdict::pass, r.reason);
  }
}

TEST_CASE("what grows with the calls is a leak, and what is filled once is none") {
  CHECK(judge("caches_once").verdict == Verdict::pass);
  meets("leaves_child", {Verdict::error}, "left a process running");
  meets("leaks_thread", {Verdict::error}, "threads");
  if (is_sanitized()) return;  // its runtime stands where the functions of verify/interposed would
  meets("leaks_heap", {Verdict::error}, "leaks blocks of the heap: 1 a call");
  meets("leaks_array", {Verdict::error}, "leaks bytes of the heap: 48 a call");
  meets("leaks_map", {Verdict::error}, "leaks pages of address space: 1 a call");
  meets("leaks_descriptor", {Verdict::error}, "leaks file descriptors: 1 a call");
}

TEST_CASE(
    "a kernel that leaves its thread computing otherwise is an error, and the next one computes as before") {
#if defined(__SSE__)
  meets("leaves_flushing", {Verdict::error},
        "subnormal results are flushed to 0, before the call they were not");
#endif
  meets("leaves_rounding", {Verdict::error}, "leaves the floating-point environment of its thread changed");
  CHECK(judge("right").verdict == Verdict::pass);
}

TEST_CASE("a kernel that changes a setting of its caller is an error, and the next one has it as before") {
  meets("leaves_threads", {Verdict::error},
        "leaves a setting of its caller changed: OpenMP's number of threads");
  if (omp_get_num_procs() > 1)
    meets("leaves_processors", {Verdict::error},
          "processors that the calling thread may run on is 1, before");
  CHECK(judge("right").verdict == Verdict::pass);
}

TEST_CASE("a write to memory that a kernel must not write is detected") {
  meets("changes_input", {Verdict::input_modified});
  meets("past_the_end", {Verdict::out_of_bounds});
  meets("far_past_the_end", {Verdict::crash}, "SIGSEGV");
}

TEST_CASE("a read past the end of an input is a crash in some case of four, whatever becomes of its value") {
  int crashes = 0;
  for (int seed = 1; seed <= 16; ++seed)
    crashes += judge("reads_past_an_input", 60, {}, seed).verdict == Verdict::crash;
  CHECK(crashes > 0);
  CHECK(crashes < 16);
  for (int seed = 1; seed <= 16; ++seed) CHECK(judge("right", 60, {}, seed).verdict == Verdict::pass);
}

TEST_CASE("a workspace that is used after its run is named, whatever becomes of it") {
  meets("keeps_workspace", {Verdict::crash},
        "used a workspace of 64 bytes after its run had ended, at byte 0");
}

TEST_CASE("a read behind a workspace is detected, though no number shows it") {
  meets("reads_behind_workspace", {Verdict::crash}, "SIGSEGV");
}

TEST_CASE("a read before the first array is detected, though no number shows it") {
  meets("reads_before_the_image", {Verdict::crash}, "SIGSEGV");
}

TEST_CASE("a kernel that hangs is ended at the time limit") {
  meets("deadlock", {Verdict::timeout}, "did not end", 0.3);
  meets("spins", {Verdict::timeout}, "did not end", 0.3);
  meets("half_a_message", {Verdict::timeout}, "did not end", 0.3);
}

TEST_CASE("what a kernel waits for a processor does not count towards its time limit") {
  if (is_sanitized()) return;  // its start takes longer than the limit
  if (::access("/proc/self/schedstat", R_OK) != 0) {
    MESSAGE("skipped: this system does not count what a process waits for a processor");
    return;
  }
  cpu_set_t before, one;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  // of the child too, and of those that take its processor
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  std::atomic<bool> on{true};
  std::vector<std::thread> others;
  for (int i = 0; i < 5; ++i) {
    others.emplace_back([&on] {
      while (on) {}
    });
  }
  const Record r = judge("takes_its_time", 0.6);  // of which it has a sixth
  on = false;
  for (std::thread& t : others) t.join();
  CHECK(sched_setaffinity(0, sizeof before, &before) == 0);
  CHECK_MESSAGE(r.verdict == Verdict::pass, r.reason);
  CHECK(r.seconds > 0.6);
}

TEST_CASE("a kernel that ends its process is a crash, reported with its last output") {
  meets("aborts", {Verdict::crash},
        "SIGABRT in the middle of a run; last words: terminate called, says the kernel");
  meets("leaves_by_exit", {Verdict::crash}, "exited with code 0");
  meets("leaves_by_underscore_exit", {Verdict::crash}, "exited with code 0");
}

TEST_CASE("a kernel that writes to the control socket, closes it, or cuts the shared image gains nothing") {
  meets("garbage_on_the_wire", {Verdict::crash}, "wrote to the control socket");
  meets("closes_the_wire", {Verdict::crash}, "control socket");
  meets("truncates_the_image", {Verdict::pass});  // the image is sealed: nothing happened
  meets("chatters", {Verdict::pass});
}

TEST_CASE("processes and threads left behind are found, and are gone afterwards") {
  meets("double_forks", {Verdict::error}, "left a process running");
  // mostly a write between two runs, where the image is out of reach; on a busy machine it may meet a later run
  // in a later run, another array or none may lie where it writes
  meets("late_thread", {Verdict::crash, Verdict::fail, Verdict::nondeterministic, Verdict::input_modified,
                        Verdict::out_of_bounds});
  // too late for its own run, its answer lands in whatever a later one has there
  meets("returns_early", {Verdict::crash, Verdict::unwritten, Verdict::fail, Verdict::nondeterministic,
                          Verdict::out_of_bounds, Verdict::input_modified});
  meets("idle_threads", {Verdict::error}, "leaves threads running");
}

TEST_CASE("a kernel that accesses the process of its judge is ended, and cannot read its memory") {
  if (is_sanitized()) return;  // their runtimes need what is closed here
  meets("kills_its_judge", {Verdict::crash}, "SIGSYS");
  meets("kills_everything", {Verdict::crash}, "SIGSYS");
  meets("starves_its_judge", {Verdict::crash}, "SIGSYS");
  meets("attaches_to_the_judge", {Verdict::crash}, "SIGSYS");
  meets("copies_from_the_judge", {Verdict::crash}, "SIGSYS");
  const Record r = judge("reads_the_judge");
  CHECK(r.verdict == Verdict::pass);
  CHECK(r.chosen == "kept out");
}

TEST_CASE(
    "a process that the system killed for lack of memory is run again, and skipped when it happens again") {
  std::int64_t counted = 0;
  const OomCounter grows = [&] {
    return ++counted;
  };  // as if every SIGKILL were the kernel's for want of memory
  const Record once = judge_killed(1, grows);
  CHECK_MESSAGE(once.verdict == Verdict::pass, once.reason);
  const Record always = judge_killed(1000, grows);
  CHECK(always.verdict == Verdict::skip);
  CHECK(always.reason.find("out of memory") == 0);
  const Record by_itself = judge_killed(1, [] { return std::int64_t{7}; });
  CHECK(by_itself.verdict == Verdict::crash);
  CHECK(by_itself.reason.find("SIGKILL") != std::string::npos);
}

TEST_CASE("a lack of file descriptors is reported as the judge's, not as the kernel's error") {
  rlimit usual{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &usual) == 0);
  for (const rlim_t files : {rlim_t{5}, rlim_t{11}}) {
    const rlimit few{files, usual.rlim_max};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &few) == 0);
    const Record r = judge("right");
    setrlimit(RLIMIT_NOFILE, &usual);
    CHECK(r.verdict == Verdict::skip);
    CHECK_MESSAGE(
        r.reason == fmt::format("cannot start a child process: Too many open files (ulimit -n is {})", files),
        r.reason);
  }
  CHECK(judge("right").verdict == Verdict::pass);
}

TEST_CASE("a lack of address space by `ulimit -v` is never reported as a kernel's crash or error") {
  if (is_sanitized()) return;  // their shadow memory needs all of it
  int started = 0;
  for (const int mib : {100, 150, 200, 250, 300, 400, 4000, 8000}) {
    const std::string text = judged_under("ulimit -v " + std::to_string(mib * 1024));
    INFO(mib, " MiB: ", text);
    // a build with CUDA's libraries takes more than that before main()
    if (text.find("error while loading shared libraries") != std::string::npos) continue;
    ++started;
    CHECK(!text.empty());  // it ended, and said something
    CHECK(text.find("CRASH") == std::string::npos);
    CHECK(text.find("ERROR") == std::string::npos);
    CHECK((text.find(" 0 failed") != std::string::npos || text.find("(ulimit -v is ") != std::string::npos));
  }
  CHECK(started >= 2);
}

TEST_CASE("a kernel that takes all memory is ended, and no other process is") {
  if (is_sanitized()) return;
  meets("eats_memory", {Verdict::error, Verdict::crash});
}
