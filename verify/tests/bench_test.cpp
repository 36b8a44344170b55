// bench: its statistics against tables, its roofs and refusals on numbers a person can check, its reports there and back, and its
// timing loop with variants that cheat in it.
#include <doctest/doctest.h>

#include <cctype>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <sstream>

#include "reference/cases/sparse_cases.hpp"
#include "reference/core/contract.hpp"
#include "reference/core/error.hpp"
#include "verify/bench/compare.hpp"
#include "verify/bench/drawn_plot.hpp"
#include "verify/bench/drawn_summary.hpp"
#include "verify/bench/ladder.hpp"
#include "verify/bench/result.hpp"
#include "verify/bench/time_shares.hpp"
#include "verify/engine/operator/adapter.hpp"
#include "verify/judge/runner.hpp"

using namespace plumb;

namespace {

std::vector<double> counted(int n) {
  std::vector<double> v;
  for (int i = 1; i <= n; ++i) v.push_back(i);
  return v;
}

// 20 samples around `centre`, one per cent wide.
std::vector<double> around(double centre) {
  std::vector<double> v;
  for (int i = 0; i < 20; ++i) v.push_back(centre * (0.995 + 0.0005 * i));
  return v;
}

Measurement measured(double centre) {
  Measurement m;
  m.samples = around(centre);
  m.summary = summarise(m.samples);
  return m;
}

BenchResult timed(const std::string& variant, double seconds) {
  BenchResult r;
  r.case_id = "spmv.f32(rows=4,cols=4,density=1,fill=real,seed=1)", r.op = "spmv", r.dtype = "f32",
  r.variant = variant, r.device = "cpu";
  r.verdict = "pass";
  r.flop = 2e6, r.bytes = 8e6, r.output_bytes = 1e6;
  r.warm = measured(seconds);
  return r;
}

BenchResult timed_library(const std::string& variant, double seconds) {
  BenchResult r = timed(variant, seconds);
  r.library = true;
  return r;
}

// Memory at 10 GB/s behind a cache of 1 MB at 100 GB/s; 1 Tflop/s.
std::vector<Roof> simple_roofs() {
  return {{"cpu", "read", 10e9, "B/s"}, {"cpu", "copy", 8e9, "B/s"},     {"cpu", "L2 read", 100e9, "B/s"},
          {"cpu", "L2 size", 1e6, "B"}, {"cpu", "fp32", 1e12, "flop/s"}, {"cpu", "fp64", 0.5e12, "flop/s"}};
}

}  // namespace

TEST_CASE(
    "a library that is slower than the first rung is timed again, and the better time is kept and marked") {
  BenchReport report;
  report.results = {timed_library("cpu/81_eigen", 2e-4), timed("cpu/01_serial", 1e-6),
                    timed("cpu/02_row_static", 5e-7)};
  const BenchResult* simplest = simplest_faster(report, report.results[0]);
  REQUIRE(simplest != nullptr);
  CHECK(simplest->variant == "cpu/01_serial");
  const BenchResult once = better_timing(report.results[0], timed_library("cpu/81_eigen", 9e-7), *simplest);
  CHECK(quoted(once)->summary.median < 1e-6);
  CHECK(once.doubt.rfind("once slower than cpu/01_serial: timed twice", 0) == 0);
  const BenchResult still = better_timing(report.results[0], timed_library("cpu/81_eigen", 3e-4), *simplest);
  CHECK(quoted(still)->summary.median == quoted(report.results[0])->summary.median);
  CHECK(still.doubt.rfind("slower than cpu/01_serial: timed twice", 0) == 0);
  report.results[0] = still;
  CHECK(from_json(to_json(report), "r.json").results[0].doubt == still.doubt);
  CHECK(ladder_table(report, still.case_id).find(still.doubt) != std::string::npos);
  SUBCASE("not within noise") {
    CHECK(simplest_faster(report, timed_library("cpu/81_eigen", 1.001e-6)) == nullptr);
  }
  SUBCASE("not beside another rung, where the first was left out for being slow") {
    report.results.erase(report.results.begin() + 1);
    CHECK(simplest_faster(report, report.results[0]) == nullptr);
  }
}

TEST_CASE(
    "the interval of a median is that of the tables: x(6)..x(15) of 20, x(10)..x(21) of 30, the extremes of "
    "6") {
  const Summary s = summarise(counted(20));
  CHECK(s.median == 10.5);
  CHECK(s.low == 6);
  CHECK(s.high == 15);
  CHECK(summarise(counted(30)).low == 10);
  CHECK(summarise(counted(30)).high == 21);
  CHECK(summarise(counted(6)).low == 1);
  CHECK(summarise(counted(6)).high == 6);
  CHECK(summarise(counted(3)).low == 1);
}

