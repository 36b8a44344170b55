// The sweep: order, errors, giving up; and what records are made of.
#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "reference/ops/transpose.hpp"
#include "verify/engine/operator/operators.hpp"
#include "verify/judge/repro.hpp"
#include "verify/mutants/mutant.hpp"
#include "verify/selection/selection.hpp"
#include "verify/sweep/judge_sweep.hpp"
#include "verify/sweep/mutant_sweep.hpp"
#include "verify/sweep/shrink_sweep.hpp"

using namespace plumb;

namespace {

using P = Transpose::Problem<float>;
using I = Transpose::In<float, Space::host>;
using O = Transpose::Out<float, Space::host>;

void throws(const P&, const I&, const O&, Context&) { throw Error("out of order"); }
// Every third case is right: never three errors in a row. A case that is right takes several runs.
void throws_at_times(const P&, const I& in, const O& out, Context& c) {
  if (in.A.rows % 3 != 0) return throws({}, in, out, c);
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    for (std::int64_t j = 0; j < in.A.cols; ++j) out.B.data[j * out.B.ld + i] = in.A.data[i * in.A.ld + j];
  }
}

template <class T>
void writes_nothing(const Transpose::Problem<T>&, const Transpose::In<T, Space::host>&,
                    const Transpose::Out<T, Space::host>&, Context&) {}
void writes_from_3_rows(const P&, const I& in, const O& out, Context& c) {
  if (in.A.rows >= 3) throws_at_times({}, in, out, c);
}

// Wrong beyond a size that is no tile's.
void wrong_beyond_100_rows(const P&, const I& in, const O& out, Context&) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    for (std::int64_t j = 0; j < in.A.cols; ++j) out.B.data[j * out.B.ld + i] = in.A.data[i * in.A.ld + j];
  }
  if (in.A.rows > 100 && in.A.cols > 2) out.B.data[0] += 1;
}

// Mutants, because a list of the build names every other variant.
const MutantInfo kFault{0, "throws", "here", 0};
const RegisterMutant<Transpose, float, Space::host> r_throws{"sweep_throws", throws, kFault};
const RegisterMutant<Transpose, float, Space::host> r_times{"sweep_throws_at_times", throws_at_times, kFault};
const RegisterMutant<Transpose, float, Space::host> r_nothing{"sweep_writes_nothing", writes_nothing<float>,
                                                              kFault};
const RegisterMutant<Transpose, double, Space::host> r_nothing_f64{"sweep_writes_nothing",
                                                                   writes_nothing<double>, kFault};
const RegisterMutant<Transpose, float, Space::host> r_from_3{"sweep_writes_from_3_rows", writes_from_3_rows,
                                                             kFault};
const RegisterMutant<Transpose, float, Space::host> r_beyond{"sweep_wrong_beyond_100_rows",
                                                             wrong_beyond_100_rows, kFault};

std::vector<Job> jobs_of(const std::string& variant, Dtype dtype = Dtype::f32) {
  std::vector<Job> jobs;
  for (int rows = 1; rows <= 6; ++rows) {
    Job& job = jobs.emplace_back();
    job.c = parse_case(
        fmt::format("transpose.{}(rows={},cols=5,fill=index,seed=1)", std::string(name(dtype)), rows));
    for (const VariantInfo& v : find_operator("transpose").variants(Device::gpu)) {
      if (v.name == "mutant/" + variant && v.dtype == dtype) job.variants.push_back(v);
    }
    REQUIRE(job.variants.size() == 1);
  }
  return jobs;
}

std::string verdicts(const std::vector<Job>& jobs, bool all, std::string* last = nullptr) {
  RunOptions run;
  run.isolation = Isolation::none;
  std::string text;
  const std::exception_ptr failure = judge_jobs(jobs, run, {1, false, all}, [&](const Record& r) {
    text += (text.empty() ? "" : " ") + std::string(name(r.verdict));
    if (last != nullptr) *last = r.reason;
  });
  CHECK(failure == nullptr);
  return text;
}
std::string verdicts(const std::string& variant, bool all, std::string* last = nullptr) {
  return verdicts(jobs_of(variant), all, last);
}

}  // namespace

TEST_CASE("a variant that ends three times in a row alike is skipped, unless all is asked for") {
  std::string reason;
  CHECK(verdicts("sweep_throws", false, &reason) == "error error error skip skip skip");
  CHECK(reason.find("ended in error on 3 cases in a row") != std::string::npos);
  CHECK(verdicts("sweep_throws", true) == "error error error error error error");
}

TEST_CASE("a variant that writes nothing is one failure, unless all is asked for") {
  std::string reason;
  CHECK(verdicts("sweep_writes_nothing", false, &reason) == "unwritten skip skip skip skip skip");
  CHECK(reason.find("wrote nothing on its first 3 cases of f32 (--all judges") != std::string::npos);
  CHECK(verdicts("sweep_writes_nothing", true) ==
        "unwritten unwritten unwritten unwritten unwritten unwritten");
  CHECK(verdicts("sweep_writes_from_3_rows", false) == "unwritten unwritten pass error error pass");
}

