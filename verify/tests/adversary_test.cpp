// Kernels that attack their judge (adversary/kernels.cpp), each in a child process as `verify` runs it: every one gets its verdict,
// and a right kernel judged after it passes. One that got away would be a defect of the engine.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cerrno>
#include <set>
#include <string>

#include "verify/engine/confinement.hpp"
#include "verify/engine/runner.hpp"

using namespace plumb;

namespace {

Record judge(const std::string& variant, double timeout = 20) {
  static const bool guarded = [] {
    guard_judge();
    return true;
  }();
  (void)guarded;
  RunOptions options;
  options.program = PLUMB_ADVERSARY;
  options.timeout = timeout;
  Runner runner(options);
  const OperatorEntry& entry = find_operator("transpose");
  const Case c = parse_case("transpose.f32(rows=37,cols=23,fill=real,seed=5)");
  const auto prepared = entry.prepare(c);
  REQUIRE(runner.mistrust(c, *prepared).empty());
  VariantInfo v;
  v.op = "transpose", v.name = "cpu/" + variant;
  return runner.judge(c, *prepared, v);
}

// Children of this process, zombies too.
bool childless() { return waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD; }

void meets(const std::string& variant, std::set<Verdict> verdicts, const std::string& words = "",
           double timeout = 20) {
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

TEST_CASE("a right kernel passes in a child process, over a long row of runs") {
  const Record r = judge("right");
  CHECK(r.verdict == Verdict::pass);
  CHECK(r.runs > 16);
}

TEST_CASE("a kernel that writes nothing, or what lay in recycled memory, never meets the answer there") {
  meets("writes_nothing", {Verdict::unwritten});
  meets("recycled", {Verdict::fail, Verdict::unwritten, Verdict::nondeterministic});
}

TEST_CASE("right for the first calls only, or only until the data changes, is not right") {
  meets("ten_calls", {Verdict::fail, Verdict::nondeterministic});
  meets("caches_by_pointer", {Verdict::fail}, "old answer");
  meets("static_state", {Verdict::fail, Verdict::nondeterministic});
}

TEST_CASE("what a kernel has no business to write is noticed") {
  meets("changes_input", {Verdict::input_modified});
  meets("past_the_end", {Verdict::out_of_bounds});
  meets("far_past_the_end", {Verdict::crash}, "SIGSEGV");
}

TEST_CASE("a kernel that hangs is ended when its time is up") {
  meets("deadlock", {Verdict::timeout}, "did not end", 0.3);
  meets("spins", {Verdict::timeout}, "did not end", 0.3);
  meets("half_a_message", {Verdict::timeout}, "did not end", 0.3);
}

TEST_CASE("a kernel that ends its process is a crash, with its last words") {
  meets("aborts", {Verdict::crash},
        "SIGABRT in the middle of a run; last words: terminate called, says the kernel");
  meets("leaves_by_exit", {Verdict::crash}, "exited with code 0");
  meets("leaves_by_underscore_exit", {Verdict::crash}, "exited with code 0");
}

TEST_CASE("a kernel that speaks on the judge's wire, closes it, or cuts the shared image gains nothing") {
  meets("garbage_on_the_wire", {Verdict::crash}, "wire");
  meets("closes_the_wire", {Verdict::crash}, "wire");
  meets("truncates_the_image", {Verdict::pass});  // the image is sealed: nothing happened
  meets("chatters", {Verdict::pass});
}

TEST_CASE("processes and threads left behind are found, and are gone afterwards") {
  meets("double_forks", {Verdict::error}, "left a process running");
  meets("late_thread", {Verdict::crash}, "SIGSEGV");
  // too late for its own run, its answer lands in whatever a later one has there
  meets("returns_early", {Verdict::crash, Verdict::unwritten, Verdict::fail, Verdict::nondeterministic,
                          Verdict::out_of_bounds, Verdict::input_modified});
  meets("idle_threads", {Verdict::error}, "leaves threads running");
}

TEST_CASE("a kernel that reaches for its judge's process is ended, and finds its memory closed") {
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

TEST_CASE("a kernel that takes all memory there is ends alone") {
  if (is_sanitized()) return;
  meets("eats_memory", {Verdict::error, Verdict::crash});
}