TEST_CASE("a result is noisy when its interval is wider than 5 per cent, or its samples are fewer than 20") {
  CHECK_FALSE(summarise(around(1)).noisy);
  CHECK(summarise(counted(20)).noisy);
  CHECK(summarise(std::vector<double>(19, 1.0)).noisy);
  CHECK_FALSE(summarise(std::vector<double>(20, 1.0)).noisy);
  CHECK(summarise({}).count == 0);
}

TEST_CASE(
    "the rank test gives the normal approximation of U, is symmetric, and finds nothing in equal samples") {
  // U = 0 of m = n = 3: z = (4.5 - 0.5) / sqrt(5.25)
  CHECK(rank_test({1, 2, 3}, {4, 5, 6}) == doctest::Approx(0.0809).epsilon(0.01));
  CHECK(rank_test({4, 5, 6}, {1, 2, 3}) == doctest::Approx(rank_test({1, 2, 3}, {4, 5, 6})));
  CHECK(rank_test({1, 1, 1}, {1, 1, 1}) == 1);
  CHECK(rank_test({}, {1}) == 1);
  CHECK(rank_test(around(1.0), around(1.02)) < 1e-6);
  CHECK(rank_test(around(1.0), around(1.0)) > 0.9);
}

TEST_CASE("the geometric mean of 2 and 8 is 4") {
  CHECK(geometric_mean({2, 8}) == doctest::Approx(4));
  CHECK(geometric_mean({}) == 0);
}

TEST_CASE(
    "a floor takes from the cache what fits there, and the rest from memory; or the flop, if they take "
    "longer") {
  const RoofSet roofs = roof_set(simple_roofs(), Device::cpu);
  REQUIRE(roofs.levels.size() == 2);
  const auto floor = [&](double flop, double bytes, bool cold) {
    return floor_seconds(roofs, Dtype::f32, Arithmetic::native, {flop, bytes}, 0.5e6, cold);
  };
  CHECK(floor(0, 1e6, false) == doctest::Approx(10e-6));          // all of it in the cache
  CHECK(floor(0, 11e6, false) == doctest::Approx(10e-6 + 1e-3));  // 1 MB there, 10 MB in memory
  CHECK(floor(0, 10.5e6, true) ==
        doctest::Approx(5e-6 + 1e-3));  // cold: only the 0.5 MB that are written may stay
  CHECK(floor(1e10, 1e6, false) == doctest::Approx(10e-3));
  CHECK(floor_seconds(roofs, Dtype::f64, Arithmetic::native, {1e10, 0}, 0, false) == doctest::Approx(20e-3));
  CHECK(floor_seconds(roofs, Dtype::f32, Arithmetic::winograd, {9e10, 0}, 0, false) ==
        doctest::Approx(40e-3));  // 16 products where the sum takes 36
  CHECK(floor_seconds(RoofSet{}, Dtype::f32, Arithmetic::native, {1e10, 1e10}, 0, false) == 0);
}

TEST_CASE("narrow operands are held to the roof of tensor units, bytes to twice that, and fp32 to its own") {
  RoofSet roofs = roof_set(simple_roofs(), Device::cpu);
  roofs.fp32 = 1e12, roofs.reduced = 1e13;
  const auto floor = [&](Dtype dtype, Arithmetic arithmetic) {
    return floor_seconds(roofs, dtype, arithmetic, {1e12, 0}, 0, false);
  };
  CHECK(floor(Dtype::f32, Arithmetic::native) == doctest::Approx(1));
  CHECK(floor(Dtype::f32, Arithmetic::tf32) == doctest::Approx(0.1));
  CHECK(floor(Dtype::bf16, Arithmetic::native) == doctest::Approx(0.1));
  CHECK(floor(Dtype::f16_f32, Arithmetic::native) == doctest::Approx(0.1));
  CHECK(floor(Dtype::e4m3_bf16, Arithmetic::native) == doctest::Approx(0.05));
  roofs.reduced = 0;  // not known
  CHECK(floor(Dtype::bf16, Arithmetic::native) == 0);
}

TEST_CASE("of two measurements of a roof the better one counts: the higher rate, the shorter launch") {
  const std::vector<Roof> best = better_of({{"gpu", "read", 4, "B/s"}, {"gpu", "empty launch", 3, "s"}},
                                           {{"gpu", "read", 5, "B/s"}, {"gpu", "empty launch", 4, "s"}});
  CHECK(best[0].value == 5);
  CHECK(best[1].value == 3);
}

