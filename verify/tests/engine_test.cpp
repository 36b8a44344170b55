// The engine's safeguards, each tried with a kernel that breaks it. Variants are registered in a list of their own operator.
#include <doctest/doctest.h>
#include <omp.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <utility>

#include "reference/cases/fills.hpp"
#include "reference/cases/sparse_cases.hpp"
#include "reference/core/contract.hpp"
#include "reference/core/error.hpp"
#include "verify/engine/backend/collisions.hpp"
#include "verify/engine/operator/adapter.hpp"
#include "verify/engine/operator/no_bound.hpp"
#include "verify/engine/operator/operators.hpp"
#include "verify/engine/operator/resources.hpp"
#include "verify/engine/process/child.hpp"
#include "verify/engine/process/manifest.hpp"
#include "verify/judge/mistrust.hpp"
#include "verify/judge/runner.hpp"
#include "verify/judge/self_test.hpp"

using namespace plumb;

namespace {

// y = 2 x: the smallest operator there can be, for these tests alone.
struct Twice : Contract<Twice> {
  static constexpr const char* kName = "twice";
  static constexpr const char* kSignature = "x: n, n -> y: n";
  static constexpr auto& kDtypes = kUsualDtypes;
  PLUMB_PROBLEM(std::int64_t n;)
  PLUMB_INPUTS(Vector x;)
  PLUMB_OUTPUTS(Vector y;)
  static void describe(CaseSpace&) {}
  static void cases(CaseList& list) {
    list.add(Tier::smoke, "n=100", {Fill::exact, Fill::real}, "the only one");
  }
  template <class T>
  static void make(const Case& c, Instance<Twice, T>& i) {
    i.problem.n = c.integer("n");
    i.in.x = make_vector<T>(i.arena, i.problem.n, c, Role::right, 1);
    i.out.y.size = i.problem.n;
  }
  template <class T>
  static void validate(const Problem<T>&, const In<T, Space::host>&, const Out<T, Space::host>&) {}
  template <class T>
  static void oracle(const Problem<T>& p, const In<T, Space::host>& in, const Out<T, Space::host>&,
                     Reference& r) {
    r.outputs.emplace_back().resize(p.n);
    for (std::int64_t i = 0; i < p.n; ++i) {
      OracleDot<T> d;
      d.add_product(T(2), in.x[i]);
      r.outputs[0].take(i, d);
    }
  }
  template <class T>
  static Work cost(const Problem<T>& p, const In<T, Space::host>&, const Out<T, Space::host>&) {
    return {static_cast<double>(p.n), static_cast<double>(p.n), static_cast<double>(p.n)};
  }
  static double bound(const Tolerance& t, int, double v, double m, std::int64_t n) {
    return sum_bound(t, v, m, n);
  }
};

using P = Twice::Problem<float>;
using I = Twice::In<float, Space::host>;
using O = Twice::Out<float, Space::host>;

void right(const P& p, const I& in, const O& out, Context&) {
  for (std::int64_t i = 0; i < p.n; ++i) out.y[i] = 2 * in.x[i];
}
void one_short(const P& p, const I& in, const O& out, Context&) {
  for (std::int64_t i = 0; i + 1 < p.n; ++i) out.y[i] = 2 * in.x[i];
}
void one_past(const P& p, const I& in, const O& out, Context& c) {
  right(p, in, out, c);
  out.y[p.n] = 0;
}
void one_before(const P& p, const I& in, const O& out, Context& c) {
  right(p, in, out, c);
  out.y[-1] = 0;
}
void changes_input(const P& p, const I& in, const O& out, Context& c) {
  right(p, in, out, c);
  const_cast<float*>(in.x.data)[5] += 1;
}
void drifts(const P& p, const I& in, const O& out, Context& c) {
  static int calls = 0;
  right(p, in, out, c);
  if (++calls == 3) out.y[7] = std::nextafter(out.y[7], 1e30f);
}
void overruns_workspace(const P& p, const I& in, const O& out, Context& c) {
  right(p, in, out, c);
  static_cast<char*>(c.workspace(64))[64] = 1;
}
// Right on the values of its first call alone.
void remembers(const P& p, const I& in, const O& out, Context& c) {
  static std::vector<float> answer;
  if (answer.empty()) {
    right(p, in, out, c);
    answer.assign(out.y.data, out.y.data + p.n);
  }
  std::copy(answer.begin(), answer.end(), out.y.data);
}
void overruns_workspace_of_negative(const P& p, const I& in, const O& out, Context& c) {
  static const std::vector<float> first(in.x.data, in.x.data + in.x.size);
  right(p, in, out, c);
  const bool same = std::equal(first.begin(), first.end(), in.x.data);
  static_cast<char*>(c.workspace(64))[same ? 63 : 64] = 1;
}
void reads_to_the_end_of_workspace(const P& p, const I& in, const O& out, Context& c) {
  right(p, in, out, c);
  auto* const bytes = static_cast<volatile char*>(c.workspace(64));
  for (int i = 0; i < 64; ++i) bytes[i] = bytes[63 - i];
}
void throws(const P&, const I&, const O&, Context&) { throw std::runtime_error("no luck today"); }
void reads_output(const P& p, const I& in, const O& out, Context&) {
  for (std::int64_t i = 0; i < p.n; ++i) out.y[i] += 2 * in.x[i];
}
void off_by_little(const P& p, const I& in, const O& out, Context& c) {
  right(p, in, out, c);
  out.y[3] *= 1 + 0x1p-20f;
}

#define TWICE(name) \
  const Register<Twice, float, Space::host> r_##name { #name, name }
TWICE(right);
TWICE(one_short);
TWICE(one_past);
TWICE(one_before);
TWICE(changes_input);
TWICE(drifts);
TWICE(overruns_workspace);
TWICE(reads_to_the_end_of_workspace);
TWICE(remembers);
TWICE(overruns_workspace_of_negative);
TWICE(throws);
TWICE(reads_output);
TWICE(off_by_little);
const char* refuses(const P&, const I&, const O&) { return "not today"; }
const Register<Twice, float, Space::host> r_refusing{"refusing", right, {}, refuses};
const Register<Twice, float, Space::host> r_in_winograd{"in_winograd", right,
                                                        Traits{}.computes_in(Arithmetic::winograd)};

// y = |x| + |x|, on values that a test chooses: sums of terms of one sign.
struct Sizes : Twice {
  static constexpr const char* kName = "sizes";
  static constexpr const char* kExtents[] = {"n"};
  static inline double (*value)(std::int64_t) = nullptr;
  template <class T>
  static void make(const Case& c, Instance<Sizes, T>& i) {
    i.problem.n = c.integer("n");
    T* const x = i.arena.template allocate<T>(i.problem.n);
    for (std::int64_t k = 0; k < i.problem.n; ++k) x[k] = static_cast<T>(value(k));
    i.in.x = {x, i.problem.n};
    i.out.y.size = i.problem.n;
  }
  template <class T>
  static void oracle(const Problem<T>& p, const In<T, Space::host>& in, const Out<T, Space::host>&,
                     Reference& r) {
    r.outputs.emplace_back().resize(p.n);
    for (std::int64_t i = 0; i < p.n; ++i) {
      OracleDot<T> d;
      for (int term = 0; term < 2; ++term) d.add(std::fabs(in.x[i]));
      r.outputs[0].take(i, d);
    }
  }
};
void one_percent_off(const P& p, const I& in, const O& out, Context&) {
  for (std::int64_t i = 0; i < p.n; ++i) out.y[i] = 2.02f * std::fabs(in.x[i]);
}
const Register<Sizes, float, Space::host> r_one_percent_off{"one_percent_off", one_percent_off};

// in-process: find_operator() of serve() knows the program's list only, so the adapter is called directly
template <class Op = Twice>
Record judge(const std::string& variant, const char* fill = "real",
             std::function<void(const Failure&)> on_failure = {}) {
  static const OperatorAdapter<Op> adapter;
  RunOptions options;
  options.on_failure = std::move(on_failure);
  options.isolation = Isolation::none;
  options.repeat = 4;
  Runner runner(options);
  runner.use(adapter);
  const Case c = parse_case(std::string(Op::kName) + ".f32(n=100,fill=" + fill + ",seed=3)");
  const auto prepared = adapter.prepare(c);
  REQUIRE(why_mistrusted(c, *prepared).empty());
  for (const VariantInfo& v : adapter.variants(Device::gpu)) {
    if (v.name == "cpu/" + variant) return runner.judge(c, *prepared, v);
  }
  FAIL("no such variant");
  return {};
}

// A device whose memory is the host's, and which may be old, or stop in the middle of a run.
struct ADevice final : Backend {
  int chip = 0;
  std::string stopped_by = {};
  std::string describe() const override { return "a device"; }
  int sm() const override { return chip; }
  Reason why_void() override { return stopped_by; }
  std::byte* upload(std::byte* image, std::int64_t) override { return image; }
  void download(std::byte*, std::int64_t) override {}
  void* workspace(std::int64_t, Poison) override { return nullptr; }
  std::string release_workspace() override { return {}; }
};

RunReply serve_on(Backend& device, const char* variant, int min_sm = 0) {
  static const OperatorAdapter<Twice> adapter;
  const auto prepared = adapter.prepare(parse_case("twice.f32(n=100,fill=real,seed=3)"));
  ImageLayout layout(Placement{});
  RunRequest request;
  request.call.op = "twice", request.call.variant = variant, request.call.views = prepared->place(layout);
  request.call.image_bytes = layout.bytes(), request.call.min_sm = min_sm;
  std::vector<std::byte> image(static_cast<std::size_t>(layout.bytes()));
  layout.write(image.data());
  return serve(request, adapter, image.data(), device);
}

}  // namespace

