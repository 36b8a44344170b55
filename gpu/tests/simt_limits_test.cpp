// Launches that a device refuses, resources that the executor runs out of, and atomic sums as a device rounds them.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cfloat>
#include <cmath>
#include <cstdio>

#include "gpu/simt/host/api.hpp"
#include "gpu/simt/scheduler/launch_limits.hpp"
#include "gpu/tests/simt_support.hpp"
#include "reference/cases/case_space.hpp"
#include "reference/core/error.hpp"

using namespace plumb::simt_test;
namespace simt = plumb::simt;
using simt::FindingKind;

namespace {

// The one finding of a run, a refused launch; "" where the launch was not refused.
std::string refusal() {
  const auto findings = Run::findings();
  if (findings.empty()) return "";
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].kind == FindingKind::bad_launch);
  return findings[0].text;
}

simt::LaunchShape shape(dim3 grid, dim3 block, std::size_t fixed = 0, std::size_t asked = 0) {
  simt::LaunchShape s;
  s.grid = grid;
  s.block = block;
  s.static_shared = fixed;
  s.dynamic_shared = asked;
  return s;
}

// What `body` returns in a child process.
int in_child(int (*body)()) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) _exit(body());
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  return WEXITSTATUS(status);
}

// This process may have so many MiB beside what it has.
bool limit_address_space(rlim_t mebibytes) {
  long pages = 0;
  std::FILE* statm = std::fopen("/proc/self/statm", "r");
  if (statm == nullptr || std::fscanf(statm, "%ld", &pages) != 1) return false;
  std::fclose(statm);
  const rlim_t most = static_cast<rlim_t>(pages) * 4096 + (mebibytes << 20);
  const rlimit limit{most, most};
  return setrlimit(RLIMIT_AS, &limit) == 0;
}

}  // namespace

TEST_CASE("static and dynamic shared memory count together") {
  std::vector<int> out(32);
  const int fixed = static_shared_bytes();
  const int limit = 48 * 1024;
  {
    Run run;
    static_and_dynamic_written(run.output(out), limit - fixed);
    CHECK(refusal() == "");
    CHECK(out[31] == 32);
  }
  {
    Run run;
    static_and_dynamic_written(run.output(out), limit - fixed + 4);
    const std::string said = refusal();
    CHECK_MESSAGE(said.find("16384 bytes of static and 32772 of dynamic shared memory") != std::string::npos,
                  said);
  }
  {
    Run run;  // the seam asks for what is above the limit, static memory counted
    static_and_dynamic(run.output(out), limit - fixed + 4);
    CHECK(refusal() == "");
    CHECK(out[31] == 32);
  }
  Run run;
  static_and_dynamic(run.output(out), 227 * 1024 - fixed + 4);
  CHECK(refusal().find("at most 232448 together on sm_90") != std::string::npos);
}

TEST_CASE("cudaFuncSetAttribute allows a kernel more dynamic shared memory, up to the chip's limit") {
  std::vector<int> out(32);
  Run run;
  const void* kernel = static_and_dynamic_address();
  CHECK(simt::allow_dynamic_shared(kernel, 228 * 1024) == cudaErrorInvalidValue);
  CHECK(simt::allow_dynamic_shared(kernel, 64 * 1024) == cudaSuccess);
  static_and_dynamic_written(run.output(out), 64 * 1024);
  CHECK(refusal() == "");
  Run again;
  static_and_dynamic_written(again.output(out), 64 * 1024 + 4);
  CHECK(refusal().find("which is 65536, allows more") != std::string::npos);
}

TEST_CASE("more threads than __launch_bounds__ allows are refused") {
  for (const int threads : {32, 128, 129, 256}) {
    CAPTURE(threads);
    std::vector<int> out(1);
    Run run;
    bounded(threads, run.output(out));
    const std::string said = refusal();
    CHECK((said == "") == (threads <= 128));
    if (threads > 128) CHECK(said.find("__launch_bounds__ allows 128") != std::string::npos);
    CHECK(out[0] == (threads <= 128 ? threads : 0));
  }
}

