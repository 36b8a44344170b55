// compute-sanitizer's reports read, from samples written by hand after what the tools write; and what becomes of them, with a program
// in the tool's place.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "datasets/tests/scratch.hpp"
#include "reference/core/error.hpp"
#include "verify/engine/process/confinement.hpp"
#include "verify/judge/sanitizer.hpp"
#include "verify/judge/sanitizer_report.hpp"
#include "verify/sweep/sanitize_sweep.hpp"

using namespace plumb;

namespace {

constexpr const char* kRaceReport = R"(<?xml version="1.0" encoding="utf-8"?>
<ComputeSanitizerOutput>
  <record>
    <kind>Analysis</kind>
    <level>Warning</level>
    <what>
      <text>Race condition</text>
      <source>
        <direction>Write</direction>
        <where>
          <func>void plumb::(anonymous namespace)::tile_mutant&lt;float, (Fault)3&gt;(float const*, long)</func>
          <path>/home/me/mine/tile.cu</path>
          <line>41</line>
          <pc>0x240</pc>
        </where>
      </source>
      <destination>
        <direction>Read</direction>
        <where>
          <func>void plumb::(anonymous namespace)::tile_mutant&lt;float, (Fault)3&gt;(float const*, long)</func>
          <path>/home/me/mine/tile.cu</path>
          <line>47</line>
          <pc>0x310</pc>
        </where>
        <count>3780</count>
      </destination>
    </what>
  </record>
</ComputeSanitizerOutput>
)";

SanitizerReport of_record(const std::string& inside) {
  return read_sanitizer_report("<ComputeSanitizerOutput><record>" + inside +
                               "</record></ComputeSanitizerOutput>");
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// In compute-sanitizer's place: writes what it is to have found where --save says, and the answer of the run where that belongs.
class FakeTool {
 public:
  FakeTool(const std::string& report, const std::string& answer, int status = 0,
           const std::string& first = "") {
    folder_.write("report.xml", report);
    folder_.write("answer.json", answer);
    std::ofstream(path()) << "#!/bin/sh\n"
                          << first << "\n"
                          << "echo \"$@\" > " << folder_.path() << "/called\n"
                          << "while [ $# -gt 0 ]; do\n"
                          << "  case $1 in --save) cat " << folder_.path() << "/report.xml > \"$2\" ;;\n"
                          << "  --sanitized) [ -s " << folder_.path() << "/answer.json ] && cat "
                          << folder_.path() << "/answer.json > \"$4\" ;;\n"
                          << "  esac; shift\ndone\necho '========= last words'\nexit " << status << "\n";
    chmod(path().c_str(), 0700);
  }
  [[nodiscard]] std::string path() const { return folder_.file("compute-sanitizer"); }
  [[nodiscard]] std::string called() const {
    std::ifstream in(folder_.file("called"));
    std::string line;
    std::getline(in, line);
    return line;
  }

 private:
  plumb::test::Scratch folder_;
};

SanitizedRun run_with(const FakeTool& tool, SanitizerTool which = SanitizerTool::racecheck,
                      const std::string& variant = "gpu/02_shared_tile") {
  VariantInfo v;
  v.op = "transpose", v.name = variant, v.device = Device::gpu;
  v.traits.library = variant == "gpu/80_library";
  return run_sanitized(tool.path(), "/bin/true", which,
                       parse_case("transpose.f32(rows=63,cols=65,fill=index,seed=1)"), v, 20);
}

constexpr const char* kNothing = "<?xml version=\"1.0\"?>\n<ComputeSanitizerOutput/>\n";
constexpr const char* kPassed =
    R"({"verdict":"pass","reason":"","runs":3,"wants_device":false,"ratio":0.25})";

}  // namespace

TEST_CASE("elements, entities, comments, CDATA and attributes are read") {
  bool whole = false;
  const XmlNode root = read_xml(
      "<?xml version='1.0'?><!DOCTYPE a><!-- <b> --><a k='>'><b>1 &lt; 2 &amp;&amp; &#51; &gt; "
      "x</b><c/><d><![CDATA[<&>]]></d>"
      "<b> second </b></a>",
      &whole);
  CHECK(whole);
  CHECK(root.name == "a");
  REQUIRE(root.children.size() == 4);
  CHECK(root.text_of("b") == "1 < 2 && 3 > x");
  CHECK(root.text_of("d") == "<&>");
  CHECK(root.children.back().text == "second");
  CHECK(root.find("e") == nullptr);
}