TEST_CASE("a time below its floor is refused: no figure is left, and the verdict says impossible") {
  BenchReport report;
  report.roofs = simple_roofs();
  report.results = {timed("cpu/01_honest", 1e-3),
                    timed("cpu/02_too_good", 0.5e-3)};  // the floor is 10 us + 7 MB / 10 GB/s = 710 us
  CHECK(refuse_impossible(report) == 1);
  CHECK(report.results[0].has_times());
  CHECK(report.results[0].warm->share_of_roof() == doctest::Approx(0.71).epsilon(0.01));
  CHECK_FALSE(report.results[1].has_times());
  CHECK(report.results[1].verdict == "impossible");
  const std::string table = ladder_table(report, report.results[0].case_id);
  CHECK(table.find("below the floor of 710 us") != std::string::npos);
}

TEST_CASE(
    "the vendor is the fastest verified library variant of the same case and device, whatever its number") {
  BenchReport report;
  report.results = {timed("cpu/01_a", 1e-3), timed_library("cpu/80_slow", 4e-3),
                    timed_library("cpu/07_fast", 2e-3), timed_library("cpu/82_wrong", 1e-6),
                    timed("cpu/83_ours", 1e-6)};
  report.results[3].warm.reset();
  rate_against_vendor(report);
  CHECK(report.results[0].warm->vendor == doctest::Approx(2));
  CHECK(report.results[1].warm->vendor == doctest::Approx(0.5));
  CHECK(report.results[2].warm->vendor == doctest::Approx(1));
}

TEST_CASE("what is prepared pays after so many runs beside the vendor with its own, at once, or never") {
  BenchReport report;
  report.results = {timed("gpu/01_a", 1e-3), timed("gpu/02_b", 1e-3), timed("gpu/03_slower", 3e-3),
                    timed("gpu/04_prepares_nothing", 1e-3), timed_library("gpu/80_vendor", 2e-3)};
  report.results[0].prepare = 0.1, report.results[1].prepare = 0.01, report.results[2].prepare = 0.1;
  report.results[4].prepare = 0.0501;
  rate_against_vendor(report);
  CHECK(report.results[0].pays_after == 50);  // 49.9 ms more, 1 ms less a run
  CHECK(report.results[1].pays_after == 0);
  CHECK(std::isinf(report.results[2].pays_after));
  CHECK(report.results[3].pays_after == -1);
  CHECK(report.results[4].pays_after == -1);
  report.uses = 10;
  const BenchReport back = from_json(to_json(report), "x.json");
  CHECK(to_json(back) == to_json(report));
  CHECK(back.uses == 10);
  CHECK(std::isinf(back.results[2].pays_after));
  const std::string& id = report.results[0].case_id;
  for (const std::string& text : {ladder_table(report, id), bench_markdown(report, {}), bench_html(report)}) {
    CHECK(text.find("pays after") != std::string::npos);
    CHECK(text.find("never") != std::string::npos);
  }
  CHECK(bench_markdown(report, {}).find("| 100.0 ms | 50 |") != std::string::npos);
}

TEST_CASE("the tables of bench fit 80 columns, and no figure is lost by that") {
  BenchReport report;
  report.results = {timed("gpu/01_thread_per_row", 1e-3),
                    timed("gpu/24_tiles_of_b_by_a_tensor_map_and_more", 123.4e-3),
                    timed_library("gpu/80_vendor", 2e-3)};
  for (BenchResult& r : report.results) {
    r.case_id = "spmv.f32(rows=70001,cols=70001,density=0.001,fill=real,layout=far,seed=123456789)";
    r.prepare = 0.1, r.cold = measured(2 * r.warm->summary.median),
    r.chosen = "gpu/13_merge_path among 9 rungs";
    r.kernels.push_back({"kernel", 40, 4096, 16, 256, 4});
  }
  report.results[1].cold.reset();
  report.machine = {
      {"processor", "a processor of 128 cores, 2.1 GHz, two sockets, four memory channels each"}};
  rate_against_vendor(report);
  const std::string& id = report.results[0].case_id;
  report.drawn = DrawnRun{};
  const CompareResult same = compare_reports(report, report, 0.05);
  using Table = std::function<std::string(std::size_t)>;
  for (const Table& table :
       {Table([&](std::size_t columns) { return ladder_table(report, id, columns); }),
        Table([&](std::size_t columns) { return machine_table(report, columns); }),
        Table([&](std::size_t columns) { return compare_table(same, report, report, 0.05, columns); })}) {
    const std::string narrow = table(80), wide = table(0);
    CAPTURE(narrow);
    std::istringstream lines(narrow);
    for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 80);
    const auto dense = [](std::string text) {
      std::erase_if(text, [](unsigned char c) { return std::isspace(c) != 0; });
      return text;
    };
    CHECK(dense(narrow) == dense(wide));
  }
  const std::string drawn = drawn_table(report, 80);
  CAPTURE(drawn);
  std::istringstream lines(drawn);
  for (std::string line; std::getline(lines, line);) CHECK((line.size() <= 80 || line.rfind("    ", 0) == 0));
}

