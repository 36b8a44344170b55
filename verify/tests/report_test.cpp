// Reports: whole after every record, also on a full disk; and what they hold.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <limits>
#include <string>

#include "datasets/formats/npy.hpp"
#include "datasets/tests/scratch.hpp"
#include "reference/core/error.hpp"
#include "tools/terminal.hpp"
#include "verify/engine/operator/operators.hpp"
#include "verify/report/failure_folder.hpp"
#include "verify/report/failures.hpp"
#include "verify/report/page.hpp"
#include "verify/report/record_file.hpp"
#include "verify/report/reporter.hpp"
#include "verify/report/table.hpp"
#include "verify/report/trend.hpp"

using namespace plumb;
using plumb::test::FullDisk;
using plumb::test::Scratch;
using plumb::test::slurp;
namespace fs = std::filesystem;

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Record failing() {
  Record r;
  r.case_id = "spmv.f32(rows=2,cols=2,fill=real,seed=1)", r.op = "spmv", r.dtype = "f32",
  r.variant = "user/<odd>";
  r.verdict = Verdict::fail, r.reason = "y[1]: got 1 & want 2", r.repro = "verify --case 'x'";
  r.worst.elements = 4, r.worst.misses = 1, r.worst.max_ratio = 3, r.worst.map = ".#\n..\n";
  return r;
}

Record judged(Verdict verdict, const std::string& parameters, const char* variant = "user/x") {
  Record r;
  r.case_id = "spmv.f32(" + parameters + ",fill=real,seed=1)", r.op = "spmv", r.dtype = "f32";
  r.variant = variant, r.verdict = verdict;
  return r;
}

}  // namespace

TEST_CASE("a record file is closed again after every record") {
  const Scratch folder;
  RecordFile file(folder.path() + "/r.xml", "<a>", "</a>");
  CHECK(slurp(folder.path() + "/r.xml") == "<a></a>");
  file.append("<b/>");
  CHECK(slurp(folder.path() + "/r.xml") == "<a><b/></a>");
  file.append("<c/>");
  CHECK(slurp(folder.path() + "/r.xml") == "<a><b/><c/></a>");
  CHECK(file.write_error().empty());
}

TEST_CASE("on a full disk a record file ends, whole, after the last record that fitted, and says so") {
  const Scratch folder;
  RecordFile file(folder.path() + "/r.xml", "<a>", "</a>");
  {
    const FullDisk disk(20);
    for (int i = 0; i < 5; ++i) file.append("<b1234/>");  // 3 + 8 + 4 fit; 3 + 16 + 4 do not
  }
  CHECK(slurp(folder.path() + "/r.xml") == "<a><b1234/></a>");
  CHECK(contains(file.write_error(), "the report ends early"));
}

TEST_CASE("a page is replaced whole or not at all") {
  const Scratch folder;
  PageFile page(folder.path() + "/p.html");
  page.write("first");
  {
    const FullDisk disk(3);
    page.write("second");
    CHECK(contains(page.write_error(), "p.html: cannot write"));
  }
  CHECK(slurp(folder.path() + "/p.html") == "first");
  page.write("third");
  CHECK(page.write_error().empty());
  CHECK(slurp(folder.path() + "/p.html") == "third");
  CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) ==
        1);  // nothing left beside it
  CHECK_THROWS_AS(PageFile("/nowhere/p.html"), Error);
}

TEST_CASE("the page is whole before, during and after a run, and escapes what it shows") {
  const Scratch folder;
  const std::string path = folder.path() + "/p.html";
  const auto html = make_html(path);
  html->begin({"verify --case 'a<b'", "1", "host", {}, 1});
  CHECK(contains(slurp(path), "Unfinished"));
  CHECK(contains(slurp(path), "</html>"));
  html->record(failing());
  Totals totals;
  totals.count(failing());
  html->end(totals, 1.5);
  const std::string page = slurp(path);
  CHECK(contains(page, "Complete."));
  CHECK(contains(page, "1 of 1 case of user/&lt;odd&gt; (spmv) fails"));
  CHECK(contains(page, "data-verdict=fail"));
  CHECK(contains(page, "user/&lt;odd&gt;"));
  CHECK(contains(page, "got 1 &amp; want 2"));
  CHECK_FALSE(contains(page, "<odd>"));
  CHECK(contains(page, "class=map width=20 height=20"));
  CHECK_FALSE(contains(page, "src="));
  CHECK_FALSE(contains(page, "http"));
}