TEST_CASE("a variant that writes nothing in two types is one failure") {
  std::vector<Job> jobs = jobs_of("sweep_writes_nothing");
  for (Job& job : jobs_of("sweep_writes_nothing", Dtype::f64)) jobs.push_back(std::move(job));
  std::string reason;
  CHECK(verdicts(jobs, false, &reason) == "unwritten skip skip skip skip skip skip skip skip skip skip skip");
  CHECK(reason.find("first 3 cases of f64") != std::string::npos);
}

TEST_CASE("a variant that passes between its errors is judged on every case") {
  CHECK(verdicts("sweep_throws_at_times", false) == "error error pass error error pass");
}

TEST_CASE("the first failing case of a variant is reduced to the smallest that fails alike") {
  RunOptions run;
  run.isolation = Isolation::none;
  std::vector<Job> jobs = jobs_of("sweep_wrong_beyond_100_rows");
  for (Job& job : jobs) job.c = parse_case("transpose.f32(rows=4099,cols=311,fill=real,seed=77)");
  jobs.resize(2);
  FirstFailures first(jobs);
  CHECK(judge_jobs(jobs, run, {1, false, false}, [&](const Record& r) { first.take(r); }) == nullptr);
  REQUIRE(first.all().size() == 1);
  int told = 0;
  shrink_failures(first.all(), run, [&](const SmallerCase& s) {
    ++told;
    CHECK(s.smallest.id() == "transpose.f32(rows=101,cols=3,fill=index,seed=1)");
    CHECK(s.repro.find("transpose.f32(rows=101,cols=3,fill=index,seed=1)") != std::string::npos);
    CHECK(s.runs < 60);
  });
  CHECK(told == 1);
}

TEST_CASE("drawn cases pass --case and --fill, are as many as asked for, and the same for a seed") {
  CaseChoice choice;
  choice.cases = "gemm.f64,transpose", choice.drawn = 20, choice.seed = 9, choice.limit = {1e4, 1e5};
  choice.fills = {Fill::real, Fill::index};
  const ChosenCases chosen = select_cases(choice);
  CHECK(chosen.cases.size() == 40);
  for (const Case& c : chosen.cases) {
    CHECK((c.op == "transpose" || (c.op == "gemm" && c.dtype == Dtype::f64)));
    CHECK((c.fill == Fill::real || c.fill == Fill::index));
  }
  CHECK(select_cases(choice).cases == chosen.cases);
  REQUIRE(chosen.notes.size() == 1);
  CHECK(chosen.notes[0].find("--drawn 20 --seed 9") != std::string::npos);
}

TEST_CASE("a sweep does every item once on any number of threads") {
  for (const int workers : {1, 4}) {
    Sweep sweep(workers, {});
    std::atomic<int> sum{0};
    CHECK(sweep.run(
              100, [](std::size_t) { return "x"; },
              [&](Runner&, std::size_t i) { sum += static_cast<int>(i); }) == nullptr);
    CHECK(sum == 4950);
  }
}

TEST_CASE("a sweep ends at its first exception, and returns it") {
  Sweep sweep(2, {});
  std::atomic<int> begun{0};
  const std::exception_ptr failure = sweep.run(
      1000, [](std::size_t) { return "x"; },
      [&](Runner&, std::size_t i) {
        ++begun;
        if (i == 3) throw Error("the fourth");
        while (i > 3 && !sweep.stopped()) std::this_thread::yield();
      });
  REQUIRE(failure != nullptr);
  CHECK_THROWS_WITH_AS(std::rethrow_exception(failure), "the fourth", Error);
  CHECK(sweep.stopped());
  CHECK(begun <= 6);  // the first four, and one more of each worker
}

TEST_CASE(
    "what compute-sanitizer alone has not seen has not survived, unless no other instrument is for it") {
  MutantRow row;
  row.declared = kNumeric | kSanitizer, row.killed = {{Dtype::f32, false}};
  row.applied = row.unnoticed_by = kSanitizer;
  CHECK(!row.judged());
  CHECK(!row.survived());
  CHECK(row.cell(kSanitizer) == "survived");
  row.applied |= kNumeric;
  CHECK(row.survived());
  row.applied = row.declared = kSanitizer;
  CHECK(row.survived());
  row.killed[Dtype::f32] = true, row.declared = kNumeric | kSanitizer;
  CHECK((row.judged() && !row.survived()));
}

TEST_CASE("a repro line has every flag that differs from its default, quoted for a shell") {
  const Case c = parse_case("spmv.f32(matrix=it's.mtx,fill=own,seed=1)");
  VariantInfo v;
  v.op = "spmv", v.name = "user/mine", v.device = Device::simt, v.plugin = "./my lib.so";
  RunOptions run;
  CHECK(repro_line(c, v, run, run.repeat) == called_as() +
                                                 " --case 'spmv.f32(matrix=it'\\''s.mtx,fill=own,seed=1)' "
                                                 "--variant user/mine --device simt --plugin "
                                                 "'./my lib.so'");
  run.race = true, run.stress = 7, run.timeout = 2.5, run.isolation = Isolation::run;
  CHECK(repro_line(c, v, run, 24).find(" --race --stress=7 --repeat 24 --isolate case --timeout 2.5") !=
        std::string::npos);
  v.plugin = "", v.name = "cpu/01_serial", v.device = Device::cpu;
  CHECK(repro_line(c, v, RunOptions{}, 3).find("--device") == std::string::npos);
  CHECK(shell_word("a-b/c.d") == "a-b/c.d");
  CHECK(shell_word("") == "''");
}
