// ThreadSanitizer's words about races, as findings: samples written by hand after what it prints.
#include <doctest/doctest.h>

#include <string>

#include "verify/judge/thread_sanitizer.hpp"

using namespace plumb;

namespace {

// The first frame of the write is in the runtime's own memcpy, and the file's folder has a space in its name.
const std::string kReport = R"(a line of the kernel's own
==================
WARNING: ThreadSanitizer: data race (pid=10194)
  Write of size 32 at 0x7b6c00000190 by thread T1:
    #0 memcpy <null> (verify+0xd440a) (BuildId: 4b5c)
    #1 run(float const*, long) /home/me/my kernels/mine.cpp:7:6 (verify+0xd440a) (BuildId: 4b5c)
    #2 <null> <null> (libomp.so.5+0xb76a6) (BuildId: e9e0)

  Previous read of size 8 at 0x7b6c00000190 by main thread:
    #0 main._omp_fn.0 mine.cpp:9 (verify+0xd442f)
    #1 GOMP_parallel <null> (libomp.so.5+0xbf544)

  Thread T1 (tid=10197, running) created by main thread at:
    #0 pthread_create <null> (verify+0x533fd)

SUMMARY: ThreadSanitizer: data race /home/me/my kernels/mine.cpp:7:6 in run
==================
)";

}  // namespace

TEST_CASE("a race names both accesses with their lines, and keeps both stacks") {
  const std::optional<Finding> finding = race_in(kReport);
  REQUIRE(finding);
  CHECK(finding->verdict == Verdict::race);
  CHECK(finding->reason ==
        "race: write at /home/me/my kernels/mine.cpp:7 by thread T1, read at mine.cpp:9 by main thread");
  REQUIRE(finding->detail.size() == 11);
  CHECK(finding->detail[1] == "  Write of size 32 at 0x7b6c00000190 by thread T1:");
  CHECK(finding->detail[6].find("mine.cpp:9") != std::string::npos);
  CHECK(finding->detail.back().find("SUMMARY") == 0);
}

TEST_CASE("of two reports the first one counts") {
  std::string second = kReport;
  second.replace(second.find("Write"), 5, "Read");
  CHECK(race_in(kReport + second)->reason == race_in(kReport)->reason);
}

TEST_CASE("what is no whole report of a race is none") {
  CHECK_FALSE(race_in(""));
  CHECK_FALSE(race_in("exited after a data race, it said\n"));
  CHECK_FALSE(race_in(kReport.substr(0, kReport.find("SUMMARY"))));
  std::string leak = kReport;
  leak.replace(leak.find("data race"), 9, "thread leak");
  CHECK_FALSE(race_in(leak));
}

TEST_CASE("an access without source lines says so") {
  const std::optional<Finding> finding = race_in(
      "WARNING: ThreadSanitizer: data race (pid=1)\n  Atomic write of size 4 at 0x1 by main thread:\n"
      "    #0 <null> <null> (libmine.so+0x1)\n\n  Previous write of size 4 at 0x1 by thread T1:\n"
      "    [failed to restore the stack]\n\nSUMMARY: ThreadSanitizer: data race (libmine.so+0x1)\n");
  REQUIRE(finding);
  CHECK(finding->reason ==
        "race: atomic write at a place without source lines by main thread, write at a place without source "
        "lines by thread T1");
}
