// The table of run kinds and the plans made from it; what a request carries to a child; problems that differ in little.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "verify/engine/operator/operators.hpp"
#include "verify/engine/process/wire.hpp"
#include "verify/judge/operands.hpp"
#include "verify/judge/run_plan.hpp"

using namespace plumb;

namespace {

struct Subject {
  Case c;
  RunOptions options = {};
  VariantInfo variant = {};
  VariantHistories histories = {};
  std::unique_ptr<PreparedCase> prepared;

  explicit Subject(const std::string& id, Device device = Device::cpu, const std::string& name = "user/x")
      : c(parse_case(id)), prepared(find_operator(c.op).prepare(c)) {
    variant.op = c.op, variant.name = name, variant.device = device;
  }
  RunSubject get() {
    RunSubject s{c, variant, options, *prepared, histories, options.repeat};
    s.arrays = arrays_of(*prepared);
    return s;
  }
  bool has(const RunPlan& plan, const std::string& kind) {
    return std::any_of(plan.kinds.begin(), plan.kinds.end(),
                       [&](const RunKind* k) { return k->name == kind; });
  }
};

std::string id_of(int seed) {
  return fmt::format("spmv.f32(rows=9,cols=7,density=0.5,fill=exact,seed={})", seed);
}

}  // namespace

TEST_CASE("every row of the table says who has it, how often, and what it sets") {
  for (const RunKind& kind : run_kinds()) {
    INFO(kind.name);
    CHECK(kind.of >= 1);
    CHECK((kind.share > 0 || kind.first > 0));
    CHECK(kind.share <= kind.of);
    CHECK((kind.concerns != nullptr));
    CHECK((kind.set_run != nullptr || kind.set_plan != nullptr));
    CHECK(std::strlen(kind.who) > 0);
    CHECK(std::strlen(kind.sets) > 0);
  }
}

TEST_CASE("as many cases are drawn for a kind as its row says, and one draw says nothing of another") {
  constexpr int kCases = 4096;
  std::map<std::string, int> drawn;
  int both = 0;
  for (int seed = 0; seed < kCases; ++seed) {
    const std::vector<std::string> kinds = kinds_drawn_for(parse_case(id_of(seed)));
    const std::set<std::string> names(kinds.begin(), kinds.end());
    for (const std::string& name : names) ++drawn[name];
    both += names.count("walls") != 0 && names.count("threads") != 0 ? 1 : 0;
  }
  CHECK(drawn["walls"] > kCases / 4 * 0.85);
  CHECK(drawn["walls"] < kCases / 4 * 1.15);
  CHECK(drawn["threads"] > kCases / 8 * 0.8);
  CHECK(drawn["threads"] < kCases / 8 * 1.2);
  CHECK(both > kCases / 32 * 0.6);
  CHECK(both < kCases / 32 * 1.4);
}

TEST_CASE("a case has one plan wherever it is judged, and the first rows of a sweep are the variant's") {
  Subject a(id_of(3)), b(id_of(3));
  const RunPlan first = plan_runs(a.get()), same = plan_runs(b.get());
  REQUIRE(first.runs.size() == 3);
  CHECK(first.kinds == same.kinds);
  CHECK(first.runs[1].instruments.threads == same.runs[1].instruments.threads);
  CHECK(first.runs[1].placement.tight);
  CHECK(!first.runs[2].placement.tight);
  RunPlan small = first, later = first;
  extend(small, Stage::last_run, a.get());
  CHECK(small.runs.size() > 3);
  CHECK(small.runs[3].instruments.calls == 256);
  extend(later, Stage::last_run, a.get());  // the variant had that
  for (std::size_t r = 3; r < later.runs.size(); ++r) CHECK(later.runs[r].instruments.calls < 256);
}

TEST_CASE("the clock is put on the last run, which is placed as the first one") {
  Subject a(id_of(3));
  RunSubject s = a.get();
  s.timed = true;
  const RunPlan plan = plan_runs(s);
  REQUIRE(plan.runs.size() == 3);
  CHECK(plan.runs[2].timed);
  CHECK((plan.runs[0].placement.packed && plan.runs[2].placement.packed && !plan.runs[0].timed));
}