TEST_CASE("a report that ends early is read as far as it goes, with a note") {
  const std::string text = kRaceReport;
  const SanitizerReport all = read_sanitizer_report(text);
  CHECK(all.whole);
  REQUIRE(all.findings.size() == 1);
  for (std::size_t n = 0; n < text.size(); n += 7) {
    const SanitizerReport cut = read_sanitizer_report(std::string_view(text).substr(0, n));
    CHECK(cut.findings.size() <= 1);
    // past the end of the root nothing is missing but a line break
    if (n < text.find("</ComputeSanitizerOutput>")) CHECK_FALSE(cut.whole);
  }
  for (const char* broken :
       {"", "no xml at all", "<", "<a", "<a><b></a>", "</a>", "<![CDATA[", "<a>&#xffffffffff;</a>", "<!--"}) {
    CHECK(read_sanitizer_report(broken).findings.empty());
  }
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "<a>";
  CHECK_FALSE(read_sanitizer_report(deep).whole);
}

TEST_CASE("a race names its kernel, both lines and what each did") {
  const SanitizerFinding f = read_sanitizer_report(kRaceReport).findings.front();
  CHECK(f.kind == "Analysis");
  CHECK(f.level == "Warning");
  CHECK(f.message == "Race condition");
  CHECK(f.kernel == "tile_mutant<float, (Fault)3>");
  CHECK(f.file == "/home/me/mine/tile.cu");
  CHECK(f.line == 41);
  REQUIRE(f.detail.size() == 2);
  CHECK(f.detail[0] == "Write at /home/me/mine/tile.cu:41");
  CHECK(f.detail[1] == "Read at /home/me/mine/tile.cu:47, 3780 times");
}

TEST_CASE("findings of one line of one kernel are reported once, with their number") {
  const std::string one =
      "<kind>K</kind><what><text>Invalid __global__ read of size 4 "
      "bytes</text></what><where><func>k</func><path>a.cu</path>"
      "<line>3</line></where>";
  const SanitizerReport r =
      read_sanitizer_report("<ComputeSanitizerOutput><record>" + one + "</record><record>" + one +
                            "</record></ComputeSanitizerOutput>");
  REQUIRE(r.findings.size() == 1);
  CHECK(r.findings[0].detail.back() == "reported 2 times");
}

TEST_CASE("what is not known of a record is no error") {
  CHECK(of_record("<novelty>7</novelty>").findings.size() == 1);
  CHECK(of_record("<what>plain words</what>").findings.front().message == "plain words");
  CHECK(of_record("").findings.front().kernel.empty());
}

TEST_CASE("a finding of a tool gives a verdict with kernel, place and tool, whatever the run itself gives") {
  const SanitizedRun run = run_with(FakeTool(kRaceReport, kPassed));
  CHECK(run.findings == 1);
  CHECK(run.record.verdict == Verdict::race);
  CHECK(run.record.variant == "gpu/02_shared_tile (racecheck)");
  CHECK(run.record.reason ==
        "racecheck: Race condition in tile_mutant<float, (Fault)3> at /home/me/mine/tile.cu:41");
  CHECK(contains(run.record.repro, "--sanitize racecheck"));
  const std::string invalid =
      "<ComputeSanitizerOutput><record><kind>K</kind><what><text>Invalid __global__ write of size 4 "
      "bytes</text></what></record></ComputeSanitizerOutput>";
  CHECK(run_with(FakeTool(invalid, kPassed), SanitizerTool::memcheck).record.verdict ==
        Verdict::out_of_bounds);
  CHECK(run_with(FakeTool(invalid, kPassed), SanitizerTool::initcheck).record.verdict == Verdict::error);
}

TEST_CASE("an inlined call is found in the kernel around it") {
  const SanitizerFinding f = of_record(
                                 "<kind>Initcheck</kind><who><threadIdx><x>96</x><y>0</y><z>0</z></"
                                 "threadIdx><blockIdx><x>1</x><y>2</y><z>0</z>"
                                 "</blockIdx></who><what><text>Uninitialized __global__ memory read of size "
                                 "4 bytes</text><size>4</size></what>"
                                 "<where><func>atomicAdd</func><path>/usr/include/atomics.hpp</"
                                 "path><line>84</line></where><deviceStack><frame>"
                                 "<func>sum</func><path>/mine/sum.cu</path><line>119</line></frame></"
                                 "deviceStack><hostStack><frame><func>main</func>"
                                 "</frame></hostStack>")
                                 .findings.front();
  CHECK(f.kernel == "sum");
  CHECK(f.file == "/mine/sum.cu");
  CHECK(f.line == 119);
  REQUIRE(f.detail.size() == 3);
  CHECK(f.detail[0] == "within atomicAdd");
  CHECK(f.detail[2] == "block (1, 2, 0) thread (96, 0, 0)");
}