TEST_CASE("no ratio is quoted from an interval too wide, of the variant's or of the vendor's") {
  BenchReport report;
  report.results = {timed("cpu/01_a", 1e-3), timed("cpu/02_wide", 1e-3),
                    timed_library("cpu/80_vendor", 2e-3)};
  const auto widen = [](BenchResult& r) {
    r.warm->samples.assign(10, 0.5e-3);
    r.warm->samples.insert(r.warm->samples.end(), 10, 1.5e-3);
    r.warm->summary = summarise(r.warm->samples);
  };
  widen(report.results[1]);
  rate_against_vendor(report);
  CHECK(report.results[0].warm->vendor == doctest::Approx(2));
  CHECK(report.results[1].warm->vendor == 0);
  CHECK(ladder_table(report, report.results[0].case_id).find("vendor: cpu/80_vendor") != std::string::npos);
  widen(report.results[2]);
  rate_against_vendor(report);
  CHECK(report.results[0].warm->vendor == 0);
}

TEST_CASE("the first table quotes a vendor that flushes subnormals, and none that rounds its operands") {
  BenchReport report;
  report.results = {timed("gpu/01_a", 1e-3), timed_library("gpu/80_flushes", 2e-3),
                    timed_library("gpu/81_own_type", 4e-3), timed_library("gpu/82_rounds", 1e-4)};
  report.results[1].arithmetic = Arithmetic::flushed;
  report.results[3].arithmetic = Arithmetic::tf32;
  const std::string page = bench_markdown(report, {});
  CHECK(page.find("| gpu/80_flushes | 2.000 ms | 2.00x |") != std::string::npos);
}

TEST_CASE("a warm time that is above the cold one is marked") {
  BenchReport report;
  report.results = {timed("cpu/01_a", 2e-3)};
  report.results[0].cold = measured(1e-3);
  CHECK(ladder_table(report, report.results[0].case_id).find("warm is slower than cold") !=
        std::string::npos);
  report.results[0].cold = measured(3e-3);
  CHECK(ladder_table(report, report.results[0].case_id).find("warm is slower") == std::string::npos);
}

TEST_CASE(
    "compare finds a regression above the threshold, calls equal results chance, and names what is missing") {
  BenchReport a, b;
  a.results = {timed("cpu/01_same", 1e-3), timed("cpu/02_slower", 1e-3), timed("cpu/03_faster", 1e-3),
               timed("cpu/04_gone", 1e-3)};
  b.results = {timed("cpu/01_same", 1e-3), timed("cpu/02_slower", 1.2e-3), timed("cpu/03_faster", 0.8e-3),
               timed("cpu/05_new", 1e-3)};
  const CompareResult r = compare_reports(a, b, 0.05);
  REQUIRE(r.changes.size() == 3);
  CHECK_FALSE(r.changes[0].significant);
  CHECK(r.changes[1].regression);
  CHECK(r.changes[1].ratio == doctest::Approx(1.2));
  CHECK(r.changes[2].significant);
  CHECK_FALSE(r.changes[2].regression);
  CHECK(r.regressions == 1);
  CHECK(r.only_before.size() == 1);
  CHECK(r.only_after.size() == 1);
  CHECK(compare_reports(a, b, 0.25).regressions == 0);  // 20 per cent slower is within 25
  CHECK(compare_table(r, a, b, 0.05).find("1 slower by more than 5 %") != std::string::npos);
}

TEST_CASE("a result whose wide interval overlaps the other is no regression, however far its median moved") {
  BenchReport a, b;
  a.results = {timed("cpu/01_a", 1e-3)};
  b.results = {timed("cpu/01_a", 1e-3)};
  a.results[0].warm->samples = {1, 2, 3, 4, 5, 6, 7, 8};
  b.results[0].warm->samples = {1, 2, 3, 4, 6, 7, 8, 9};
  a.results[0].warm->summary = summarise(a.results[0].warm->samples);
  b.results[0].warm->summary = summarise(b.results[0].warm->samples);
  const CompareResult r = compare_reports(a, b, 0.05);
  CHECK(r.changes[0].ratio > 1.05);
  CHECK(r.regressions == 0);
}

