// Reports: whole after every record, also on a full disk; and what they hold.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <limits>
#include <string>

#include "datasets/formats/npy.hpp"
#include "datasets/tests/scratch.hpp"
#include "reference/core/error.hpp"
#include "verify/engine/operators.hpp"
#include "verify/report/failures.hpp"
#include "verify/report/failure_folder.hpp"
#include "verify/report/page.hpp"
#include "verify/report/record_file.hpp"
#include "verify/report/reporter.hpp"

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
  CHECK(contains(page, "user/&lt;odd&gt;"));
  CHECK(contains(page, "got 1 &amp; want 2"));
  CHECK_FALSE(contains(page, "<odd>"));
  CHECK(contains(page, "class=map width=20 height=20"));
  CHECK_FALSE(contains(page, "src="));
  CHECK_FALSE(contains(page, "http"));
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

TEST_CASE("a property that the failures of a variant share, and its passes do not, is named") {
  CommonParameters common;
  const auto add = [&](Verdict verdict, const std::string& parameters, const char* variant = "user/x") {
    Record r;
    r.case_id = "spmv.f32(" + parameters + ",fill=real,seed=1)", r.op = "spmv", r.dtype = "f32",
    r.variant = variant;
    r.verdict = verdict;
    common.count(r);
  };
  for (int i = 1; i <= 8; ++i) add(Verdict::pass, "rows=" + std::to_string(i) + ",pattern=uniform");
  CHECK(common.lines().empty());
  add(Verdict::fail, "rows=3,pattern=unsorted");
  CHECK(common.lines().empty());  // one failure has everything in common with itself
  add(Verdict::fail, "rows=5,pattern=unsorted");
  REQUIRE(common.lines().size() == 1);
  CHECK(common.lines()[0] == "2 of 2 failures and 0 of 8 passes of spmv user/x have pattern=unsorted");
  for (const char* rows : {"1", "2", "256", "300"}) add(Verdict::pass, "rows=" + std::string(rows), "user/y");
  for (const char* rows : {"301", "512"}) add(Verdict::crash, "rows=" + std::string(rows), "user/y");
  REQUIRE(common.lines().size() == 2);
  CHECK(common.lines()[1] == "2 of 2 failures and 0 of 4 passes of spmv user/y have rows >= 301");
}

TEST_CASE("the headline of a failure names its case; an infinite ratio is printed in words") {
  CHECK(ratio_words(745729975497929.125) == "7.46e+14");
  CHECK(ratio_words(std::numeric_limits<double>::infinity()) == "infinite (the bound is 0)");
  const Scratch folder;
  std::FILE* const out = std::fopen((folder.path() + "/console").c_str(), "w");
  const auto console = make_console({false, false, false, false, out});
  console->begin({"verify", "1", "host", {}, 1});
  console->record(failing());
  console->end({}, 1);
  std::fclose(out);
  CHECK(contains(slurp(folder.path() + "/console"),
                 "FAIL  user/<odd>  spmv.f32(rows=2,cols=2,fill=real,seed=1)\n      y[1]: got 1 & want 2\n"));
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
