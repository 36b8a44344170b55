// The program bench as a person runs it: exit codes, refusals, and a report from one command compared by another.
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "datasets/tests/scratch.hpp"
#include "tools/testing/shell.hpp"

namespace {

using plumb::test::Scratch;
using plumb::test::slurp;
using plumb::testing::expect;
using plumb::testing::Outcome;

Outcome bench(const std::string& arguments, const std::string& environment = "") {
  return plumb::testing::shell(environment + " " PLUMB_BENCH " " + arguments);
}

const std::string kCase = "'spmv.f32(rows=300,cols=200,density=0.05,fill=real,seed=5)'";

// A report of bench --json with 20 equal samples of one variant, so that no figure depends on this machine.
std::string stored(const std::string& variant) {
  std::string samples = "0.001";
  for (int i = 1; i < 20; ++i) samples += ",0.001";
  const std::string head =
      R"json({"plumbline_bench": 1, "version": "0", "command": "", "machine": {}, "roofs": [],
    "results": [{"case": "spmv.f32(rows=300,cols=200,density=0.05,fill=real,seed=5)", "op": "spmv", "dtype": "f32",
    "device": "cpu", "arithmetic": "native", "verdict": "pass", "reason": "", "chosen": "",
    "flop": 6000, "bytes": 30000, "output_bytes": 1200, "variant": ")json";
  return head + variant + R"json(", "warm": {"floor_s": 0, "vendor_ratio": 0, "samples_s": [)json" + samples +
         "]}}]}";
}

}  // namespace

TEST_CASE("an unknown word gives exit code 2 and the nearest known word") {
  CHECK(bench("--csae all").exit_code == 2);
  CHECK(bench("--csae all").has("did you mean '--case'?"));
  CHECK(bench("--case 'spvm.*'").has("did you mean 'spmv'?"));
  CHECK(bench("--case 'spvm.*'").exit_code == 2);
  CHECK(bench("--case " + kCase + " --variant cpu/01_serail").has("did you mean 'cpu/01_serial'?"));
  CHECK(bench("").exit_code == 2);
  CHECK(bench("--case spmv --samples 5").exit_code == 2);
  CHECK(bench("--help").has("bench compare before.json after.json"));
  CHECK(bench("--help").exit_code == 0);
  CHECK(bench("--help").longest_line() <= 100);
  CHECK(bench("--help all").longest_line() <= 100);
  CHECK(bench("--help all").has("--case-budget"));
}

TEST_CASE("on a terminal of 80 columns no line is wider") {
  const Outcome run =
      plumb::testing::on_terminal(PLUMB_BENCH " --case " + kCase + " --variant 'cpu/01*' --budget 0.01", 80);
  INFO(run.text);
  CHECK(run.exit_code == 0);
  CHECK(run.has("cpu/01_serial"));
  for (const std::string& line : plumb::testing::written_lines(run.text)) CHECK(line.size() <= 80);
}

TEST_CASE("an environment that changes the vendor's arithmetic is refused") {
  CHECK(bench("--case " + kCase, "NVIDIA_TF32_OVERRIDE=1").exit_code == 2);
  CHECK(bench("--case " + kCase, "CUBLAS_EMULATE_DOUBLE_PRECISION=1")
            .has("unset CUBLAS_EMULATE_DOUBLE_PRECISION"));
}

TEST_CASE("a timed case is written as JSON, page and picture, and does not differ from itself") {
  const Scratch folder;
  const std::string json = folder.file("a.json"), html = folder.file("a.html"), svg = folder.file("svg");
  const Outcome run =
      bench("--case " + kCase + " --variant 'cpu/01*' --variant 'cpu/8*' --warm --samples 20 --json " + json +
            " --html " + html + " --svg " + svg);
  CHECK_MESSAGE(run.exit_code == 0, run.text);
  CHECK(run.has("cpu/01_serial"));
  CHECK(run.has("bench: 2 timed, 0 not timed because wrong"));
  CHECK(std::distance(std::filesystem::directory_iterator(svg), {}) == 1);
  const std::string page = slurp(html);
  CHECK(page.find("</svg>") != std::string::npos);
  CHECK(page.find("cpu/81_eigen") != std::string::npos);
  expect(bench("compare " + json + " " + json), 0, {"0 slower by more than 5 %"});
}

TEST_CASE("emptying the caches is not held against a variant that uses one thread") {
  const Outcome run = bench("--case " + kCase + " --variant cpu/01_serial --cold --samples 20");
  CHECK_MESSAGE(run.exit_code == 0, run.text);
  CHECK(run.has("bench: 1 timed, 0 not timed because wrong"));
}

TEST_CASE("compare names a file that is not there, and one that is no report") {
  CHECK(bench("compare /nonexistent/a.json /nonexistent/b.json").exit_code == 2);
  CHECK(bench("compare /dev/null /dev/null").has("/dev/null: not a report of bench --json"));
}

TEST_CASE("stored reports are drawn again: tables with our fastest beside the vendor's, and plots") {
  const Scratch folder;
  const std::string a = folder.write("a.json", stored("cpu/01_serial")),
                    b = folder.write("b.json", stored("cpu/81_eigen")), plots = folder.file("plots");
  expect(bench("draw " + a + " " + b + " --svg " + plots), 0);
  CHECK(std::filesystem::exists(plots + "/spmv.f32_rows_300_cols_200_density_0.05_fill_real_seed_5.svg"));
  const Outcome table = bench("draw " + a + " " + b);
  CHECK(table.has("| cpu/01_serial |"));
  CHECK(table.has("| cpu/81_eigen |"));
  CHECK(table.has("spmv.f32, geometric mean of 1"));
  // A page beside the plots' folder shows them by their way from there.
  const std::string page = folder.file("page.md");
  CHECK(bench("draw " + a + " --markdown " + page + " --svg " + plots).exit_code == 0);
  CHECK(slurp(page).find("](plots/spmv.f32_rows_300_cols_200_density_0.05_fill_real_seed_5.svg)") !=
        std::string::npos);
  CHECK(bench("draw " + folder.file("missing.json")).exit_code == 2);
}

TEST_CASE("bench: a limit is a number of seconds above 0, and a full standard output is an error") {
  for (const char* option : {"--timeout", "--budget"}) {
    expect(bench("--case spmv " + std::string(option) + "=nan"), 2,
           {std::string(option) + ": not a number of seconds"});
  }
  CHECK(plumb::testing::shell("{ " PLUMB_BENCH " --help; } > /dev/full").exit_code == 2);
}

TEST_CASE("drawn cases are timed, and what they say is written as table, JSON, page and pictures") {
  const Scratch folder;
  const std::string json = folder.file("a.json"), page = folder.file("a.md"), plots = folder.file("plots");
  const Outcome run = bench("--drawn 2 --seed 3 --case reduce --device cpu --budget 0.01 --json " + json +
                            " --markdown " + page + " --svg " + plots);
  CHECK_MESSAGE(run.exit_code == 0, run.text);
  CHECK(run.has("2 cases drawn for timing, 2 of each operator, seed 3: 64 KiB to "));
  CHECK(run.has("reduce.f32 cpu"));
  CHECK(run.has("reduce.f64 cpu"));
  CHECK(std::filesystem::exists(plots + "/drawn_reduce.svg"));
  CHECK(slurp(page).find("](plots/drawn_reduce.svg)") != std::string::npos);
  CHECK(slurp(json).find("\"drawn\"") != std::string::npos);
  expect(bench("draw " + json), 0, {"reduce.f64 cpu"});
}

TEST_CASE("a limit that is over leaves a whole report that counts what was not timed") {
  const Scratch folder;
  const std::string json = folder.file("a.json");
  const Outcome run = bench("--drawn 2 --case gemv --device cpu --limit 0.001 --json " + json);
  CHECK_MESSAGE(run.exit_code == 3, run.text);
  CHECK(run.has("not timed for want of time (limit 0.001 s): 2 cases"));
  expect(bench("draw " + json + " --markdown " + folder.file("a.md")), 3);
  CHECK(slurp(folder.file("a.md")).find("not timed for want of time (limit 0.001 s): 2 cases") !=
        std::string::npos);
}

TEST_CASE(
    "a budget of a case that is over leaves out its simplest rungs, never the vendors and the first of "
    "ours") {
  const Outcome run = bench("--drawn 1 --case gemv.f32 --device cpu --budget 0.01 --case-budget 0.0001");
  CHECK_MESSAGE(run.exit_code == 0, run.text);
  CHECK(run.has("not timed for want of time: 0 cases, and 4 variants of the others"));
  CHECK(run.has("bench: 3 timed, 0 not timed because wrong"));
}

TEST_CASE("how often a plan will be run is a number or 'many', and stands in the report") {
  const Scratch folder;
  const std::string json = folder.file("a.json");
  const Outcome run = bench(
      "--drawn 1 --case gemv.f32 --device cpu --budget 0.01 --case-budget 0.0001 --uses 10 --json " + json);
  CHECK_MESSAGE(run.exit_code == 0, run.text);
  CHECK(run.has("adaptive rungs chose for 10 runs of a plan"));
  CHECK(slurp(json).find("\"uses\": 10") != std::string::npos);
  for (const char* wrong : {"0", "few", "-1"}) {
    expect(bench(std::string("--case gemv.f32 --device cpu --uses=") + wrong), 2, {"--uses"});
  }
}

TEST_CASE("a rung's choice is rated against the best: --adaptive names it where its name does not") {
  const Outcome run = bench("--drawn 1 --case gemv.f32 --device cpu --budget 0.01 --adaptive 'cpu/01*'");
  CHECK_MESSAGE(run.exit_code == 0, run.text);
  CHECK(run.has("; adaptive cpu/01_serial "));
}

TEST_CASE("drawn GCNs are timed beside the libraries' pipelines, and one of them by its id") {
  const Scratch folder;
  const std::string json = folder.file("r.json");
  const Outcome planned = bench("--drawn 4 --case gcn --seed 3 --device cpu --dry-run");
  CHECK_MESSAGE(planned.exit_code == 0, planned.text);
  for (const char* variant : {"cpu/openblas", "cpu/eigen", "cpu/fused"}) CHECK(planned.has(variant));
  CHECK(planned.has("gcn.f32(vertices="));
  CHECK(planned.has("gcn.f64(vertices="));
  const std::string id =
      "gcn.f32(vertices=70,graph=rmat,density=0.05,values=normalised,x=csr,x_density=0.2,widths=9-5-3,"
      "biases=none,fill=real,seed=1)";
  const Outcome run = bench("--case '" + id + "' --device cpu --budget 0.01 --json " + json);
  CHECK_MESSAGE(run.exit_code == 0, run.text);
  CHECK(run.has("bench: 3 timed, 0 not timed because wrong"));
  const std::string report = slurp(json);
  CHECK(report.find("\"variant\": \"cpu/fused\"") != std::string::npos);
  const std::pair<const char*, const char*> refused[] = {
      {"--case gcn --device cpu", "no GCN is listed: --drawn N draws some"},
      {"--case gcn --drawn 1 --cold", "--case gcn takes neither --cold, --plugin nor --matrix"},
      {"--case 'gcn.f32(vertices=5' --device cpu", "gcn.f32(vertices=5"}};
  for (const auto& [words, reason] : refused) { expect(bench(words), 2, {reason}); }
}

TEST_CASE("drawn cases stand beside a user's matrix, and a matrix too large for an operator is named") {
  const Scratch folder;
  const std::string file =
      folder.write("m.mtx", "%%MatrixMarket matrix coordinate real general\n300 300 2\n1 2 0.5\n300 1 1.5\n");
  const Outcome planned = bench("--drawn 2 --case spmm,gemv --device cpu --dry-run --matrix " + file);
  CHECK_MESSAGE(planned.exit_code == 0, planned.text);
  CHECK(planned.has("spmm.f32(matrix=" + file + ",n="));
  CHECK(planned.has("spmm.f64(matrix=" + file + ",n="));
  const std::string wide =
      folder.write("w.mtx", "%%MatrixMarket matrix coordinate real general\n2000000 2000000 1\n1 2 0.5\n");
  expect(bench("--drawn 2 --case dense_to_csr --device cpu --dry-run --matrix " + wide), 0,
         {wide + ": left out of dense_to_csr.f32"});
}

TEST_CASE("options of drawn cases need --drawn, and reports of two draws are not joined") {
  CHECK(bench("--case spmv --seed 3").has("--seed is for drawn cases"));
  CHECK(bench("--case spmv --limit 3").exit_code == 2);
  CHECK(bench("--drawn 0").exit_code == 2);
  CHECK(bench("--drawn 2 --limit nan").has("--limit: not a number of seconds"));
  const Scratch folder;
  const std::string a = folder.file("a.json"), b = folder.file("b.json");
  const std::string common =
      "--drawn 1 --case gemv.f32 --device cpu --budget 0.01 --case-budget 0.0001 --json ";
  for (const std::string& options : {a, b + " --seed 4"}) {
    const Outcome run = bench(common + options);
    CHECK_MESSAGE(run.exit_code == 0, run.text);
  }
  CHECK(bench("draw " + a + " " + b).has("its cases were not drawn as the others'"));
  CHECK(bench("draw " + a + " " + a).exit_code == 0);
}
