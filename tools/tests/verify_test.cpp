// The program verify as a person runs it, and stops it.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "datasets/tests/scratch.hpp"
#include "tools/testing/shell.hpp"

namespace {

using plumb::testing::expect;
using plumb::testing::Outcome;

Outcome verify(const std::string& arguments, const std::string& before = "") {
  return plumb::testing::shell(before + " '" PLUMB_VERIFY "' " + arguments);
}

using Json = nlohmann::json;

// The records of a report of --json.
std::vector<Json> records(const std::string& path) {
  std::vector<Json> all;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    Json j = Json::parse(line, nullptr, false);
    if (j.is_object() && j.contains("verdict")) all.push_back(std::move(j));
  }
  return all;
}

// For a shell.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

constexpr const char* kMatrix =
    "%%MatrixMarket matrix coordinate real general\n3 4 3\n1 1 2.5\n2 3 -1\n3 4 0.125\n";

}  // namespace

// A fault that only the last of its attacks notices: whoever stops before has seen it pass.
TEST_CASE("an interrupted attack is no survivor: the mutant was not judged") {
  for (const std::string seconds : {"0.02", "0.05", "0.1", "0.3", "0.5", "0.7", "1.0"}) {
    CAPTURE(seconds);
    const Outcome stopped = verify("--mutants --device simt --variant mutant/look_back_state_not_cleared",
                                   "timeout --preserve-status -s INT " + seconds);
    if (stopped.exit_code == 0) break;  // it was over before the signal came
    INFO(stopped.text);
    CHECK(stopped.exit_code == 128 + 2);
    if (!stopped.has("mutants of the judge")) continue;  // or the signal before it had begun
    CHECK_FALSE(stopped.has("SURVIVED"));
    // or after the mutant was dead, among those of the judge
    CHECK((stopped.has("or they were interrupted") || stopped.has("mutants: 13 of 13 killed")));
  }
}