TEST_CASE("a report read back is the report written, samples and kernels included") {
  BenchReport report;
  report.version = "0", report.command = "bench --case 'x'", report.machine = {{"processor", "a \"chip\""}},
  report.roofs = simple_roofs();
  report.results = {timed("cpu/01_a", 1e-3), timed("cpu/02_wrong", 1e-3)};
  report.results[0].prepare = 0.25;
  report.results[0].library = true;
  report.results[0].kernels = {{"spmv_rows", 48, 16384, 8, 256, 1000}};
  report.results[1].warm.reset(), report.results[1].verdict = "fail",
                                  report.results[1].reason = "y[3]: got 1, want 2";
  const std::string text = to_json(report);
  const BenchReport back = from_json(text, "x.json");
  CHECK(to_json(back) == text);
  CHECK(back.results[0].warm->samples == report.results[0].warm->samples);
  CHECK(back.results[0].kernels[0].registers == 48);
  CHECK(back.results[0].library);
  CHECK_FALSE(back.results[1].library);
  CHECK_FALSE(back.results[1].has_times());
}

TEST_CASE("in a report without the key \"library\", variants of ours numbered from 80 are libraries") {
  BenchReport report;
  report.results = {timed("gpu/80_cublas", 1e-3), timed("cpu/08_dia", 1e-3), timed("user/80_mine", 1e-3)};
  std::string text = to_json(report);
  const std::string key = "\"library\": false,";
  for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key))
    text.erase(at, key.size());
  const BenchReport old = from_json(text, "x.json");
  CHECK(old.results[0].library);
  CHECK_FALSE(old.results[1].library);
  CHECK_FALSE(old.results[2].library);
}

TEST_CASE("a file that is no report is an error that names it") {
  CHECK_THROWS_WITH_AS(static_cast<void>(from_json("{}", "x.json")),
                       doctest::Contains("x.json: not a report of bench --json"), Error);
  CHECK_THROWS_WITH_AS(static_cast<void>(from_json("{\"plumb", "x.json")), doctest::Contains("x.json"),
                       Error);
  CHECK_THROWS_WITH_AS(static_cast<void>(from_json("{\"plumbline_bench\": 99}", "x.json")),
                       doctest::Contains("another format"), Error);
  CHECK_THROWS_AS(static_cast<void>(read_json("/nonexistent/x.json")), Error);
}

TEST_CASE("times and rates are printed with suitable units") {
  CHECK(time_text(4.123e-6) == "4.123 us");
  CHECK(time_text(51.2e-3) == "51.20 ms");
  CHECK(time_text(12.0) == "12.00 s");
  CHECK(rate_text(4.289e12, "B/s") == "4289 GB/s");
  CHECK(rate_text(48.4e12, "FLOP/s") == "48.4 TFLOP/s");
}

namespace {

// A drawn case of spmv in fp32: the vendor takes 8 s, our best `best`, the adaptive rung `adaptive` (0: there is none).
void add_drawn(BenchReport& report, int rows, double best, double adaptive) {
  const std::string id = "spmv.f32(rows=" + std::to_string(rows) + ",cols=4,density=1,fill=real,seed=1)";
  const auto add = [&](BenchResult r) {
    r.case_id = id;
    report.results.push_back(std::move(r));
  };
  const auto exactly = [](BenchResult r, double seconds) {
    r.warm->samples.assign(20, seconds), r.warm->summary = summarise(r.warm->samples);
    return r;
  };
  add(exactly(timed_library("cpu/80_slow", 1), 9));
  add(exactly(timed_library("cpu/81_fast", 1), 8));
  add(exactly(timed("cpu/01_ours", 1), best));
  if (adaptive == 0) return;
  add(exactly(timed("cpu/02_adaptive", 1), adaptive));
  report.results.back().adaptive = true;
}

// Best of ours 4, 2, 16 and 1 times 8 s: speeds 2, 4, 0.5 and 8.
BenchReport drawn_report() {
  BenchReport report;
  report.drawn.emplace();
  report.drawn->program = "tools/plumb bench", report.drawn->cases = 5, report.drawn->not_begun = {"x"};
  add_drawn(report, 1, 4, 5), add_drawn(report, 2, 2, 2), add_drawn(report, 3, 16, 24),
      add_drawn(report, 4, 1, 2);
  return report;
}

}  // namespace

TEST_CASE("a percentile lies between two values in proportion") {
  CHECK(percentile({4, 1, 3, 2}, 0.5) == 2.5);
  CHECK(percentile({4, 1, 3, 2}, 0) == 1);
  CHECK(percentile({4, 1, 3, 2}, 1) == 4);
  CHECK(percentile(counted(21), 0.05) == 2);
  CHECK(percentile({7}, 0.95) == 7);
  CHECK(percentile({}, 0.5) == 0);
}

