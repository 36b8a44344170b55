// Host threads that are made to collide (verify/interposed): kernels whose threads race fail within some seeds, their right twins
// under each of them. How many seeds a race needs depends on the machine; how many are tried is far beyond that.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "verify/engine/operator/operators.hpp"
#include "verify/engine/process/confinement.hpp"
#include "verify/engine/process/plugin_host.hpp"
#include "verify/judge/runner.hpp"
#include "verify/selection/selection.hpp"
#include "verify/sweep/judge_sweep.hpp"

using namespace plumb;

namespace {

constexpr int kSeeds = 400;  // beside busy neighbours, one in twenty shows a race

Record judge(const std::string& case_id, VariantInfo variant, std::uint64_t seed, int repeat = 8) {
  RunOptions options;
  options.program = PLUMB_ADVERSARY;
  options.stress = seed, options.repeat = repeat;
  Runner runner(options);
  const Case c = parse_case(case_id);
  const auto prepared = find_operator(c.op).prepare(c);
  variant.op = c.op, variant.dtype = c.dtype;
  return runner.judge(c, *prepared, variant);
}

// The first record of a seed under which it does not pass, or the last of all.
Record failing(const std::string& case_id, const VariantInfo& variant) {
  Record r;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    r = judge(case_id, variant, static_cast<std::uint64_t>(seed));
    if (is_failed(r.verdict)) break;
  }
  return r;
}

VariantInfo named(const std::string& name) {
  VariantInfo v;
  v.name = name, v.traits = Traits{}.not_reproducible();
  return v;
}

constexpr const char* kCase = "gemv.f32(rows=211,cols=307,fill=exact,seed=1)";
constexpr const char* kFewRows =
    "gemv.f32(rows=19,cols=1021,fill=exact,seed=1)";  // a region for each row costs

}  // namespace

TEST_CASE("threads that race are made to meet, and their kernel fails") {
  if (is_sanitized()) return;  // its runtime stands where the functions of verify/interposed would
  for (const char* kernel :
       {"temporary", "buffer", "nowait", "first_comer", "increment", "locks", "single"}) {
    CAPTURE(std::string(kernel));
    const Record r = failing(kCase, named(std::string("cpu/wrong_") + kernel));
    CHECK(is_failed(r.verdict));
    CHECK(r.repro.find(" --device cpu --stress=") != std::string::npos);
  }
  for (const char* kernel : {"reduction", "ordered"}) {
    CAPTURE(std::string(kernel));
    CHECK(is_failed(failing(kFewRows, named(std::string("cpu/wrong_") + kernel)).verdict));
  }
}

TEST_CASE("threads that are ordered pass, however they are disturbed") {
  for (const char* kernel : {"temporary", "buffer", "nowait", "first_comer", "increment", "locks", "single",
                             "published", "last_adds", "reduction", "ordered"}) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      CAPTURE(std::string(kernel));
      const Record r = judge(kFewRows, named(std::string("cpu/right_") + kernel), seed, 4);
      INFO(r.reason);
      CHECK(r.verdict == Verdict::pass);
    }
  }
}

TEST_CASE("threads of a plug-in collide too") {
  if (is_sanitized()) return;
  const std::string library = std::string(PLUMB_PLUGINS) + "/libplugin_good.so";
  for (const VariantInfo& v : list_plugin(library, PLUMB_ADVERSARY)) {
    if (v.name != "user/races") continue;
    const Record r = failing("transpose.f32(rows=301,cols=211,fill=exact,seed=5)", v);
    CHECK(is_failed(r.verdict));
    return;
  }
  FAIL("no such variant");
}

TEST_CASE("a host variant's threads collide without being asked, on its first cases of some work") {
  RunOptions options;
  options.program = PLUMB_ADVERSARY;
  options.isolation = Isolation::run;  // no soak
  Runner runner(options);
  const auto runs = [&](const std::string& id) {
    const Case c = parse_case(id);
    const auto prepared = find_operator(c.op).prepare(c);
    VariantInfo v = named("cpu/right_temporary");
    v.op = c.op;
    const Record r = runner.judge(c, *prepared, v);
    CHECK(r.verdict == Verdict::pass);
    return r.runs;
  };
  constexpr int kUsual = 5;  // three, and perhaps two on twins
  CHECK(runs("gemv.f32(rows=5,cols=7,fill=exact,seed=1)") <= kUsual);
  CHECK(runs("gemv.f32(rows=211,cols=307,fill=real,seed=1)") <= kUsual);
  CHECK(runs(kCase) >= 3 + 8);
  CHECK(runs("gemv.f32(rows=211,cols=307,fill=exact,seed=2)") >= 3 + 8);
  CHECK(runs("gemv.f32(rows=211,cols=307,fill=exact,seed=3)") <= kUsual);
}

TEST_CASE(
    "workers share what was done with a variant: its threads collide on two cases, however many judge") {
  RunOptions options;
  options.program = PLUMB_ADVERSARY;
  options.isolation = Isolation::run;
  std::vector<Job> jobs;
  for (int seed = 1; seed <= 8; ++seed) {
    VariantInfo v = named("cpu/right_temporary");
    v.op = "gemv";
    jobs.push_back(
        {parse_case("gemv.f32(rows=211,cols=307,fill=exact,seed=" + std::to_string(seed) + ")"), {v}});
  }
  int colliding = 0;
  CHECK(judge_jobs(jobs, options, {2, false, false}, [&](const Record& r) {
          CHECK(r.verdict == Verdict::pass);
          colliding += r.runs >= 3 + 8 ? 1 : 0;
        }) == nullptr);
  CHECK(colliding == 2);
}