TEST_CASE("extents of blocks and grids are limited one by one") {
  const simt::ChipLimits& chip = simt::limits_of(90);
  const auto error = [&](dim3 grid, dim3 block) { return simt::why_refused(shape(grid, block), chip).error; };
  using E = simt::LaunchError;
  CHECK(error(1, dim3(1024, 1, 1)) == E::none);
  CHECK(error(1, dim3(1, 1024, 1)) == E::none);
  CHECK(error(1, dim3(1, 1, 64)) == E::none);
  CHECK(error(1, dim3(1, 1, 65)) == E::invalid_configuration);
  CHECK(error(1, dim3(2048, 1, 1)) == E::invalid_configuration);
  CHECK(error(1, dim3(32, 33, 1)) == E::invalid_configuration);
  CHECK(error(1, dim3(0, 1, 1)) == E::invalid_configuration);
  CHECK(error(dim3(0x7fffffffu, 65535, 65535), 1) == E::none);
  CHECK(error(0x80000000u, 1) == E::invalid_configuration);
  CHECK(error(dim3(1, 65536, 1), 1) == E::invalid_configuration);
  CHECK(error(dim3(1, 1, 65536), 1) == E::invalid_configuration);
  CHECK(error(dim3(1, 0, 1), 1) == E::invalid_configuration);
  // through a launch
  std::vector<int> out(1);
  Run run;
  shaped(1, 70000, 1, run.output(out));
  CHECK(refusal().find("a grid of (1,70000,1) blocks") != std::string::npos);
}

TEST_CASE("shared memory has one code, whichever part is too large; the first reason decides") {
  const simt::ChipLimits& chip = simt::limits_of(90);
  const auto error = [&](std::size_t fixed, std::size_t asked, std::size_t allowed, unsigned threads = 32) {
    simt::LaunchShape s = shape(1, threads, fixed, asked);
    s.dynamic_allowed = allowed;
    return simt::why_refused(s, chip).error;
  };
  using E = simt::LaunchError;
  constexpr std::size_t kKiB = 1024;
  CHECK(error(48 * kKiB, 0, 0) == E::none);
  CHECK(error(48 * kKiB + 1, 0, 0) == E::invalid_value);
  CHECK(error(0, 48 * kKiB, 0) == E::none);
  CHECK(error(0, 48 * kKiB + 1, 0) == E::invalid_value);
  CHECK(error(16 * kKiB, 211 * kKiB, 211 * kKiB) == E::none);
  CHECK(error(16 * kKiB, 211 * kKiB + 1, 227 * kKiB) == E::invalid_value);
  CHECK(error(0, 228 * kKiB, 228 * kKiB, 2048) == E::invalid_configuration);
}

TEST_CASE("the codes are CUDA's") {
  CHECK(static_cast<int>(simt::LaunchError::invalid_value) == cudaErrorInvalidValue);
  CHECK(static_cast<int>(simt::LaunchError::out_of_memory) == cudaErrorMemoryAllocation);
  CHECK(static_cast<int>(simt::LaunchError::invalid_configuration) == cudaErrorInvalidConfiguration);
  CHECK(static_cast<int>(simt::LaunchError::cooperative_too_large) == cudaErrorCooperativeLaunchTooLarge);
}

TEST_CASE("what cases call a round is read by all threads that the executor's device holds") {
  constexpr int kThreads = 2048, kBytes = 16;
  CHECK(plumb::kBytesOfRound == simt::Options{}.multiprocessors * kThreads * kBytes);
}

TEST_CASE("all blocks of a cooperative launch must be resident at once") {
  const simt::ChipLimits& chip = simt::limits_of(90);
  const auto error = [&](unsigned blocks, unsigned threads, std::size_t shared) {
    simt::LaunchShape s = shape(blocks, threads, 0, shared);
    s.dynamic_allowed = shared;
    s.cooperative = true;
    s.multiprocessors = chip.multiprocessors;
    return simt::why_refused(s, chip).error;
  };
  using E = simt::LaunchError;
  CHECK(error(132 * 32, 64, 0) == E::none);
  CHECK(error(132 * 32 + 1, 64, 0) == E::cooperative_too_large);
  CHECK(error(132 * 2, 1024, 0) == E::none);
  CHECK(error(132 * 2 + 1, 1024, 0) == E::cooperative_too_large);
  CHECK(error(132 * 2, 32, 113 * 1024) == E::none);
  CHECK(error(132 * 2, 32, 114 * 1024) == E::cooperative_too_large);
  std::vector<int> out(132 * 32 + 1);
  Run run;
  cooperative_blocks(132 * 32 + 1, 32, run.output(out));
  CHECK(refusal().find("hold 4224 of them at once") != std::string::npos);
}