TEST_CASE(
    "drawn cases together: geometric mean, 5th percentile, worst and regret, with the worst case's command") {
  const BenchReport report = drawn_report();
  const std::vector<DrawnSummary> all = summarise_drawn(report);
  REQUIRE(all.size() == 1);
  const DrawnSummary& s = all.front();
  CHECK(s.cases == 4);
  CHECK(s.best.cases == 4);
  CHECK(s.best.mean == doctest::Approx(std::pow(2.0 * 4 * 0.5 * 8, 0.25)));
  CHECK(s.best.percentile_5 ==
        doctest::Approx(0.5 + 0.15 * 1.5));  // 0.05 of 3 steps, the first from 0.5 to 2
  CHECK(s.best.worst == 0.5);
  CHECK(s.best.worst_case == "spmv.f32(rows=3,cols=4,density=1,fill=real,seed=1)");
  CHECK(s.best.worst_repro ==
        "tools/plumb bench --case 'spmv.f32(rows=3,cols=4,density=1,fill=real,seed=1)' --device cpu --warm "
        "--variant cpu/81_fast --variant cpu/01_ours");
  CHECK(s.adaptive.mean == doctest::Approx(std::pow(8.0 / 5 * 4 * 8 / 24 * 4, 0.25)));
  CHECK(s.adaptive.worst == doctest::Approx(8.0 / 24));
  // slower by 25 %, 0, 50 % and 100 %
  CHECK(s.regret.cases == 4);
  CHECK(s.regret.median == doctest::Approx(0.375));
  CHECK(s.regret.percentile_95 == doctest::Approx(0.5 + 0.85 * 0.5));
  CHECK(s.regret.worst == doctest::Approx(1));
  CHECK(s.regret.worst_case == "spmv.f32(rows=4,cols=4,density=1,fill=real,seed=1)");
  CHECK(drawn_table(report).find("100.0 %") != std::string::npos);
  CHECK(drawn_table(report).find("1 cases, and 0 variants") != std::string::npos);
  CHECK(drawn_markdown(report).find("| spmv.f32 cpu | 4 | 2.38x |") != std::string::npos);
}

TEST_CASE("of drawn cases, another arithmetic and other devices are no yardstick, a single run is one") {
  BenchReport report;
  report.drawn.emplace();
  add_drawn(report, 1, 4, 0);
  BenchResult rounded = timed("cpu/03_tf32", 1), elsewhere = timed_library("gpu/80_vendor", 0.001);
  rounded.arithmetic = Arithmetic::tf32, elsewhere.device = "gpu";
  elsewhere.case_id = rounded.case_id = report.results.front().case_id;
  report.results.push_back(rounded), report.results.push_back(elsewhere);
  CHECK(summarise_drawn(report).front().best.mean == 2);
  CHECK(summarise_drawn(report).front().regret.cases == 0);
  report.results[2].warm.reset(), report.results[2].single = 16;  // ours was left out after one run
  CHECK(summarise_drawn(report).front().best.mean == 0.5);
  CHECK(summarise_drawn(report).front().best.noisy == 1);
}

TEST_CASE("a report of drawn cases is read back as it was written, with what its head and table say") {
  BenchReport report = drawn_report();
  report.drawn->size = {1000, 2000, 3000, 4000}, report.drawn->seed = 7, report.drawn->limit = 60;
  report.results[2].warm.reset(), report.results[2].single = 16;
  const BenchReport again = from_json(to_json(report), "again");
  REQUIRE(again.drawn);
  CHECK(again.drawn->size == report.drawn->size);
  CHECK(drawn_table(again) == drawn_table(report));
  CHECK(again.results[3].adaptive);
  CHECK(to_json(again) == to_json(report));
}

TEST_CASE("a picture of drawn cases has one point for each case and kind, and is empty without a ratio") {
  const std::string svg = drawn_svg(drawn_report(), "spmv");
  std::size_t points = 0;
  for (std::size_t at = svg.find("<circle"); at != std::string::npos; at = svg.find("<circle", at + 1))
    ++points;
  CHECK(points == 8);
  CHECK(svg.find("compulsory traffic") != std::string::npos);
  CHECK(drawn_svg(drawn_report(), "gemm").empty());
}

TEST_CASE("a limit is shared among the operators that are left, and theirs among their cases") {
  TimeShares shares(100, 1e9, {"a", "a", "a", "a", "b", "b"});
  CHECK(shares.may_begin(0, 0));
  CHECK(shares.deadline(0, 0) == 25);  // twice a quarter of 50
  CHECK(shares.may_begin(1, 40));
  CHECK(shares.deadline(1, 40) == doctest::Approx(40 + 2 * 10 / 3.0));
  CHECK(shares.may_begin(3, 49));
  CHECK(shares.deadline(3, 49) == 50);  // never past the operator's share
  CHECK_FALSE(shares.may_begin(3, 50));
  CHECK(shares.may_begin(4, 20));  // what an operator leaves, the next ones have
  CHECK(shares.deadline(4, 20) == 100);
  CHECK_FALSE(shares.may_begin(5, 100));
  TimeShares unlimited(std::numeric_limits<double>::infinity(), 10, {"a", "b"});
  CHECK(unlimited.may_begin(0, 1e6));
  CHECK(unlimited.deadline(0, 1e6) == 1e6 + 10);
}

