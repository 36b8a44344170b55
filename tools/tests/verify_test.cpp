// The program verify as a person runs it, and stops it.
#include <string>

#include <doctest/doctest.h>

#include "datasets/tests/scratch.hpp"
#include "tools/testing/shell.hpp"

namespace {

using plumb::testing::Outcome;

Outcome verify(const std::string& arguments, const std::string& before = "") {
  return plumb::testing::shell(before + " '" PLUMB_VERIFY "' " + arguments);
}

}  // namespace

// A fault that only the last of its attacks notices: whoever stops before has seen it pass.
TEST_CASE("an interrupted attack is no survivor: the fault was not judged") {
  for (const std::string seconds : {"0.02", "0.05", "0.1", "0.3", "0.5", "0.7", "1.0"}) {
    CAPTURE(seconds);
    const Outcome stopped = verify("--mutants --device simt --variant mutant/look_back_state_not_cleared", "timeout --preserve-status -s INT " + seconds);
    if (stopped.exit_code == 0) break;  // it was over before the signal came
    INFO(stopped.text);
    CHECK(stopped.exit_code == 128 + 2);
    if (!stopped.has("planted fault")) continue;  // or the signal before it had begun
    CHECK_FALSE(stopped.has("SURVIVED"));
    // or after the fault was dead, among those planted in the judge
    CHECK((stopped.has("or they were interrupted") || stopped.has("mutants: 13 of 13 killed")));
  }
}

TEST_CASE("--dry-run says what would be judged: variants on cases, and under compute-sanitizer each variant once") {
  const std::string spmv = "--case 'spmv.f32(rows=1*)' --dry-run ";
  const Outcome plain = verify(spmv + "--variant 'cpu/01*'");
  CHECK(plain.exit_code == 0);
  CHECK(plain.line(-1).rfind("would judge ", 0) == 0);
  CHECK(plain.has(")  cpu/01_serial\n"));
  const Outcome tools = verify(spmv + "--sanitize memcheck,racecheck");
  INFO(tools.text);
  if (tools.exit_code == 3) {
    MESSAGE("skipped: a build without CUDA has no variant for compute-sanitizer");
    return;
  }
  CHECK(tools.exit_code == 0);
  const std::string first = "spmv.f32  gpu/01_thread_per_row  under memcheck,racecheck\n";
  REQUIRE(tools.has(first));
  CHECK(tools.text.find(first) == tools.text.rfind(first));
}

TEST_CASE("--sanitize is for kernels on a GPU") {
  const Outcome refused = verify("--case gemm --sanitize all --device simt");
  CHECK(refused.exit_code == 2);
  CHECK(refused.has("--sanitize judges kernels on a GPU"));
  CHECK(verify("--mutants --sanitize all --device cpu").exit_code == 2);
}

TEST_CASE("a seed of --stress is a whole number from 1 on") {
  for (const char* seed : {"0", "-1", "x", "3x"}) {
    const Outcome refused = verify(std::string("--case spmv.f32 --stress=") + seed);
    CHECK(refused.exit_code == 2);
    CHECK(refused.has("whole number"));
  }
}

TEST_CASE("--case @FILE takes the cases that a file names, and says where it went wrong") {
  const plumb::test::Scratch scratch;
  const auto judged = [&](const std::string& bytes) {
    return verify("--dry-run --variant 'cpu/01*' --case '@" + scratch.write("my cases.txt", bytes) + "'");
  };
  const Outcome two = judged("# both\n\nspmv.f32(rows=1,fill=exact) # one\n  gemv.f64(rows=1,*),gemv.f64(rows=1)\r\n");
  INFO(two.text);
  CHECK(two.exit_code == 2);  // (rows=1,*) is no list of keys and patterns
  CHECK(two.has("my cases.txt:4: "));
  const Outcome right = judged("spmv.f32(rows=1,fill=exact) # one\n# two\n  gemv.f64(rows=1)\r\n");
  INFO(right.text);
  CHECK(right.exit_code == 0);
  CHECK(right.has("spmv.f32(rows=1,"));
  CHECK(right.has("gemv.f64(rows=1,"));
  CHECK(judged("# nothing\n").exit_code == 2);
  const Outcome gone = verify("--dry-run --case @/no/such/file");
  CHECK(gone.exit_code == 2);
  CHECK(gone.has("/no/such/file: "));
}

TEST_CASE("without a GPU, the way to run its kernels is named") {
  const Outcome run = verify("--case 'transpose.f32(rows=63*)' --variant '*/01*'");
  if (!run.has("no CUDA device")) {
    MESSAGE("skipped: a GPU is here, or a build without CUDA");
    return;
  }
  CHECK(run.exit_code == 0);
  CHECK(run.has("--device simt, and --race"));
}