TEST_CASE("a request arrives in the child as it was sent, and that of another version does not") {
  RunRequest r;
  r.call = {"spmv",    "user/x", Dtype::f64, Device::simt, StagedViews(5, std::byte{7}), 4096,
            "/a/b.so", 90,       12};
  r.instruments.poison = Poison::sentinel_b;
  r.instruments.schedule = ~std::uint64_t{0}, r.instruments.threads = kOneUnawares;
  r.instruments.callers = 2, r.instruments.far_rows = true, r.instruments.stop_where_differs = true;
  r.instruments.walls = {{8192, 4096}};
  r.timing.samples = 3, r.timing.budget = 0.25, r.timing.outputs = {{16, 32}};
  r.sequence = 77;
  Message sent = encode(r);
  const RunRequest got = decode_request(sent);
  CHECK(sent.at_end());
  CHECK((got.call.op == "spmv" && got.call.variant == "user/x" && got.call.plugin == "/a/b.so"));
  CHECK((got.call.dtype == Dtype::f64 && got.call.device == Device::simt && got.call.views == r.call.views));
  CHECK((got.call.image_bytes == 4096 && got.call.min_sm == 90 && got.call.uses == 12));
  CHECK((got.instruments.poison == Poison::sentinel_b && got.instruments.schedule == ~std::uint64_t{0}));
  CHECK((got.instruments.threads == kOneUnawares && got.instruments.callers == 2));
  CHECK((got.instruments.far_rows && got.instruments.stop_where_differs && !got.instruments.watch));
  REQUIRE(got.instruments.walls.size() == 1);
  CHECK(got.instruments.walls[0].read_only_from == 4096);
  CHECK((got.timing.samples == 3 && got.timing.budget == 0.25 && got.timing.outputs[0].bytes == 32));
  CHECK(got.sequence == 77);
  Message other;
  other.put_number(kInvocationVersion + 1);
  CHECK_THROWS_AS((void)decode_request(other), Error);
}

TEST_CASE(
    "problems that differ in little have their arrays at the case's addresses, and another answer than it "
    "somewhere") {
  for (const char* id :
       {"spmv.f32(rows=9,cols=7,density=0.5,alpha=2,beta=3,fill=exact,seed=3)",
        "gemm.f32(m=5,n=6,k=7,fill=exact,seed=1)", "gemv.f32(rows=5,cols=6,alpha=2,beta=0,fill=exact,seed=1)",
        "transpose.f32(rows=5,cols=6,fill=index,seed=1)", "reduce.f32(kind=sum,n=9,fill=exact,seed=1)",
        "spmm.f32(rows=9,cols=7,n=4,density=0.5,fill=exact,seed=1)",
        "sddmm.f32(rows=9,cols=7,k=4,density=0.5,fill=exact,seed=1)",
        "skinny_gemm.f32(v=5,k=6,n=7,fill=exact,seed=1)",
        "dense_to_csr.f32(rows=9,cols=7,density=0.5,fill=exact,seed=3)",
        "bias_relu.f32(rows=5,cols=6,bias=2,cap=8,fill=exact,seed=1)",
        "log_softmax.f32(rows=5,cols=6,fill=real,seed=1)",
        "conv2d.f32(n=1,c=2,h=8,w=6,k=2,r=3,s=3,pad=1,fill=exact,seed=1)"}) {
    CAPTURE(id);
    const Case c = parse_case(id);
    const auto prepared = find_operator(c.op).prepare(c);
    ImageLayout own{Placement{}};
    (void)prepared->place(own);
    int neighbours = 0;
    for (; PreparedCase* const other = prepared->neighbour(neighbours); ++neighbours) {
      ImageLayout layout{Placement{}};
      (void)other->place(layout);
      REQUIRE(layout.segments().size() == own.segments().size());
      CHECK(layout.bytes() == own.bytes());
      for (std::size_t s = 0; s < own.segments().size(); ++s) {
        CHECK(layout.segments()[s].offset == own.segments()[s].offset);
        CHECK(layout.segments()[s].ld == own.segments()[s].ld);
        CHECK(layout.segments()[s].elements() <= own.segments()[s].elements());
      }
      CHECK(other->reference().outputs.size() == prepared->reference().outputs.size());
    }
    CHECK(neighbours >= 1);
    CHECK(neighbours <= 20);
    if (c.op == "conv2d") CHECK(neighbours == 20);
    if (c.op == "gemm") CHECK(neighbours >= 3);
  }
}

TEST_CASE("an array that two operands share is whole in a problem where one of them is shorter") {
  const Case c = parse_case("skinny_gemm.f32(v=65,k=65,n=65,same=1,fill=exact,seed=1)");
  const auto prepared = find_operator(c.op).prepare(c);
  int neighbours = 0;
  for (; PreparedCase* const other = prepared->neighbour(neighbours); ++neighbours) {
    ImageLayout layout{Placement{}};
    (void)other->place(layout);
    CHECK(layout.segments().size() == 2);
    CHECK(layout.segments().front().elements() == 65 * 65);
  }
  CHECK(neighbours > 0);
}

TEST_CASE("what operands hold is told by array") {
  const auto told = [](const std::string& id) {
    const Case c = parse_case(id);
    return describe_operands(arrays_of(*find_operator(c.op).prepare(c)));
  };
  CHECK(told("spmv.f32(rows=9,cols=7,density=0.5,fill=positive,seed=3)").empty());
  const std::vector<std::string> hostile =
      told("spmv.f32(rows=300,cols=300,density=0.1,fill=hostile,seed=1)");
  CHECK(hold_nan(hostile));
  const std::vector<std::string> special =
      told("reduce.f32(kind=sum,n=9,special=nan_first,fill=real,seed=1)");
  CHECK(special == std::vector<std::string>{"NaN in x"});
}