TEST_CASE("a picture holds every variant, and escapes what an id may hold") {
  BenchReport report;
  report.results = {timed("cpu/01_a", 1e-3), timed_library("cpu/81_b", 2e-3)};
  for (BenchResult& r : report.results) r.case_id = "x(matrix=<a>&b)";
  rate_against_vendor(report);
  const std::string svg = ladder_svg(report, "x(matrix=<a>&b)");
  CHECK(svg.find("cpu/01_a") != std::string::npos);
  CHECK(svg.find("2.00x") != std::string::npos);
  CHECK(svg.find("&lt;a&gt;&amp;b") != std::string::npos);
  CHECK(svg.find("<a>") == std::string::npos);
  CHECK(bench_html(report).find("<a>") == std::string::npos);
}

// ---- the timing loop ----

namespace {

// y = 3 x + y: the smallest operator that reads what it writes.
struct Update : Contract<Update> {
  static constexpr const char* kName = "update";
  static constexpr const char* kSignature = "x: n, n -> y: n";
  static constexpr auto& kDtypes = kUsualDtypes;
  PLUMB_PROBLEM(std::int64_t n;)
  PLUMB_INPUTS(Vector x;)
  PLUMB_OUTPUTS(Vector y;)
  static void describe(CaseSpace&) {}
  static void cases(CaseList& list) { list.add(Tier::smoke, "n=100", {Fill::exact}, "the only one"); }
  template <class T>
  static void make(const Case& c, Instance<Update, T>& i) {
    i.problem.n = c.integer("n");
    i.in.x = make_vector<T>(i.arena, i.problem.n, c, Role::right, 1);
    i.out.y.size = i.problem.n;
    i.out.y.data = i.arena.template allocate<T>(i.problem.n);
    for (std::int64_t k = 0; k < i.problem.n; ++k) i.out.y.data[k] = static_cast<T>(k % 5);
  }
  template <class T>
  static void validate(const Problem<T>&, const In<T, Space::host>&, const Out<T, Space::host>&) {}
  template <class T>
  static void oracle(const Problem<T>& p, const In<T, Space::host>& in, const Out<T, Space::host>& out,
                     Reference& r) {
    r.outputs.emplace_back().resize(p.n);
    for (std::int64_t i = 0; i < p.n; ++i) {
      OracleDot<T> d;
      d.add_product(T(3), in.x[i]);
      d.add_product(T(1), out.y[i]);
      r.outputs[0].take(i, d);
    }
  }
  template <class T>
  static Work cost(const Problem<T>& p, const In<T, Space::host>&, const Out<T, Space::host>&) {
    return {static_cast<double>(2 * p.n), static_cast<double>(2 * p.n), static_cast<double>(p.n)};
  }
  static double bound(const Tolerance& t, int, double v, double m, std::int64_t n) {
    return sum_bound(t, v, m, n);
  }
};

using P = Update::Problem<float>;
using I = Update::In<float, Space::host>;
using O = Update::Out<float, Space::host>;

void honest(const P& p, const I& in, const O& out, Context&) {
  for (std::int64_t i = 0; i < p.n; ++i) out.y[i] += 3 * in.x[i];
}
void tires(const P& p, const I& in, const O& out, Context& c) {
  static int calls = 0;
  if (++calls <= 10) honest(p, in, out, c);
}
std::set<void*> g_workspaces;
void with_workspace(const P& p, const I& in, const O& out, Context& c) {
  g_workspaces.insert(c.workspace(64));
  honest(p, in, out, c);
}
void* prepares(const P&, const I&, const O&, Context& c) { return c.workspace(64); }
void keeps_plan(const P& p, const I& in, const O& out, Context& c) {
  // what prepare() was given is its plan's, and is never handed out again
  if (c.workspace(64) == c.plan) out.y[0] = -1;
  honest(p, in, out, c);
}

std::int64_t g_uses = -1;
void* hears_uses(const P&, const I&, const O&, Context& c) {
  g_uses = c.uses;
  return nullptr;
}

void* takes_over(const P&, const I&, const O&, Context& c) {
  c.count_as_preparation(100);
  return nullptr;
}

const Register<Update, float, Space::host> r_takes_over{"takes_over", honest, {}, nullptr, takes_over};
const Register<Update, float, Space::host> r_uses{"hears_uses", honest, {}, nullptr, hears_uses};
const Register<Update, float, Space::host> r_honest{"honest", honest};
const Register<Update, float, Space::host> r_tires{"tires", tires};
const Register<Update, float, Space::host> r_workspace{"with_workspace", with_workspace};
const Register<Update, float, Space::host> r_plan{"keeps_plan", keeps_plan, {}, nullptr, prepares};

Record time_variant(const std::string& variant, Timing& timing, bool cold, std::int64_t uses = 0) {
  static const OperatorAdapter<Update> adapter;
  RunOptions options;
  options.uses = uses;
  options.isolation = Isolation::none;
  Runner runner(options);
  runner.use(adapter);
  const Case c = parse_case("update.f32(n=100,fill=exact,seed=3)");
  const auto prepared = adapter.prepare(c);
  TimingRequest request;
  request.samples = 25, request.cold = cold;
  request.budget = 1e9;  // seconds: however slow the machine, all samples are taken
  for (const VariantInfo& v : adapter.variants(Device::gpu)) {
    if (v.name == "cpu/" + variant) return runner.judge_timed(c, *prepared, v, request, timing);
  }
  FAIL("no such variant");
  return {};
}

}  // namespace