TEST_CASE("a failure on a twin is shown with that case's inputs and expected values") {
  int failures = 0;
  const Record r = judge("remembers", "real", [&](const Failure& f) {
    ++failures;
    const Segment& x = f.layout.segments()[0];
    REQUIRE(f.after != nullptr);
    const std::vector<ReferenceArray>& expected = f.prepared.reference().outputs;
    for (std::int64_t i = 0; i < x.elements(); ++i)
      CHECK(expected[0].value[static_cast<std::size_t>(i)] == 2 * element(x, f.before, i));
  });
  CHECK(failures == 1);
  CHECK(r.verdict == Verdict::fail);
  CHECK(r.reason.rfind("new data, old answer?", 0) == 0);
}

TEST_CASE(
    "rows that hold one column of several rows, in a twin of another pattern, have the bound of terms that "
    "repeat") {
  for (const std::string fill : {"real", "positive", "exact"}) {
    CAPTURE(fill);
    const auto prepared = find_operator("spmv").prepare(
        parse_case("spmv.f64(rows=511,cols=1028,pattern=arrow,density=1,ones=1,fill=" + fill + ",seed=173)"));
    PreparedCase* const twin = prepared->twin(Twin::pattern);
    REQUIRE(twin != nullptr);
    const ReferenceArray& y = twin->reference().outputs.front();
    const std::size_t longest =
        510;  // the case's first row: each of its terms is 1 times the same element of x
    const auto terms = static_cast<double>(y.terms[longest]);
    REQUIRE(terms == 1028);
    const double bound = twin->bounds(0, Arithmetic::native)[longest];
    if (fill == "exact")
      CHECK(bound == 0);
    else
      CHECK(bound >= terms * kUnit<double> * y.magnitude[longest]);
  }
}