TEST_CASE("each chip has limits of its own, and an unknown one is an error") {
  CHECK(simt::limits_of(80).shared_opt_in == 163 * 1024);
  CHECK(simt::limits_of(86).threads_per_multiprocessor == 1536);
  CHECK(simt::why_refused(shape(1, 32, 0, 100 * 1024), simt::limits_of(80)).error ==
        simt::LaunchError::invalid_value);
  CHECK_THROWS_AS(static_cast<void>(simt::limits_of(11)), plumb::Error);
  simt::Options options;
  options.chip = 86;
  simt::begin_run(options);
  std::vector<int> out(32);
  simt::add_array("out", out.data(), 128, false, true);
  static_and_dynamic(out.data(), 100 * 1024);
  CHECK(refusal().find("together on sm_86") != std::string::npos);
}

TEST_CASE("atomicAdd of floats flushes subnormals in global memory and keeps them in shared memory") {
  // normal + normal with a subnormal sum; subnormal + 0; subnormal + normal; -subnormal + 0
  const float tiny = FLT_MIN / 4;
  const std::vector<float> terms{1.5f * FLT_MIN, tiny, tiny, -tiny, -FLT_MIN, 0.0f, FLT_MIN, -0.0f};
  std::vector<float> global(4), shared(4);
  std::vector<double> wide(4);
  for (const bool ptx : {false, true}) {
    CAPTURE(ptx);
    Run run;
    if (ptx) {
      ptx_sums(run.input(terms), run.output(global, "global"), run.output(shared, "shared"));
    } else {
      atomic_sums(run.input(terms), run.output(global, "global"), run.output(shared, "shared"),
                  run.output(wide, "wide"));
      CHECK(wide[0] == 8e-320);
    }
    expect_none();
    CHECK(global[0] == 0.0f);
    CHECK(global[1] == 0.0f);
    CHECK(global[2] == FLT_MIN);
    CHECK(global[3] == 0.0f);
    CHECK(std::signbit(global[3]));
    CHECK(shared[0] == FLT_MIN / 2);
    CHECK(shared[1] == tiny);
    CHECK(shared[2] == FLT_MIN + tiny);
    CHECK(shared[3] == -tiny);
  }
}

TEST_CASE("a lack of memory of the executor is reported as such, and is no verdict on the kernel") {
  // the stacks of 1009 blocks do not fit
  CHECK(in_child([] {
          std::vector<int> out(1009);
          if (!limit_address_space(256)) return 1;
          {
            Run run;
            cooperative_blocks(1009, 256, run.output(out));
            const auto findings = Run::findings();
            if (!findings.empty() || !simt::stopped()) return 2;
            if (simt::shortage().find("out of memory: the stacks and shared memory of") != 0) return 3;
          }
          Run run;  // what the first took is given back: the next one has room
          bounded(32, run.output(out));
          return Run::findings().empty() && simt::shortage().empty() && out[0] == 32 ? 0 : 4;
        }) == 0);
}

TEST_CASE("blocks that are kept of earlier launches make room for a larger one") {
  // 80 blocks of few stacks are kept, more than other tests leave; those of 1024 threads do not fit beside them
  CHECK(in_child([] {
          std::vector<int> out(80);
          Run run;
          cooperative_blocks(80, 32, run.output(out));
          if (!limit_address_space(16)) return 1;
          out[0] = 0;
          cooperative_blocks(1, 1024, out.data());
          return Run::findings().empty() && simt::shortage().empty() && out[0] == 1 ? 0 : 2;
        }) == 0);
}

TEST_CASE("a copy to the host throws once the run is stopped: what it would bring was not computed") {
  std::vector<int> out(32);
  Run run;
  bounded(32, run.output(out));
  CHECK(read_first(out.data()) == 32);
  bounded(2048, out.data());  // a device refuses so many threads
  CHECK(simt::stopped());
  CHECK_THROWS_AS(static_cast<void>(read_first(out.data())), plumb::Error);
  CHECK(Run::findings().size() == 1);
}