TEST_CASE(
    "--dry-run says what would be judged: variants on cases, and under compute-sanitizer each variant once") {
  const std::string spmv = "--case 'spmv.f32(rows=1*)' --dry-run ";
  const Outcome plain = expect(verify(spmv + "--variant 'cpu/01*'"), 0);
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

TEST_CASE("cases judged side by side have the records that they have one after the other") {
  const plumb::test::Scratch scratch;
  std::vector<std::vector<std::string>> all;
  for (const std::string jobs : {"", " --jobs 1", " --jobs 3"}) {
    const std::string path = scratch.file("r.json");
    const Outcome o = verify("--case 'transpose.*' --listed --device cpu --json " + path + jobs);
    INFO(o.text);
    CHECK(o.exit_code == 0);
    std::vector<std::string>& lines = all.emplace_back();
    for (const Json& r : records(path)) {
      lines.push_back(r["case"].get<std::string>() + " " + r["variant"].get<std::string>() + " " +
                      r["verdict"].get<std::string>() + " " + r["reason"].get<std::string>());
    }
    std::sort(lines.begin(), lines.end());
    CHECK(std::adjacent_find(lines.begin(), lines.end()) == lines.end());
  }
  CHECK(all[0].size() > 100);
  CHECK(all[0] == all[1]);
  CHECK(all[0] == all[2]);
}

TEST_CASE("--sanitize is for kernels on a GPU") {
  expect(verify("--case gemm --sanitize all --device simt"), 2, {"--sanitize judges kernels on a GPU"});
  CHECK(verify("--mutants --sanitize all --device cpu").exit_code == 2);
}

TEST_CASE("a seed of --stress is a whole number from 1 on") {
  for (const char* seed : {"0", "-1", "x", "3x"}) {
    expect(verify(std::string("--case spmv.f32 --stress=") + seed), 2, {"whole number"});
  }
}

TEST_CASE("--case @FILE takes the cases that a file names, and says where it went wrong") {
  const plumb::test::Scratch scratch;
  const auto judged = [&](const std::string& bytes) {
    return verify("--dry-run --variant 'cpu/01*' --case '@" + scratch.write("my cases.txt", bytes) + "'");
  };
  const Outcome two =
      judged("# both\n\nspmv.f32(rows=1,fill=exact) # one\n  gemv.f64(rows=1,*),gemv.f64(rows=1)\r\n");
  INFO(two.text);
  CHECK(two.exit_code == 2);  // (rows=1,*) is no list of keys and patterns
  CHECK(two.has("my cases.txt:4: "));
  const Outcome right = judged("spmv.f32(rows=1,fill=exact) # one\n# two\n  gemv.f64(rows=1)\r\n");
  INFO(right.text);
  CHECK(right.exit_code == 0);
  CHECK(right.has("spmv.f32(rows=1,"));
  CHECK(right.has("gemv.f64(rows=1,"));
  CHECK(judged("# nothing\n").exit_code == 2);
  expect(verify("--dry-run --case @/no/such/file"), 2, {"/no/such/file: "});
}

TEST_CASE(
    "verify --case gcn judges drawn networks in every pipeline, and refuses what networks do not have") {
  const Outcome run = expect(verify("--case gcn --drawn 2 --seed 7"), 0);
  CAPTURE(run.text);
  CHECK(run.line(0) == "seed: 7");
  CHECK(run.line(-1) == "drawn: 2 networks, 0 failed; 6 runs, 0 beyond a bound or ended by an error");
  const std::pair<const char*, const char*> refused[] = {
      {"", "no network is listed: --drawn N judges N drawn ones"},
      {"--drawn 1 --variant cpu/fused", "--case gcn does not take --variant"},
      {"--drawn 1 --shard 1/2", "--case gcn does not take --shard"},
      {"--drawn 1 --device cpu --device simt", "--case gcn does not take more than one --device"},
      {"--drawn 1 --junit /tmp/never.xml", "--case gcn does not take reports but --json"}};
  for (const auto& [words, reason] : refused) {
    expect(verify(std::string("--case gcn ") + words), 2, {reason});
  }
}

TEST_CASE("without a GPU, the message names the way to run GPU kernels") {
  const Outcome run = verify("--case 'transpose.f32(rows=63*)' --variant '*/01*'");
  if (!run.has("no CUDA device")) {
    MESSAGE("skipped: a GPU is here, or a build without CUDA");
    return;
  }
  CHECK(run.exit_code == 0);
  CHECK(run.has("--device simt, and --race"));
}

TEST_CASE("a repro line pasted into a shell reruns its record, whatever the file is called") {
  const plumb::test::Scratch scratch;
  scratch.write("sub/x", "");
  for (const std::string name : {"plain.mtx", "a b.mtx", "../up.mtx", "it's,(odd)*?.mtx", "50%.mtx",
                                 "1..2.mtx", "a #b.mtx", "tab\there.mtx", "$HOME`id`\".mtx", "x=y[1].mtx"}) {
    CAPTURE(name);
    scratch.write("sub/" + name, kMatrix);
    const std::string in = "unset PLUMB_COMMAND; cd " + quoted(scratch.file("sub")) + " && ";
    const Outcome first = plumb::testing::shell(
        in +
        "'" PLUMB_VERIFY
        "' --case 'spmv.f32(alpha=2)' --fill own --variant cpu/01_serial --repeat 4 --timeout 50 "
        "--isolate case --json first.json --matrix " +
        quoted(name));
    CHECK_MESSAGE(first.exit_code == 0, first.text);
    const std::vector<Json> before = records(scratch.file("sub/first.json"));
    REQUIRE(before.size() == 1);
    const std::string line = before[0]["repro"];
    CAPTURE(line);
    for (const char* flag : {" --repeat 4", " --timeout 50", " --isolate case"})
      CHECK(line.find(flag) != std::string::npos);
    const Outcome again = plumb::testing::shell(in + line + " --json second.json");
    CHECK_MESSAGE(again.exit_code == 0, again.text);
    const std::vector<Json> after = records(scratch.file("sub/second.json"));
    REQUIRE(after.size() == 1);
    CHECK(after[0]["case"] == before[0]["case"]);
    CHECK(after[0]["variant"] == before[0]["variant"]);
    CHECK(after[0]["repro"] == before[0]["repro"]);
  }
}

TEST_CASE("a repro line begins with the words of the front end that started verify") {
  const plumb::test::Scratch scratch;
  const Outcome run =
      verify("--case 'transpose.f32(rows=1,fill=index)' --variant 'cpu/01*' --json " + scratch.file("r.json"),
             "PLUMB_COMMAND=\"tools/plumb --extra 'my kernels'\"");
  CHECK_MESSAGE(run.exit_code == 0, run.text);
  const std::vector<Json> all = records(scratch.file("r.json"));
  REQUIRE_FALSE(all.empty());
  CHECK(all[0]["repro"].get<std::string>().rfind("tools/plumb --extra 'my kernels' verify --case ", 0) == 0);
}

TEST_CASE("a report goes to a pipe, a device and through a link; words for people then go to stderr") {
  const plumb::test::Scratch scratch;
  const std::string one = "--case 'transpose.f32(rows=1,fill=index)' --variant 'cpu/01*' ";
  const Outcome piped =
      plumb::testing::shell("'" PLUMB_VERIFY "' " + one +
                            "--json /dev/stdout 2>/dev/null | python3 -c "
                            "'import json,sys; print(len([json.loads(l) for l in sys.stdin]) > 2)'");
  CHECK_MESSAGE(piped.has("True"), piped.text);
  for (const std::string option : {"--json", "--junit", "--csv", "--html", "--markdown"}) {
    CAPTURE(option);
    CHECK(verify(one + option + " /dev/null").exit_code == 0);
    CHECK(plumb::testing::shell("test -c /dev/null").exit_code == 0);
    const std::string target = scratch.write("target", "old"), link = scratch.file("link");
    CHECK(plumb::testing::shell("ln -sf target " + link).exit_code == 0);
    CHECK(verify(one + option + " " + link).exit_code == 0);
    CHECK(plumb::testing::shell("test -L " + link + " && ! grep -qx old " + target).exit_code == 0);
    const Outcome page =
        plumb::testing::shell("'" PLUMB_VERIFY "' " + one + option + " /dev/stdout 2>/dev/null | cat");
    CHECK_MESSAGE(page.has("transpose"), page.text);
    CHECK_FALSE(page.has("verify: 1 passed, 0 failed, 0 skipped (5"));
  }
  CHECK(verify(one + "--json a --junit a").exit_code == 2);
  CHECK(verify(one + "--json a --junit ./a").has("two reports cannot be written to one file"));
}

TEST_CASE("two programs do not write one report at a time") {
  const plumb::test::Scratch scratch;
  const std::string file = scratch.write("r.json", "kept");
  const Outcome second =
      plumb::testing::shell("{ flock " + file + " '" PLUMB_VERIFY "' --case 'transpose.f32(rows=1)' --json " +
                            file + "; cat " + file + "; }");
  CHECK(second.has("another report is being written to this file"));
  CHECK(second.has("kept"));
}

TEST_CASE("a matrix is judged alone, with its own values too; --listed-too adds the operators' cases") {
  const plumb::test::Scratch scratch;
  const std::string file = scratch.write("m.mtx", kMatrix);
  const std::string dry = "--dry-run --variant 'cpu/01*' --case 'spmv.*' --matrix " + file;
  const Outcome alone = verify(dry);
  CHECK(alone.has("fill=own,seed=1)"));
  CHECK_FALSE(alone.has("rows="));
  CHECK(verify(dry + " --listed-too").has("rows="));
  const Outcome run = verify("--case 'sp*,sddmm' --fill own --variant 'cpu/*' --matrix " + file);
  CHECK_MESSAGE(run.exit_code == 0, run.text);
  const std::string huge =
      scratch.write("h.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1e200\n");
  expect(verify("--case spmv --fill own --variant 'cpu/01*' --matrix " + huge), 0,
         {"fill=own of f32 is left out"});
  CHECK(verify("--case 'gemm.f32(m=2,n=2,k=2,fill=own,seed=1)'").has("fill=own takes the values of a file"));
}

TEST_CASE(
    "a matrix with a long row is judged on every fill: integers small enough for exact sums are drawn") {
  const plumb::test::Scratch scratch;
  std::string text = "%%MatrixMarket matrix coordinate real general\n2 20000 20001\n2 5 1\n";
  for (int j = 1; j <= 20000; ++j) text += "1 " + std::to_string(j) + " 1\n";
  const Outcome run =
      verify("--case 'sp*.f32,sddmm.f32' --variant 'cpu/01*' --matrix " + scratch.write("long.mtx", text));
  INFO(run.text);
  CHECK(run.exit_code == 0);
  CHECK_FALSE(run.has("MISTRUSTED"));
  CHECK(verify("--case 'spmv.f32' --variant 'cpu/01*' --dry-run --matrix " + scratch.file("long.mtx"))
            .has("fill=wide"));
}

TEST_CASE("nothing to judge says why, and a word that is not known is an error") {
  const auto none = [](const std::string& arguments, const std::string& why) {
    const Outcome run = verify(arguments);
    CAPTURE(arguments);
    CHECK_MESSAGE(run.exit_code == 3, run.text);
    CHECK_MESSAGE(run.has(why), run.text);
  };
  none("--case spmv.f8", "no type is called 'f8'");
  none("--case 'spmv.f32(rows=abc)'", "no listed case has these values");
  none("--case 'spmv.f32(rows=5..1)'", "the range rows=5..1 is empty");
  none("--case 'spmv.f32(row=5)'", "did you mean 'rows'?");
  none("--case 'spmv.f32(rows=7,cols=7,density=0.5,fill=real)'", "ends in ,seed=1)");
  const plumb::test::Scratch scratch;
  const std::string matrix = scratch.write("m.mtx", kMatrix);
  none("--case gemm --matrix " + matrix,
       "--matrix is for sparse operators: edge_softmax, gat_layer, spmv, spmm, sddmm, dense_to_csr");
  none("--case 'spmv.f32(alpha=77)' --matrix " + matrix, "no case on the matrix has the values");
  CHECK(verify("--case 'spmv.*' --variant 'cpu/0[1-4]*'").has("a glob knows * and ?"));
  CHECK(verify("--mutants --case spvm").exit_code == 2);
  for (const char* const option : {"--shard 1/2", "--fill exact", "--seed 3", "--drawn 2", "--dry-run"}) {
    const Outcome refused = verify(std::string("--mutants --case reduce ") + option);
    CAPTURE(option);
    CHECK(refused.exit_code == 2);
    CHECK(refused.has("--mutants does not take --"));
  }
  CHECK(verify("--mutants --case spvm").has("did you mean 'spmv'?"));
  CHECK(verify("--list cases --case spvm").exit_code == 2);
  const Outcome gpu = verify("--mutants --device gpu --case reduce");
  if (gpu.exit_code != 0) CHECK_MESSAGE(gpu.exit_code == 77, gpu.text);
}

TEST_CASE("a time limit is a number of seconds above 0") {
  for (const char* text : {"nan", "inf", "0", "-1", "1e9", "x"}) {
    CAPTURE(text);
    const Outcome run = expect(verify(std::string("--case spmv --timeout=") + text), 2,
                               {"--timeout: not a number of seconds above 0"});
    CHECK(run.text.size() < 200);
  }
}

TEST_CASE("more OpenMP threads than a process can have are refused") {
  expect(verify("--case spmv", "OMP_NUM_THREADS=100000"), 2, {"OMP_NUM_THREADS=100000"});
}

TEST_CASE(
    "--describe prints the contract, and GPU rungs of a build without CUDA are listed as the executor's") {
  const Outcome spmv = verify("--describe spmv");
  CHECK(spmv.has("y[i] = alpha * sum_k A.val[k] * x[A.col[k]] + beta * y[i]"));
  CHECK(spmv.has("Signature A: csr rows cols, x: cols, alpha, beta -> y: rows"));
  CHECK(spmv.has("Problem   Scalar alpha, beta;\nIn        Sparse A; Vector x;\nOut       Vector y;\n"));
  CHECK(spmv.has("gpu/01_thread_per_row"));
  CHECK(verify("--list variants").has("gpu/01_thread_per_row"));
  const Outcome rung = verify("--case spmv --variant gpu/01_thread_per_row");
  if (rung.exit_code == 2) CHECK_MESSAGE(rung.has("add --device simt"), rung.text);
  CHECK(verify("--explain uM").exit_code == 0);
}

TEST_CASE("a failure and an unwritable report are both reported, and the failure decides the exit code") {
  const plumb::test::Scratch scratch;
  const auto judged = [file = scratch.write("m.mtx", kMatrix)](const std::string& more) {
    return verify("--case 'spmv.f32(matrix=" + file +
                  ",fill=own,seed=1)' --variant 'cpu/01*' --json /dev/full" + more);
  };
  const Outcome both = judged(" --timeout 1e-6");  // no run is so short
  CHECK(both.exit_code == 1);
  CHECK(both.has("error: /dev/full"));
  expect(judged(""), 2);
  CHECK(verify("--help > /dev/full").exit_code == 2);
}

TEST_CASE("--require-gpu without a GPU is a failure, also where CPU kernels would pass") {
  const Outcome run = verify("--case 'transpose.f32(rows=1)' --require-gpu");
  if (run.exit_code != 0) CHECK_MESSAGE(run.exit_code == 1, run.text);
  if (run.exit_code != 0) CHECK(run.has("--require-gpu: "));
}

TEST_CASE("--help: examples, the ten options needed first, the others by name; --help all describes each") {
  const Outcome few = verify("--help"), all = verify("--help all");
  CHECK(few.exit_code == 0);
  CHECK(few.longest_line() <= 100);
  CHECK(all.longest_line() <= 100);
  CHECK(few.text.find("\nexamples\n") < few.text.find("\noptions needed first\n"));
  CHECK(few.has("PLUMB_DATA"));
  CHECK(few.has(" --drawn "));
  CHECK_FALSE(few.has("  --drawn N  "));
  CHECK(all.has("  --drawn N  "));
  const std::size_t first = few.text.find("\noptions needed first\n"), end = few.text.find("\n\n", first);
  int options = 0;
  for (std::size_t at = first; (at = few.text.find("\n  --", at + 1)) < end;) ++options;
  CHECK(options == 10);
}

namespace {

std::string plugin(const std::string& variant) {
  return "--plugin '" PLUMB_PLUGINS "/libplugin_good.so' --case 'transpose.*' --listed --variant user/" +
         variant;
}

int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

}  // namespace

TEST_CASE("of a wrong kernel the smallest failures are printed, then what all share; with --all each") {
  const Outcome run = verify(plugin("short")), all = verify(plugin("short") + " --all");
  INFO(run.text);
  CHECK(run.exit_code == 1);
  CHECK(all.exit_code == 1);
  const int shown = count_of(run.text, "UNWRITTEN  user/short  ");
  CHECK(shown <= 3);
  CHECK(count_of(run.text, "      repro: ") == shown);
  CHECK(run.has(" smallest "));
  CHECK(run.has("--all prints each\n  in common: verdict unwritten"));
  const int failed = count_of(all.text, "UNWRITTEN  user/short  ");
  CHECK(failed > 10);
  CHECK(all.has(std::to_string(failed) + " of "));
  CHECK(run.has(" passed, " + std::to_string(failed) + " failed, "));
}

TEST_CASE("a kernel that writes nothing is one failure") {
  const Outcome run = verify(plugin("writes_nothing"));
  INFO(run.text);
  CHECK(run.exit_code == 1);
  CHECK(run.has(" passed, 1 failed, "));
  CHECK(count_of(run.text, "UNWRITTEN  user/writes_nothing  ") == 1);
  CHECK(run.has("wrote nothing on its first 3 cases"));
}

TEST_CASE("on a terminal nothing is wider than it but a repro line, and progress leaves nothing behind") {
  for (const unsigned short columns : {std::uint16_t{80}, std::uint16_t{60}}) {
    CAPTURE(columns);
    const Outcome run = plumb::testing::on_terminal("'" PLUMB_VERIFY "' " + plugin("short"), columns);
    INFO(run.text);
    CHECK(run.exit_code == 1);
    for (const std::string& line : plumb::testing::written_lines(run.text)) {
      CAPTURE(line);
      CHECK((line.size() <= columns || line.rfind("      repro: ", 0) == 0));
    }
    // every step of the progress line begins on a cleared line, and the last is cleared before words follow
    for (std::size_t at = 0; (at = run.text.find(" s left", at)) != std::string::npos; ++at) {
      CHECK(run.text.compare(run.text.rfind('\r', at), 4, "\r\x1b[K") == 0);
      CHECK(run.text[run.text.find_first_of("\r\n", at)] == '\r');
    }
  }
}

TEST_CASE("a passing run has colours on a terminal, and none with NO_COLOR, --no-color or in a file") {
  const std::string one = "'" PLUMB_VERIFY "' --case 'transpose.f32(rows=1,fill=index)' --variant 'cpu/01*'";
  const auto colour = [](const std::string& text) { return text.find("\x1b[32m") != std::string::npos; };
  const Outcome run = plumb::testing::on_terminal("unset NO_COLOR; TERM=xterm " + one, 80);
  CHECK(run.exit_code == 0);
  CHECK(colour(run.text));
  CHECK_FALSE(colour(plumb::testing::on_terminal("NO_COLOR=1 TERM=xterm " + one, 80).text));
  CHECK_FALSE(
      colour(plumb::testing::on_terminal("unset NO_COLOR; TERM=xterm " + one + " --no-color", 80).text));
  CHECK_FALSE(colour(plumb::testing::on_terminal("unset NO_COLOR; TERM=xterm " + one + " | cat", 80).text));
  CHECK_FALSE(colour(plumb::testing::shell(one).text));
}

TEST_CASE("the page of a wrong kernel has one cause with its cases closed, and no folder of this machine") {
  const plumb::test::Scratch scratch;
  const Outcome run = verify(plugin("short") + " --html " + scratch.file("r.html"));
  CHECK(run.exit_code == 1);
  const std::string page = plumb::test::slurp(scratch.file("r.html"));
  CHECK(count_of(page, "<section class=cause>") == 1);
  CHECK(count_of(page, "<details open") == 0);
  CHECK(count_of(page, "<details class=failure") > 10);
  CHECK(page.find(PLUMB_PLUGINS) == std::string::npos);
  CHECK(page.find(scratch.path()) == std::string::npos);
  CHECK(page.find("--plugin 'libplugin_good.so'") + page.find("--plugin libplugin_good.so") !=
        2 * std::string::npos);
}

TEST_CASE("a glob that matches no mutant is an error") {
  expect(verify("--mutants --device cpu --case 'gemm' --variant 'mutant/no_such'"), 2, {"matches no mutant"});
}

TEST_CASE("a case whose operands do not fit in memory is named, with what they need") {
  const std::string id = "gemm.f32(m=100000,n=100000,k=1,fill=exact,seed=1)";
  expect(verify("--case '" + id + "' --variant 'cpu/01*'", "ulimit -v 8000000; OMP_NUM_THREADS=2"), 2,
         {"error: " + id + ": out of memory: ", " MiB were asked for"});
}