TEST_CASE("a workspace that is damaged on a twin alone is found") {
  CHECK(judge("overruns_workspace_of_negative").verdict == Verdict::out_of_bounds);
}

TEST_CASE(
    "an arithmetic for which the oracle gives no magnitude has no bound, and is not judged by another's") {
  static const OperatorAdapter<Twice> adapter;
  const auto prepared = adapter.prepare(parse_case("twice.f32(n=10,fill=real,seed=3)"));
  CHECK(prepared->bounds(0, Arithmetic::native).size() == 10);
  CHECK_THROWS_WITH_AS(
      (void)prepared->bounds(0, Arithmetic::winograd),
      "twice: no bound is known here for variants that compute in winograd: they are to decline the case",
      NoBound);
  const Record r = judge("in_winograd");
  CHECK(r.verdict == Verdict::error);
  CHECK(r.reason.find("they are to decline the case") != std::string::npos);
}

TEST_CASE("a failure where every term has one sign suggests the bound for terms of one sign") {
  Sizes::value = [](std::int64_t i) { return i % 2 == 0 ? 1.0 + static_cast<double>(i) : -3.0; };
  const std::string notice = "every term has one sign: is the bound that of positive data?";
  const auto says = [&](const Record& r) {
    CHECK(r.verdict == Verdict::fail);
    return std::find(r.detail.begin(), r.detail.end(), notice) != r.detail.end();
  };
  CHECK(says(judge<Sizes>("one_percent_off", "real")));
  CHECK_FALSE(says(judge<Sizes>("one_percent_off", "exact")));  // its bound is 0 whatever the signs
  CHECK_FALSE(says(judge("off_by_little")));                    // single terms are no sums
}