TEST_CASE(
    "every sample begins with the outputs as they were: an update in place is right after any number of "
    "them") {
  Timing timing;
  const Record r = time_variant("honest", timing, true);
  CHECK_MESSAGE(r.verdict == Verdict::pass, r.reason);
  CHECK(timing.warm.size() == 25);
  CHECK(timing.cold.size() == 25);
  CHECK(timing.prepare < 0);
  for (const double t : timing.warm) CHECK(t >= 0);
}

TEST_CASE("a variant that stops working during the timing fails the judgement after it") {
  Timing timing;
  CHECK(is_failed(time_variant("tires", timing, false).verdict));
}

TEST_CASE("a timed run gets the workspace of the first again, and never that of its plan") {
  Timing timing;
  g_workspaces.clear();
  CHECK(time_variant("with_workspace", timing, false).verdict == Verdict::pass);
  CHECK(g_workspaces.size() <= 4);  // one per judged run, however many samples: three, and a twin
  CHECK(time_variant("keeps_plan", timing, false).verdict == Verdict::pass);
  CHECK(timing.prepare >= 0);
}

TEST_CASE("prepare() hears how many runs of its plan are expected") {
  Timing timing;
  for (const std::int64_t uses : {std::int64_t{0}, std::int64_t{10}, kManyUses}) {
    CHECK(time_variant("hears_uses", timing, false, uses).verdict == Verdict::pass);
    CHECK(g_uses == uses);
  }
}

TEST_CASE("what a plan takes over from an earlier one counts as its preparation") {
  Timing timing;
  CHECK(time_variant("takes_over", timing, false).verdict == Verdict::pass);
  CHECK(timing.prepare >= 100);
}

TEST_CASE("a time budget that is used up ends the samples, but never before the first") {
  Timing timing;
  static const OperatorAdapter<Update> adapter;
  RunOptions options;
  options.isolation = Isolation::none;
  Runner runner(options);
  runner.use(adapter);
  const Case c = parse_case("update.f32(n=100,fill=exact,seed=3)");
  const auto prepared = adapter.prepare(c);
  TimingRequest request;
  request.samples = 1000000, request.budget = 1e-9, request.cold = false;
  for (const VariantInfo& v : adapter.variants(Device::gpu)) {
    if (v.name == "cpu/honest")
      CHECK(runner.judge_timed(c, *prepared, v, request, timing).verdict == Verdict::pass);
  }
  CHECK(timing.warm.size() == 1);
}

TEST_CASE("a variant far slower than the limit is run once under the clock, is judged, and is marked") {
  static const OperatorAdapter<Update> adapter;
  RunOptions options;
  options.isolation = Isolation::none;
  Runner runner(options);
  runner.use(adapter);
  const Case c = parse_case("update.f32(n=100,fill=exact,seed=3)");
  const auto prepared = adapter.prepare(c);
  TimingRequest request;
  request.samples = 25, request.budget = 1e9;
  for (const double limit : {1e-12, 1e9}) {
    request.give_up_above = limit;
    for (const VariantInfo& v : adapter.variants(Device::gpu)) {
      if (v.name != "cpu/honest") continue;
      Timing timing;
      CHECK(runner.judge_timed(c, *prepared, v, request, timing).verdict == Verdict::pass);
      CHECK(timing.given_up == (limit < 1));
      CHECK(timing.warm.size() == (limit < 1 ? 1 : 25));
      CHECK(timing.cold.size() == (limit < 1 ? 0 : 25));
    }
  }
}