TEST_CASE(
    "a finding in a library's own kernel is reported and not judged; one in a kernel with lines is judged") {
  const std::string of_library =
      "<ComputeSanitizerOutput><record><kind>Analysis</kind><what><text>Race "
      "condition</text><source><where><func>csrmv</func>"
      "<pc>0x1</pc></where></source></what></record></ComputeSanitizerOutput>";
  CHECK(run_with(FakeTool(of_library, kPassed), SanitizerTool::racecheck, "gpu/80_library").record.verdict ==
        Verdict::unsupported);
  CHECK(run_with(FakeTool(of_library, kPassed), SanitizerTool::racecheck, "gpu/07_ours").record.verdict ==
        Verdict::race);
  CHECK(run_with(FakeTool(kRaceReport, kPassed), SanitizerTool::racecheck, "gpu/80_library").record.verdict ==
        Verdict::race);
}

TEST_CASE("nothing found and passed is a pass; anything else in the way is not") {
  {
    const FakeTool tool(kNothing, kPassed);
    const SanitizedRun run = run_with(tool, SanitizerTool::memcheck);
    CHECK(run.record.verdict == Verdict::pass);
    CHECK(run.record.runs == 3);
    CHECK(contains(tool.called(), "--tool memcheck"));
    CHECK(contains(tool.called(), "--leak-check full --padding 512 --track-stream-ordered-races all"));
    CHECK(contains(tool.called(),
                   "--sanitized transpose.f32(rows=63,cols=65,fill=index,seed=1) gpu/02_shared_tile"));
  }
  CHECK(run_with(FakeTool(kNothing, "")).record.verdict == Verdict::error);
  CHECK(contains(run_with(FakeTool(kNothing, "")).record.reason, "last words"));
  CHECK(run_with(FakeTool("", kPassed)).record.verdict == Verdict::error);
  CHECK(run_with(FakeTool(kNothing, kPassed, 1)).record.verdict == Verdict::error);
  const SanitizedRun wrong =
      run_with(FakeTool(kNothing, R"({"verdict":"fail","reason":"y[3]: got 1, want 2","runs":2})", 0));
  CHECK(wrong.record.verdict == Verdict::fail);
  CHECK(wrong.findings == 0);
  const SanitizedRun absent = run_with(
      FakeTool(kNothing, R"({"verdict":"skip","reason":"no CUDA device","runs":0,"wants_device":true})"));
  CHECK(absent.record.verdict == Verdict::skip);
  CHECK(absent.record.wants_device);
}

TEST_CASE("a worker that ends while another thread uses it does not end the tool") {
  SanitizedRun run;
  const FakeTool tool(kNothing, kPassed, 0, "sleep 1");
  std::thread under_tool([&] { run = run_with(tool); });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::string program = "/bin/sleep", seconds = "30";
  char* const arguments[] = {program.data(), seconds.data(), nullptr};
  pid_t worker = -1;
  REQUIRE(start_process(worker, program.c_str(), actions, attributes, arguments, environ) == 0);
  end_process(worker, false);
  CHECK(kill(worker, 0) != 0);
  under_tool.join();
  CHECK(run.record.verdict == Verdict::pass);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
}

TEST_CASE("any number of tools can be named, and an unknown name gets the nearest as a suggestion") {
  CHECK(parse_tools("all").size() == 4);
  CHECK(parse_tools("racecheck,memcheck,racecheck").size() == 2);
  try {
    (void)parse_tools("racechek");
    FAIL("no error");
  } catch (const Error& e) { CHECK(contains(e.what(), "'racecheck'")); }
}

TEST_CASE("cases are tried from the cheapest, and those with nothing to check are left out") {
  std::vector<Case> cases;
  for (const char* id :
       {"transpose.f32(rows=127,cols=129,fill=index,seed=1)",
        "transpose.f32(rows=0,cols=5,fill=index,seed=1)", "transpose.f32(rows=31,cols=33,fill=index,seed=1)",
        "transpose.f32(rows=31,cols=33,fill=hostile,seed=1)"}) {
    cases.push_back(parse_case(id));
  }
  CasesByCost by_cost;
  const std::vector<Case> ordered = by_cost.ordered(cases);
  REQUIRE(ordered.size() == 2);
  CHECK(ordered[0] == cases[2]);
  CHECK(ordered[1] == cases[0]);
}