TEST_CASE("a case that proves nothing takes no row of the page's tables") {
  const Scratch folder;
  const auto html = make_html(folder.path() + "/p.html");
  html->begin({"verify", "1", "host", {}, 2});
  html->record(judged(Verdict::pass, "rows=2"));
  html->record(judged(Verdict::mistrusted, "rows=1", kTheCaseItself));
  html->end({}, 1);
  const std::string page = slurp(folder.path() + "/p.html");
  CHECK(contains(page, "<th>user/x</th>"));
  CHECK_FALSE(contains(page, "(the case itself)"));
  CHECK(contains(page, "1 case of spmv proves nothing"));
}

TEST_CASE("the Markdown report has a row per variant and the failures with their repro lines") {
  const Scratch folder;
  const auto markdown = make_markdown(folder.path() + "/r.md");
  markdown->begin({"verify", "1", "host", {}, 1});
  markdown->record(failing());
  markdown->end({}, 1);
  const std::string text = slurp(folder.path() + "/r.md");
  CHECK(contains(text, "| user/<odd> | 0 | 0 | **1** | 0 | 3 |"));
  CHECK(contains(text, "`verify --case 'x'`"));
}

TEST_CASE("a failing record is saved with its arrays, overwrites no other, and is never partial") {
  const Scratch folder;
  const OperatorEntry& entry = find_operator("transpose");
  const Case c = parse_case("transpose.f32(rows=2,cols=3,fill=index,seed=1)");
  const auto prepared = entry.prepare(c);
  ImageLayout layout{Placement{}};
  (void)prepared->place(layout);
  std::vector<std::byte> image(static_cast<std::size_t>(layout.bytes()));
  layout.write(image.data());
  Record record = failing();
  record.case_id = c.id();
  const Failure failure{record, layout, image.data(), image.data(), *prepared, Arithmetic::native};
  FailureFolder saver(folder.path() + "/failing");
  saver.save(failure);
  saver.save(failure);
  CHECK(saver.saved() == 2);
  CHECK(saver.write_error().empty());
  std::string first;
  int folders = 0;
  for (const auto& e : fs::directory_iterator(folder.path() + "/failing")) first = e.path(), ++folders;
  REQUIRE(folders == 2);
  const auto expected = read_npy(first + "/B.expected.npy");
  CHECK(expected.shape == std::vector<std::int64_t>{3, 2});
  CHECK(npy_values<double>(expected) == prepared->reference().outputs[0].value);
  CHECK(read_npy(first + "/A.npy").type() == "f4");
  CHECK(read_npy(first + "/B.got.npy").count() == 6);
  CHECK(npy_values<double>(read_npy(first + "/B.bound.npy")) == std::vector<double>(6, 0.0));
  CHECK(contains(slurp(first + "/README"), "verify --case 'x'"));
  {
    const FullDisk disk(40);
    saver.save(failure);
  }
  CHECK(contains(saver.write_error(), "2 failures saved before it"));
  CHECK(std::distance(fs::directory_iterator(folder.path() + "/failing"), fs::directory_iterator()) == 2);
}

TEST_CASE("what the failures of a variant share, and its passes do not, is named") {
  Failures failures;
  for (int i = 1; i <= 8; ++i)
    failures.count(judged(Verdict::pass, "rows=" + std::to_string(i) + ",pattern=uniform"));
  CHECK(failures.variants().empty());
  failures.count(judged(Verdict::fail, "rows=3,pattern=unsorted"));
  REQUIRE(failures.variants().size() == 1);
  CHECK(failures.variants()[0]->headline() == "1 of 9 cases of user/x (spmv) fails");
  CHECK(failures.variants()[0]->lines().empty());  // one failure has everything in common with itself
  failures.count(judged(Verdict::fail, "rows=5,pattern=unsorted"));
  CHECK(failures.variants()[0]->headline() == "2 of 10 cases of user/x (spmv) fail");
  CHECK(failures.variants()[0]->lines() ==
        std::vector<std::string>{"in common: verdict fail; pattern=unsorted (none that pass)",
                                 "occur with: fill real; pattern unsorted; rows 3, 5; type f32"});
  for (const char* rows : {"1", "2", "256", "300"})
    failures.count(judged(Verdict::pass, "rows=" + std::string(rows), "user/y"));
  for (const char* rows : {"301", "512"})
    failures.count(judged(Verdict::crash, "rows=" + std::string(rows), "user/y"));
  REQUIRE(failures.variants().size() == 2);
  CHECK(failures.variants()[1]->lines()[0] == "in common: verdict crash; rows >= 301 (none that pass)");
}