TEST_CASE("a case that proves nothing says why, and what to change") {
  static const OperatorAdapter<Sizes> adapter;
  const auto why = [](const char* fill, double (*value)(std::int64_t)) {
    Sizes::value = value;
    const Case c = parse_case(std::string("sizes.f32(n=100,fill=") + fill + ",seed=3)");
    return why_mistrusted(c, *adapter.prepare(c));
  };
  CHECK(why("real", [](std::int64_t) { return 1.5; }) ==
        "the reference is constant: change the data, or mark the instance degenerate in make()");
  CHECK(why("real", [](std::int64_t i) { return static_cast<double>(i % 2) * 0x1p-149; }) ==
        "an output of zeros would pass: change the data, or mark the instance degenerate in make()");
  CHECK(why("wide", [](std::int64_t i) { return i == 7 ? 0x1p24 : static_cast<double>(i); }) ==
        "element 7 of y sums magnitudes to 3.36e+07: its partial sums are not exact in f32: draw smaller "
        "numbers or fewer terms in make()");
  CHECK(why("wide", [](std::int64_t i) { return static_cast<double>(i); }).empty());
}

TEST_CASE("a correct kernel passes in every run") {
  const Record r = judge("right");
  CHECK(r.verdict == Verdict::pass);
  CHECK(r.runs == 5);  // four, and one on a twin
  CHECK(r.worst.misses == 0);
  CHECK(judge("reads_to_the_end_of_workspace").verdict == Verdict::pass);
}

TEST_CASE("each way of being wrong gets its own verdict") {
  CHECK(judge("one_short").verdict == Verdict::unwritten);
  CHECK(judge("one_past").verdict == Verdict::out_of_bounds);
  CHECK(judge("one_before").verdict == Verdict::out_of_bounds);
  CHECK(judge("changes_input").verdict == Verdict::input_modified);
  CHECK(judge("overruns_workspace").verdict == Verdict::out_of_bounds);
  CHECK(judge("throws").verdict == Verdict::error);
  CHECK(judge("throws").reason == "no luck today");
  CHECK(judge("reads_output").verdict == Verdict::fail);
  CHECK(judge("off_by_little").verdict == Verdict::fail);
  CHECK(judge("refusing").verdict == Verdict::unsupported);
}

TEST_CASE("a kernel that gives other bits on the same data is nondeterministic, though within its bound") {
  const Record r = judge("drifts");  // the third call differs by one ulp from the first, placed alike
  CHECK(r.verdict == Verdict::nondeterministic);
  CHECK(r.worst.misses == 0);
  CHECK(r.differs);
}

TEST_CASE("a variant that needs a later device than there is is not run, and the reply says which") {
  ADevice device;
  device.chip = 80;
  const RunReply refused = serve_on(device, "cpu/right", 90);
  CHECK(refused.status == RunReply::Status::too_old);
  CHECK(refused.text == "needs sm_90, device is sm_80");
  CHECK(serve_on(device, "cpu/right", 80).status == RunReply::Status::ok);
}

TEST_CASE("an error of a variant on a device that had stopped is the device's reason, and no verdict") {
  ADevice device;
  const RunReply failed = serve_on(device, "cpu/throws");
  CHECK(failed.status == RunReply::Status::error);
  CHECK(failed.text == "no luck today");
  device.stopped_by = "the device is out of memory";
  for (const char* variant : {"cpu/throws", "cpu/right"}) {
    const RunReply reply = serve_on(device, variant);
    CHECK(reply.status == RunReply::Status::declined);
    CHECK(reply.text == "the device is out of memory");
  }
  CHECK(serve_on(device, "cpu/refusing").status == RunReply::Status::unsupported);
}

