// Plug-ins (plugin/plugin.cpp, several ways) listed and judged in child processes.
#include <doctest/doctest.h>

#include <string>

#include "reference/core/error.hpp"
#include "verify/engine/operator/operators.hpp"
#include "verify/engine/process/plugin_host.hpp"
#include "verify/judge/runner.hpp"

using namespace plumb;

namespace {

std::string library(const std::string& name) {
  return std::string(PLUMB_PLUGINS) + "/libplugin_" + name + ".so";
}

std::string error_of(const std::string& path) {
  try {
    (void)list_plugin(path, PLUMB_ADVERSARY);
  } catch (const Error& e) { return e.what(); }
  return "no error";
}

Record judge(const std::string& name,
             const std::string& id = "transpose.f32(rows=37,cols=23,fill=real,seed=5)",
             const std::string& file = "good") {
  RunOptions options;
  options.program = PLUMB_ADVERSARY;
  Runner runner(options);
  const Case c = parse_case(id);
  const OperatorEntry& entry = find_operator(c.op);
  const auto prepared = entry.prepare(c);
  for (const VariantInfo& v : list_plugin(library(file), PLUMB_ADVERSARY)) {
    if (v.name == "user/" + name) return runner.judge(c, *prepared, v);
  }
  FAIL("no such variant");
  return {};
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a plug-in's kernels are judged as any other: right, short, failing and declining ones") {
  const Record right = judge("right");
  INFO(right.reason);
  CHECK(right.verdict == Verdict::pass);
  CHECK(right.chosen == "chose the plain loop");
  CHECK(contains(right.repro, " --plugin " + library("good")));
  CHECK(judge("short").verdict == Verdict::unwritten);
  CHECK(judge("fails").verdict == Verdict::error);
  CHECK(judge("fails").reason == "the plug-in says: no luck today");
  CHECK(judge("declines").verdict == Verdict::unsupported);
  CHECK(judge("declines").reason == "more than 10 rows");
}

TEST_CASE("a plug-in's kernels have the narrow types, and declare in which format they sum") {
  for (const char* const fill : {"real", "positive", "exact", "hostile"}) {
    const std::string shape = std::string("(m=37,n=23,k=65,alpha=0.5,beta=2,fill=") + fill + ",seed=5)";
    CAPTURE(shape);
    CHECK(judge("right_bf16", "gemm.bf16" + shape).verdict == Verdict::pass);
    CHECK(judge("right_bf16_f32", "gemm.bf16_f32" + shape).verdict == Verdict::pass);
    CHECK(judge("truncates", "gemm.bf16" + shape).verdict == Verdict::fail);
    CHECK(judge("sums_in_bf16", "gemm.bf16" + shape).verdict == Verdict::fail);
    CHECK(judge("declares_bf16_sums", "gemm.bf16" + shape).verdict == Verdict::pass);
  }
}

TEST_CASE("a plug-in that was built for version 1 is judged as before") {
  CHECK(judge("of_version_1", "transpose.f32(rows=37,cols=23,fill=real,seed=5)", "version_1").verdict ==
        Verdict::pass);
}

TEST_CASE("a file that is no plug-in gives one line with the reason, and does not end the judge") {
  CHECK(contains(error_of("/nowhere/libx.so"), "No such file"));
  CHECK(contains(error_of(library("no_symbol")), "does not export plumb_plugin_entry()"));
  CHECK(contains(error_of(library("other_version")), "version 999"));
  CHECK(contains(error_of(library("unknown_operator")), "did you mean 'transpose'?"));
  CHECK(contains(error_of(library("crashes")), "SIGABRT"));
  CHECK(contains(error_of("/proc/self/exe"), "cannot open the plug-in"));
}

TEST_CASE("the arrays and numbers of every operator have names for plug-ins") {
  for (const auto& entry : operators()) {
    const Case c = entry->cases().front();
    const auto prepared = entry->prepare(c);
    ImageLayout layout{Placement{}};
    StagedViews views = prepared->place(layout);
    const CallInfo info = entry->unpack(c.dtype, views.data(), nullptr);
    REQUIRE(info.arrays.size() == layout.segments().size());
    for (std::size_t i = 0; i < info.arrays.size(); ++i) {
      CHECK(info.arrays[i].name == layout.segments()[i].name);
      CHECK(reinterpret_cast<std::int64_t>(info.arrays[i].data) == layout.segments()[i].offset);
    }
  }
}