TEST_CASE("a race within one line is reported differently from one of two lines: an update needs atomicAdd") {
  if (!checked()) return;
  std::vector<int> out(64);
  {
    Run run;
    updated(run.output(out));
    const auto findings = Run::findings();
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].place.line == line_of("limits", "updated"));
    CHECK(findings[0].hint.find("several threads update the same element on this line: atomicAdd") == 0);
  }
  Run run;
  shifted(run.output(out));
  const auto findings = Run::findings();
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].place.line == line_of("limits", "shifted"));
  CHECK(findings[0].hint.find("one thread reads on this line what another writes there") == 0);
}

TEST_CASE("structures that threads copy to one place race where they differ") {
  if (!checked()) return;
  for (const bool differ : {false, true}) {
    const std::vector<int> in = differ ? counting(96) : std::vector<int>(96, 7);
    std::vector<int> out(3);
    Run run;
    copies(run.input(in), run.output(out), 0);
    if (differ)
      expect_finding(FindingKind::race, "limits", "copies", "copies");
    else
      expect_none();
  }
}

TEST_CASE("where two accesses that race take different bytes, the hint says which") {
  if (!checked()) return;
  const auto hint_of = [](const char* line, const std::function<void(const int*, int*)>& kernel) {
    const std::vector<int> in = counting(96);
    std::vector<int> out(64);
    Run run;
    kernel(run.input(in), run.output(out));
    const auto findings = Run::findings();
    REQUIRE(findings.size() == 1);
    const int wanted = line_of("limits", line);
    CHECK((findings[0].place.line == wanted || findings[0].other_place.line == wanted));
    return findings[0].hint;
  };
  const auto tells = [](const std::string& hint, const char* what) {
    CHECK_MESSAGE(hint.find(what) != std::string::npos, hint);
  };
  const auto too_close = [](const int* in, int* out) { copies(in, out, 2); };
  const std::string part = hint_of("copies", too_close);
  tells(part,
        "bytes 8 to 19 here and 0 to 11 there overlap in part: an index, a size or the start of an array");
  CHECK(part.find("__syncthreads") == std::string::npos);
  for (const std::string& whole : {hint_of("carved sums", carved), hint_of("by fours", by_fours)}) {
    tells(whole, "bytes ");
    tells(whole,
          "if they are meant to be of different elements, an index or the start of an array is wrong; if "
          "not, a ");
    tells(whole, "__syncthreads() between the two lines would order them");
  }
  const auto apart = [](const int* in, int* out) { copies(in, out, 3); };
  const std::vector<int> in = counting(96);
  std::vector<int> out(64);
  Run run;
  apart(run.input(in), run.output(out));
  expect_none();
}

TEST_CASE("a bulk copy is refused on a chip before sm_90") {
  alignas(16) static int in[128], out[128];
  for (const int chip : {80, 89, 90}) {
    CAPTURE(chip);
    simt::Options options;
    options.chip = chip;
    options.check = plumb::simt_test::checked();
    simt::begin_run(options);
    simt::add_array("in", in, sizeof in, true, false);
    simt::add_array("out", out, sizeof out, false, true);
    bulk_tile(Form::right, in, out);
    const auto findings = simt::end_run();
    REQUIRE(findings.empty() == (chip >= 90));
    if (chip >= 90) continue;
    CHECK(findings[0].kind == simt::FindingKind::trap);
    CHECK(findings[0].text ==
          "cp.async.bulk on sm_" + std::to_string(chip) + ": sm_90 was the first to have it");
  }
}

TEST_CASE("an instruction of sm_90 is refused on a chip before it") {
  const char* const names[] = {"elect", "setmaxnreg",        "stmatrix",      "griddepcontrol",
                               "mapa",  "fence.proxy.async", "fence.cluster", "barrier.cluster"};
  for (const int chip : {75, 89, 90, 100})
    for (int which = 0; which < 8; ++which) {
      CAPTURE(chip);
      CAPTURE(names[which]);
      simt::Options options;
      options.chip = chip;
      options.check = plumb::simt_test::checked();
      simt::begin_run(options);
      plumb::simt_test::hopper_instruction(which);
      const auto findings = simt::end_run();
      REQUIRE(findings.empty() == (chip >= 90));
      if (chip >= 90) continue;
      CHECK(findings[0].kind == simt::FindingKind::trap);
      CHECK(findings[0].text == std::string(names[which]) + " on sm_" + std::to_string(chip) +
                                    ": sm_90 was the first to have it");
    }
}