TEST_CASE("runs with the same wrong result do not count as different") {
  CHECK_FALSE(judge("right").differs);
  CHECK_FALSE(judge("off_by_little").differs);
}

TEST_CASE("the judge passes its own probes, and every mutant of it is detected") {
  CHECK(judge_self_test(JudgeParts{}).empty());
  for (const JudgeFault& fault : judge_faults()) {
    INFO(fault.name);
    CHECK_FALSE(judge_self_test(fault.parts).empty());
  }
}

TEST_CASE("a narrow operand that is NaN in half of its places is prepared in a moment, as any other is") {
  const auto prepared = find_operator("topk").prepare(
      parse_case("topk.bf16(rows=12292,cols=60,k=1,special=nan,fill=hostile,seed=1)"));
  CHECK(prepared->reference().outputs.at(0).value.size() == 12292);
}

TEST_CASE("ids round-trip for every case of every operator, and no two cases share one") {
  for (const auto& entry : operators()) {
    std::set<std::string> seen;
    for (const Case& c : entry->cases()) {
      CHECK(parse_case(c.id()) == c);
      CHECK_MESSAGE(seen.insert(c.id()).second, c.id());
    }
  }
}

TEST_CASE("every compiled variant is registered") {
  for (const std::string& defect : manifest_defects()) FAIL_CHECK(defect);
}

TEST_CASE("threads that cannot be started are named, with the limit") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const rlimit few{1, 1};
    const bool limited = setrlimit(RLIMIT_NPROC, &few) == 0 && (getuid() != 0 || setuid(65534) == 0);
    const std::string text = limited ? missing_resources(3) : "no limit could be set";
    (void)!write(ends[1], text.data(), text.size());
    _exit(0);
  }
  close(ends[1]);
  char text[256] = {};
  (void)!read(ends[0], text, sizeof text - 1);
  close(ends[0]);
  waitpid(child, nullptr, 0);
  CHECK(std::string(text).rfind("out of threads: thread ", 0) == 0);
  CHECK(std::string(text).find("(ulimit -u is 1)") != std::string::npos);
  CHECK(missing_resources(3).empty());
}

TEST_CASE("a write outside an array is reported with its index") {
  CHECK(judge("one_past").reason == "wrote y[100], the first place behind its end");
  CHECK(judge("one_before").reason == "wrote y[-1], the first place before its start");
}

TEST_CASE("an element whose rounding is mostly underflow does not count for err/(uM)") {
  ReferenceArray reference;
  reference.resize(2);
  reference.value[0] = 0x1p-148, reference.magnitude[0] = 0x1p-148, reference.terms[0] = 4;
  reference.value[1] = 1, reference.magnitude[1] = 1, reference.terms[1] = 4;
  LargeArray<double> bound{1e-40, 1e-6};
  Segment s;
  s.name = "y", s.output = true, s.rows = 1, s.cols = s.ld = 2;
  const float got[2] = {0, 1 + 0x1p-22f};
  const Comparison c = compare(s, reinterpret_cast<const std::byte*>(got),
                               {&reference, &bound, kUnit<float>, kEta<float>}, Poison::nan_payload);
  CHECK(c.misses == 0);
  CHECK(c.max_unit_ratio == doctest::Approx(0x1p-22 / kUnit<float>));
}

TEST_CASE("a disturbed run with threads of its own gives back OpenMP's team as it was") {
  const auto collide = std::exchange(collide_threads, [](std::uint64_t) {});
  const auto host = make_backend(Device::cpu);
  const int usual = omp_get_max_threads();
  for (int call = 0; call < 3; ++call) {
    host->disturb(7, false);
    CHECK(omp_get_max_threads() > usual);
    host->use_threads(usual + 3);
    host->download(nullptr, 0);
    CHECK(omp_get_max_threads() == usual);
  }
  collide_threads = collide;
}