TEST_CASE("of many failures the smallest are chosen, one of each verdict, and none that tells the same") {
  Failures failures;
  for (const char* rows : {"900", "7", "50", "8"}) {
    Record r = judged(Verdict::fail, "rows=" + std::string(rows));
    r.reason = "y[" + std::string(rows) + "]: got 1, want 2";
    failures.count(r);
  }
  for (const char* rows : {"5000", "6000"}) {
    Record r = judged(Verdict::crash, "rows=" + std::string(rows));
    r.reason = "killed by SIGSEGV";
    failures.count(r);
  }
  std::string chosen;
  for (const Record* r : failures.variants().at(0)->smallest(3)) chosen += r->case_id.substr(8, 10) + ";";
  CHECK(chosen == "(rows=7,fi;(rows=5000;(rows=8,fi;");
  CHECK(failures.variants()[0]->smallest(1).size() == 1);
}

TEST_CASE("the headline of a failure names its case; an infinite ratio is printed in words") {
  CHECK(ratio_words(745729975497929.125) == "7.46e+14");
  CHECK(ratio_words(std::numeric_limits<double>::infinity()) == "infinite (the bound is 0)");
  const Scratch folder;
  std::FILE* const out = std::fopen((folder.path() + "/console").c_str(), "w");
  const auto console = make_console({false, false, false, false, out, false});
  console->begin({"verify", "1", "host", {}, 1});
  console->record(failing());
  console->end({}, 1);
  std::fclose(out);
  CHECK(contains(slurp(folder.path() + "/console"),
                 "FAIL  user/<odd>  spmv.f32(rows=2,cols=2,fill=real,seed=1)\n      y[1]: got 1 & want 2\n"));
}

TEST_CASE("text is broken at blanks and behind commas, never within a number") {
  CHECK(wrapped("one two  three", 8) == std::vector<std::string>{"one two", "three"});
  CHECK(wrapped("f(rows=12345,cols=678)", 14) == std::vector<std::string>{"f(rows=12345,", "cols=678)"});
  CHECK(wrapped("12345678901234567890", 8) == std::vector<std::string>{"12345678901234567890"});
  CHECK(wrapped("as it is", 0) == std::vector<std::string>{"as it is"});
  CHECK(wrapped("", 8) == std::vector<std::string>{""});
}

TEST_CASE("a table's columns never touch; a name that is too long has a line of its own") {
  TextTable table("operator  mutant", {"no.", "numeric"});
  table.add("masked_attention  short", {{"1"}, {"killed"}});
  table.add("gemm  k_tail_dropped_in_the_last_tile", {{"14"}, {"survived", "31"}});
  table.add_note("  a note");
  const std::vector<std::string> wide = table.lines(0), narrow = table.lines(40);
  CHECK(wide == std::vector<std::string>{
                    "operator  mutant                       no.   numeric",
                    "masked_attention  short                  1    killed",
                    "gemm  k_tail_dropped_in_the_last_tile   14  \033[31msurvived\033[0m", "  a note"});
  CHECK(narrow == std::vector<std::string>{
                      "operator  mutant           no.   numeric", "masked_attention  short      1    killed",
                      "gemm  k_tail_dropped_in_the_last_tile",
                      "                            14  \033[31msurvived\033[0m", "  a note"});
}

TEST_CASE(
    "cells that do not fit beside each other continue on the next line, and a remark goes below its row") {
  TextTable table("variant", {"cold", "warm", "roof"});
  table.add("a", {{"1.000 us"}, {"2.000 us", "32"}, {"3.0 %"}});
  table.add_remark("slow beside the fastest");
  CHECK(table.lines(0) == std::vector<std::string>{"variant      cold      warm   roof",
                                                   "a        1.000 us  \033[32m2.000 us\033[0m  3.0 %"
                                                   "   slow beside the fastest"});
  CHECK(table.lines(22) == std::vector<std::string>{"variant", "        cold      warm", "     roof",
                                                    "a   1.000 us  \033[32m2.000 us\033[0m", "    3.0 %",
                                                    "      slow beside the", "      fastest"});
}

