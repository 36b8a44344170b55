// Every program where a resource of the process is scarce: it works with less, or it ends with exit code 2 and names the limit. No
// program ends by a signal, in OpenBLAS, or where libgomp cannot start a thread; libgomp's line of an allocation that failed is followed by ours.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tools/testing/shell.hpp"

namespace {

using plumb::testing::expect;
using plumb::testing::Outcome;
using plumb::testing::shell;

// RLIMIT_NPROC does not hold for root, and counts all of a user's processes: root takes a user of its own for each test process.
// "" where that cannot be had.
std::string as_limited_user() {
  if (geteuid() != 0) return "env";
  const std::string id = std::to_string(60000 + getpid() % 5000);
  const std::string prefix = "setpriv --reuid " + id + " --regid " + id + " --clear-groups";
  return shell(prefix + " test -x '" PLUMB_VERIFY "'").exit_code == 0 ? prefix : "";
}

Outcome limited(const std::string& limit, const std::string& command, const std::string& user = "env") {
  return shell(
      "env -u PLUMB_DATA -u OMP_NUM_THREADS -u OPENBLAS_NUM_THREADS PLUMB_CACHE=/nonexistent timeout 300 " +
      user + " bash -c '" + limit + "; exec " + command + "'");
}

// One short run of each program.
const std::vector<std::string> kPrograms = {
    PLUMB_VERIFY
    " --case \"spmv.f32(rows=30,cols=20,density=0.2,fill=real,seed=5)\" --variant \"cpu/0*\" --device cpu",
    PLUMB_VERIFY " --list ops",
    PLUMB_INFER " gcn --layers 1",
    PLUMB_INFER " sdnn --inputs 64 --layers 3",
    PLUMB_BENCH
    " --case \"spmv.f32(rows=300,cols=200,density=0.05,fill=real,seed=5)\" --variant cpu/01_serial --budget "
    "0.01",
    PLUMB_DATASET " generate banded --help",
};

constexpr std::int64_t kStepKib = 5 << 10, kMostKib = 512 << 10;

/// KiB that `limit` ("ulimit -v", address space, or "ulimit -d", private writable memory) must allow before a program says how it is
/// used: its libraries alone take up to more than a GiB of addresses, and end by a signal within less. 0: more than 8 TiB.
std::int64_t least_to_start(const std::string& limit, const std::string& path) {
  constexpr std::int64_t kFirst = 4 << 10, kLast = std::int64_t{1} << 33, kNear = 1 << 10;
  static std::map<std::string, std::int64_t> known;
  if (const auto at = known.find(limit + path); at != known.end()) return at->second;
  const auto starts = [&](std::int64_t kib) {
    return limited(limit + " " + std::to_string(kib), path + " --help").exit_code == 0;
  };
  std::int64_t most = kFirst;
  while (most <= kLast && !starts(most)) most *= 2;
  if (most > kLast) return known[limit + path] = 0;
  std::int64_t least = most / 2;
  while (most - least > kNear) {
    const std::int64_t middle = least + (most - least) / 2;
    (starts(middle) ? most : least) = middle;
  }
  return known[limit + path] = most;
}

void works_or_names(const Outcome& o, const std::string& limit) {
  CAPTURE(o.text);
  CHECK_FALSE(o.has("libgomp: Thread"));
  CHECK_FALSE(o.has("OpenBLAS blas_thread_init"));
  CHECK_FALSE(o.has("failed: 1"));
  CHECK((o.exit_code == 0 || o.exit_code == 2 || o.exit_code == 3));
  if (o.exit_code != 0) CHECK(o.has(limit));
}

/// Runs `program` under `limit` ("ulimit -v" or "ulimit -d"), from where it starts at all to where it has worked some times in a row.
void works_or_names_from_its_start(const std::string& limit, const std::string& program) {
  constexpr int kEnough = 3;  // what fills caches of any size may need more than is tried
  CAPTURE(program);
  const std::int64_t start = least_to_start(limit, program.substr(0, program.find(' ')));
  if (start == 0) {
    MESSAGE("skipped: it starts within no memory that is limited, as with a sanitizer's shadow");
    return;
  }
  int in_a_row = 0;
  for (std::int64_t more = kStepKib; more <= kMostKib && in_a_row < kEnough;
       more += std::max(kStepKib, more / 2)) {
    const std::string kib = std::to_string(start + more);
    const Outcome o = limited(limit + " " + kib, program);
    works_or_names(o, limit + " is " + kib);
    in_a_row = o.exit_code == 0 ? in_a_row + 1 : 0;
  }
}

}  // namespace

TEST_CASE(
    "where few processes are allowed, fewer threads are used, or the exit code is 2 and the limit is named") {
  const std::string user = as_limited_user();
  if (user.empty()) {
    MESSAGE("skipped: limits of processes do not hold for root, and setpriv cannot make another user here");
    return;
  }
  for (const std::string processes : {"1", "3", "6"}) {
    for (const std::string& program : kPrograms) {
      CAPTURE(processes);
      CAPTURE(program);
      works_or_names(limited("ulimit -u " + processes, program, user), "ulimit -u is " + processes);
    }
  }
  const Outcome alone =
      limited("ulimit -u 2", kPrograms.front(), user);  // a judge and a child of one thread each
  CAPTURE(alone.text);
  CHECK(alone.exit_code == 0);
  CHECK_FALSE(alone.has("cannot start a child process"));  // the child of another variant makes room
  // a child process is more than one process
  expect(limited("ulimit -u 1", kPrograms.front(), user), 2,
         {"error: cannot start a child process: Resource temporarily unavailable (ulimit -u is 1"});
}

TEST_CASE("with few descriptors, small stacks or small files a program works or names the limit") {
  for (const std::string& program : kPrograms) {
    CAPTURE(program);
    works_or_names(limited("ulimit -n 11", program), "ulimit -n is 11");
    works_or_names(limited("ulimit -s 256", program), "ulimit -s is 256");
    works_or_names(limited("ulimit -f 8", program), "ulimit -f is 8");
  }
}

TEST_CASE(
    "with little address space, from where a program starts at all to where it works, it names the limit") {
  for (const std::string& program : kPrograms) works_or_names_from_its_start("ulimit -v", program);
}

TEST_CASE(
    "with little memory for data, from where a program starts at all to where it works, it names the limit") {
  for (const std::string& program : kPrograms) works_or_names_from_its_start("ulimit -d", program);
}

#if defined(PLUMB_START_PROGRAM)
TEST_CASE(
    "a library that gets no memory before main() is exit code 2 and the limit; a signal behind it is none") {
  const std::string program = PLUMB_START_PROGRAM;
  expect(limited("true", program), 0);
  expect(limited("ulimit -v 900000", program), 2, {"error: out of memory (ulimit -v is 900000)"});
  constexpr int kSegv = 128 + 11;  // as the shell says it
  expect(limited("ulimit -v 9000000", program + " fails"), kSegv);
}
#endif