TEST_CASE("stored reports in the order of their times: what changed last, a page and a badge") {
  const Scratch folder;
  const auto report = [&](const std::string& name, const char* begun, const char* verdict, const char* tail) {
    return folder.write(
        name, fmt::format("{{\"plumbline\":\"1\",\"planned\":2,\"begun\":\"{}\"}}\n"
                          "{{\"operator\":\"spmv\",\"variant\":\"user/<x>\",\"verdict\":\"{}\"}}\n"
                          "{{\"operator\":\"spmv\",\"variant\":\"user/y\",\"verdict\":\"pass\"}}\n{}",
                          begun, verdict, tail));
  };
  const std::string second = report("b1.json", "2026-01-02T00:00:00Z", "crash", "{\"complete\":true}\n"),
                    first = report("c0.json", "2026-01-01T00:00:00Z", "marginal", "{\"complete\":true}\n"),
                    cut = report("cut.json", "2026-01-03T00:00:00Z", "pass", "");
  const std::vector<TrendRun> runs = read_trend({second, first});
  CHECK(trend_text(runs) ==
        "c0  2 passed, 0 failed, 0 skipped\nb1  1 passed, 1 failed, 0 skipped\nfails now: spmv user/<x>\n");
  const std::string page = trend_page(runs);
  CHECK(contains(page, "<li>fails now: spmv user/&lt;x&gt;"));
  CHECK_FALSE(contains(page, folder.path()));
  CHECK(contains(badge(runs[0]), "verify: 2 passed"));
  CHECK(contains(badge(runs[1]), "verify: 1 failed"));
  CHECK(contains(badge(read_trend({cut}).front()), "verify: not complete"));
  CHECK(contains(trend_text(read_trend({second, first, cut})), "passes again: spmv user/<x>"));
  CHECK_THROWS_WITH_AS((void)read_trend({folder.write("x.json", "{\"a\":1}\n")}),
                       doctest::Contains("x.json:1: not a report"), Error);
  CHECK_THROWS_WITH_AS((void)read_trend({folder.write("y.json", "{\"planned\":1}\n{\"verd\n")}),
                       doctest::Contains("y.json:2: not a line"), Error);
  CHECK_THROWS_AS((void)read_trend({folder.path() + "/none.json"}), Error);
}

TEST_CASE("a page names no folder of the machine that made it") {
  CHECK(without_folders("/home/me/plumb verify --plugin '/tmp/a b/lib.so' --json=/x/r.json") ==
        "plumb verify --plugin 'lib.so' --json=r.json");
  CHECK(without_folders("spmv.f32(matrix=/data/web.mtx,fill=own)") == "spmv.f32(matrix=web.mtx,fill=own)");
  CHECK(without_folders("race at /src/gpu/x.cu:12, and y[3] / 2 is 1/2") ==
        "race at x.cu:12, and y[3] / 2 is 1/2");
  CHECK(without_folders("gpu/01_thread_per_row beside cpu/* of /") ==
        "gpu/01_thread_per_row beside cpu/* of /");
}

TEST_CASE("a report to a pipe gets every record once and its tail at the end") {
  const Scratch folder;
  const std::string pipe = folder.path() + "/pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  {
    RecordFile file(pipe, "<a>", "</a>");
    file.append("<b/>");
    file.append("<c/>");
    file.finish();
    CHECK(file.write_error().empty());
  }
  char text[64] = {};
  CHECK(read(reader, text, sizeof text - 1) == 15);
  close(reader);
  CHECK(std::string(text) == "<a><b/><c/></a>");
}

TEST_CASE("two reports are not written to one file") {
  const Scratch folder;
  const RecordFile first(folder.path() + "/r", "", "");
  CHECK_THROWS_WITH_AS(RecordFile(folder.path() + "/r", "", ""), doctest::Contains("another report"), Error);
}

TEST_CASE("the first line of a finding is not printed twice") {
  Record r = failing();
  r.reason = "race: two writes", r.detail = {"race: two writes\nhere\nand there", "map (. none):\n.#\n"};
  CHECK(further_lines(r) == std::vector<std::string>{"here", "and there", "map (. none):", ".#"});
  CHECK(further_lines(r, false) == std::vector<std::string>{"here", "and there"});
}
