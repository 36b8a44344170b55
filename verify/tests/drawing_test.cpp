#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "reference/cases/operator.hpp"
#include "reference/core/error.hpp"
#include "verify/drawing/costly.hpp"
#include "verify/drawing/cover.hpp"
#include "verify/drawing/draw.hpp"
#include "verify/drawing/draw_timed.hpp"
#include "verify/drawing/draws.hpp"
#include "verify/drawing/open_tuples.hpp"
#include "verify/drawing/shrink.hpp"
#include "verify/engine/operator/entry.hpp"
#include "verify/engine/operator/operators.hpp"
#include "verify/operators.hpp"

namespace plumb {
namespace {

constexpr CaseLimit kSmall{5e4, 5e5};

template <class... Ops, class F>
void each_operator(OperatorList<Ops...>, F&& f) {
  (f.template operator()<Ops>(), ...);
}

template <class Op, class T>
void make_and_validate(const Case& c) {
  Instance<Op, T> instance;
  Op::template make<T>(c, instance);
  Op::template validate<T>(instance.problem, instance.in, instance.out);
}

CaseSpace two_sizes() {
  CaseSpace space("gemv");
  space.extent("rows")
      .extent("cols")
      .words("alpha", {"1"}, {.factor = true})
      .fills({Fill::exact, Fill::real});
  return space;
}

TEST_CASE("every drawn case of every operator can be made, and its id read back") {
  each_operator(Operators{}, []<class Op>() {
    const CaseSpace space = space_of<Op>();
    for (std::uint64_t number = 0; number < 40; ++number) {
      const Case c = draw_case(space, 5, number, kSmall);
      CAPTURE(c.id());
      CHECK(parse_case(c.id()) == c);
      with_value_type(c.dtype, [&]<class T>(T) { CHECK_NOTHROW((make_and_validate<Op, T>(c))); });
    }
  });
}

TEST_CASE("a drawn case lies in the space, within its limit, and is the same for the same seed and number") {
  each_operator(Operators{}, []<class Op>() {
    const CaseSpace space = space_of<Op>();
    for (std::uint64_t number = 0; number < 40; ++number) {
      const Case c = draw_case(space, 11, number, kSmall);
      CAPTURE(c.id());
      CHECK(draw_case(space, 11, number, kSmall) == c);
      const std::optional<Point> p = space.locate(c);
      REQUIRE(p);
      CHECK(space.valid(*p, kSmall));
      for (std::size_t i = 0; i < p->classes.size(); ++i) {
        const Parameter& known = space.parameters()[i];
        CHECK((known.kind == ParameterKind::derived || p->classes[i] < known.classes.size()));
      }
    }
  });
}

TEST_CASE("derived classes follow from the parameters, and are in no id") {
  CaseSpace space("gemv");
  space.extent("rows").extent("cols").fills({Fill::exact, Fill::real}).alike({"rows", "cols"});
  space.count("elements", [](const Point& p) { return p["rows"] * p["cols"]; });
  const auto names = [&](const char* id) { return space.class_names(*space.locate(parse_case(id))); };
  CHECK(names("gemv.f32(rows=290,cols=290,fill=exact,seed=1)")
            .find("rows and cols: alike, elements: beyond "
                  "16 bits") != std::string::npos);
  CHECK(names("gemv.f32(rows=32,cols=32,fill=exact,seed=1)").find("alike") != std::string::npos);
  CHECK(names("gemv.f32(rows=1,cols=1,fill=exact,seed=1)").find("alike") == std::string::npos);
  CHECK(names("gemv.f32(rows=2,cols=40000,fill=exact,seed=1)").find("elements: beyond") != std::string::npos);
  CHECK(names("gemv.f32(rows=2,cols=3,fill=exact,seed=1)").find("elements") == std::string::npos);
  int square = 0;
  for (std::uint64_t number = 0; number < 400; ++number) {
    const Case c = draw_case(space, 3, number, kSmall);
    square += c.integer("rows") > 8 && c.integer("rows") == c.integer("cols") ? 1 : 0;
    CHECK(!c.has("elements"));
  }
  CHECK(square > 5);
}

TEST_CASE("known traps have two, three, four and more rounds of the executor's device in each type") {
  for (const char* const op : {"bias_relu", "transpose", "reduce"}) {
    const CaseSpace space = find_operator(op).space();
    for (const auto& [type, bytes] : {std::pair{"f32", 4}, {"f64", 8}}) {
      std::set<double> rounds;
      for (const Parameter& p : space.parameters()) {
        const bool of_type = p.key.ends_with(fmt::format(" of {}", type));
        if (!of_type || p.classes.front().name.find("rounds of all") == std::string::npos) continue;
        double elements = 1;
        for (const auto& [key, word] : parse_values(p.key.substr(0, p.key.find(" of "))))
          elements *= key == "rows" || key == "cols" || key == "n" ? std::stod(word) : 1;
        rounds.insert(std::min(5.0, std::ceil(elements * bytes / kBytesOfRound)));
      }
      CAPTURE(op);
      CAPTURE(type);
      for (const double wanted : {2.0, 3.0, 4.0, 5.0}) CHECK(rounds.count(wanted) == 1);
    }
  }
}

TEST_CASE("a known trap is added where an operator has what it names, and its cases are not too large") {
  const auto has_trap = [](const char* op, std::string_view key) {
    return find_operator(op).space().has(key);
  };
  CHECK(has_trap("gemm", "k=129,m=37,n=3 of f32"));
  CHECK(has_trap("sddmm", "k=129,rows=37,cols=9,row_mean=3 of f64"));
  CHECK(has_trap("spmv", "pattern=last,row_mean=0.3,rows=70001,cols=5003 of f32"));
  CHECK(!has_trap("dense_to_csr", "pattern=last,row_mean=0.3,rows=70001,cols=5003 of f32"));  // 350 M places
  CHECK(has_trap("gemm", "layout=not_3,m=36,n=36,k=36 of f32"));
  CHECK(has_trap("transpose", "layout=not_2,rows=36,cols=36 of f32"));
  CHECK(!has_trap("transpose", "layout=not_3,rows=36,cols=36 of f32"));  // it has two arrays
  for (const Trap& trap : known_traps()) {
    CAPTURE(trap.constraint);
    CHECK(!trap.why.empty());
    bool any = false;
    for (const auto& entry : operators()) {
      const CaseSpace space = entry->space();
      const std::vector<Parameter>& all = space.parameters();
      any = any || std::any_of(all.begin(), all.end(), [&](const Parameter& p) { return p.why == trap.why; });
    }
    CHECK(any);
  }
}

TEST_CASE("a trap of an operator's own that names no parameter of it is an error") {
  CaseSpace space("gemv");
  space.extent("rows").fills({Fill::exact});
  CHECK_THROWS_WITH_AS(space.one_case({"wide", "cols=5", "why"}),
                       "gemv: trap 'wide' needs a parameter 'cols'", Error);
}

TEST_CASE("a form holds where its parameters have its values, and is drawn") {
  CaseSpace space("gemv");
  space.extent("rows").extent("cols").fills({Fill::exact, Fill::real});
  space.one_case({"three by five", "rows=3,cols=5", "steps", Met::with_all});
  const auto names = [&](const char* id) { return space.class_names(*space.locate(parse_case(id))); };
  CHECK(names("gemv.f32(rows=3,cols=5,fill=exact,seed=1)").find("three by five") != std::string::npos);
  CHECK(names("gemv.f32(rows=5,cols=3,fill=exact,seed=1)").find("three by five") == std::string::npos);
  int of_form = 0;
  for (std::uint64_t number = 0; number < 400; ++number) {
    const Case c = draw_case(space, 3, number, kSmall);
    of_form += c.integer("rows") == 3 && c.integer("cols") == 5 ? 1 : 0;
  }
  CHECK(of_form > 4);
}

TEST_CASE(
    "what costs too much with small sizes costs too much with larger ones, but not with a larger stride") {
  CaseSpace space("transpose");
  space.extent("rows")
      .extent("cols")
      .extent("stride", {.values = {1, 2, 5}})
      .fills({Fill::exact, Fill::real});
  const auto outputs = [](const Point& p) { return p["rows"] * p["cols"] / p["stride"]; };
  space.work({.multiply_adds = outputs, .elements = outputs});
  const auto tuple = [&](const char* a, const char* class_of_a, const char* b, const char* class_of_b) {
    const auto class_index = [&](std::size_t parameter, std::string_view name) {
      const auto& classes = space.parameters()[parameter].classes;
      const auto at =
          std::find_if(classes.begin(), classes.end(), [&](const ValueClass& c) { return c.name == name; });
      REQUIRE(at != classes.end());
      return static_cast<std::size_t>(at - classes.begin());
    };
    const std::size_t first = space.index(a), second = space.index(b);
    return ClassTuple{2, {first, second}, {class_index(first, class_of_a), class_index(second, class_of_b)}};
  };
  CostlyTuples costly(space, 1);
  costly.add(tuple("rows", "block edge", "cols", "beyond any tile"));
  costly.add(tuple("rows", "16-bit edge", "stride", "1"));
  CHECK(costly.has_below(tuple("rows", "block edge", "cols", "beyond any tile")));
  CHECK(costly.has_below(tuple("rows", "block edge", "cols", "16-bit edge")));
  CHECK(costly.has_below(tuple("rows", "16-bit edge", "cols", "beyond shared memory")));
  CHECK_FALSE(costly.has_below(tuple("rows", "ragged", "cols", "16-bit edge")));
  CHECK_FALSE(costly.has_below(tuple("rows", "16-bit edge", "cols", "block edge")));
  CHECK(costly.has_below(tuple("rows", "16 bits by blocks", "stride", "1")));
  CHECK_FALSE(costly.has_below(tuple("rows", "16-bit edge", "stride", "5")));
}

TEST_CASE("open tuples are as many counted for all classes of a parameter at once as one by one") {
  const CaseSpace space = space_of<Sddmm>();
  OpenTuples tuples(space, parameter_pairs(space));
  for (std::uint64_t number = 1; number <= 60; ++number) {
    const Point p = space.locate(draw_case(space, 5, number, kSmall)).value();
    const bool idle = space.idle(p);
    if (idle) continue;  // a class that makes it idle changes what others meet
    for (const std::size_t parameter : space.drawn_parameters()) {
      const std::size_t count = space.parameters()[parameter].classes.size();
      std::vector<std::size_t> met, classes = p.classes;
      tuples.open_with_each(parameter, classes, idle, met);
      classes[parameter] = count;  // of no class: tuples without that parameter are left
      const std::size_t without = tuples.open_of(classes, idle);
      for (std::size_t k = 0; k < count; ++k) {
        classes[parameter] = k;
        CHECK(tuples.open_of(classes, idle) == without + met[k]);
      }
    }
    tuples.close_all(p);
    CHECK(tuples.open_of(p.classes, idle) == 0);
  }
}

TEST_CASE("a point's derived classes are asked for one by one as they are found for all") {
  const CaseSpace space = space_of<Gemm>();
  for (std::uint64_t number = 1; number <= 60; ++number) {
    const Point p = space.locate(draw_case(space, 6, number, kSmall)).value();
    for (std::size_t i = 0; i < p.classes.size(); ++i) CHECK(space.class_at(p, i) == p.classes[i]);
  }
}

TEST_CASE("bitwise fills are never combined with a scalar that is not an integer") {
  const CaseSpace space = space_of<Gemm>();
  for (std::uint64_t number = 0; number < 300; ++number) {
    const Case c = draw_case(space, 3, number, kSmall);
    if (!is_bitwise(c.fill)) continue;
    CAPTURE(c.id());
    CHECK(c.number("alpha") == static_cast<double>(static_cast<std::int64_t>(c.number("alpha"))));
    CHECK(c.number("beta") == static_cast<double>(static_cast<std::int64_t>(c.number("beta"))));
  }
}

TEST_CASE("shrinking finds the smallest sizes of a fault that begins beyond one row count") {
  const CaseSpace space = two_sizes();
  const Case failing = parse_case("gemv.f64(rows=4099,cols=311,alpha=2.7182819,fill=real,seed=77)");
  const auto fails = [](const Case& c) { return c.integer("rows") > 1024 && c.integer("cols") >= 2; };
  const Shrunk shrunk = shrink_case(space, failing, fails);
  CHECK(shrunk.smallest.id() == "gemv.f32(rows=1025,cols=2,alpha=1,fill=exact,seed=1)");
  CHECK(shrunk.runs <= 200);
}

TEST_CASE("shrinking keeps what the fault needs") {
  const CaseSpace space = two_sizes();
  const Case failing = parse_case("gemv.f64(rows=40,cols=50,alpha=2.7182819,fill=real,seed=77)");
  const auto fails = [](const Case& c) {
    return c.dtype == Dtype::f64 && c.fill == Fill::real && c.number("alpha") != 1 && c.seed == 77;
  };
  const Shrunk shrunk = shrink_case(space, failing, fails);
  CHECK(shrunk.smallest.id() == "gemv.f64(rows=0,cols=0,alpha=3,fill=real,seed=77)");
}

TEST_CASE("shrinking stops at its number of runs, and returns a case that fails") {
  const CaseSpace space = two_sizes();
  const Case failing = parse_case("gemv.f32(rows=70001,cols=5000,alpha=1,fill=real,seed=9)");
  int asked = 0;
  const auto fails = [&](const Case& c) { return ++asked, c.integer("rows") * c.integer("cols") > 1000; };
  const Shrunk shrunk = shrink_case(space, failing, fails, 7);
  CHECK(asked == 7);
  CHECK(shrunk.runs == 7);
  CHECK(shrunk.smallest.integer("rows") * shrunk.smallest.integer("cols") > 1000);
}

TEST_CASE("a case with a user's matrix is outside the space, and is not shrunk") {
  const CaseSpace space = space_of<Spmv>();
  const Case c = parse_case("spmv.f32(matrix=a.mtx,fill=real,seed=1)");
  CHECK_FALSE(space.locate(c));
  CHECK(shrink_case(space, c, [](const Case&) { return true; }).smallest == c);
}

// Small enough to be made, and as large as those of a GPU with a cache of 50 MB.
constexpr TimedSize kTimed{65536, 4e6, 5e7, 1e5}, kTimedAtSize{65536, 4e8, 2e10, 1.6e7};

// They point into the space.
template <class Op>
std::vector<Point> timed_points(std::uint64_t draws) {
  static const CaseSpace space = space_of<Op>();
  std::vector<Point> points;
  for (std::uint64_t number = 0; number < draws; ++number)
    points.push_back(*space.locate(draw_timed_case(space, 1, number, kTimedAtSize)));
  return points;
}

// How many points have it.
template <class F>
std::ptrdiff_t count(const std::vector<Point>& points, F&& has) {
  return std::count_if(points.begin(), points.end(), has);
}

TEST_CASE("a case drawn for timing can be made, is within its limits, and is the same for seed and number") {
  each_operator(Operators{}, []<class Op>() {
    const CaseSpace space = space_of<Op>();
    const std::span<const Dtype> types = find_operator(space.op()).dtypes();
    for (std::uint64_t number = 0; number < 30; ++number) {
      const Case c = draw_timed_case(space, 11, number, kTimed);
      CAPTURE(c.id());
      CHECK(draw_timed_case(space, 11, number, kTimed) == c);
      CHECK(parse_case(c.id()) == c);
      CHECK(c.fill == Fill::real);
      CHECK(c.dtype == types[number % types.size()]);
      const std::optional<Point> p = space.locate(c);
      REQUIRE(p);
      CHECK(space.multiply_adds(*p) > 0);
      CHECK(space.multiply_adds(*p) <= kTimed.most_work);
      CHECK(space.bytes(*p) <= kTimed.most_bytes);
      with_value_type(c.dtype, [&]<class T>(T) { CHECK_NOTHROW((make_and_validate<Op, T>(c))); });
    }
  });
}

TEST_CASE("sizes for timing are spread over their range in bytes, for every operator") {
  each_operator(Operators{}, []<class Op>() {
    const CaseSpace space = space_of<Op>();
    CAPTURE(space.op());
    const std::vector<Point> points = timed_points<Op>(200);
    const auto bytes = [&](const Point& p) { return space.bytes(p); };
    CHECK(count(points, [&](const Point& p) { return bytes(p) < 2e6; }) > 30);
    CHECK(count(points, [&](const Point& p) { return bytes(p) > 1e7; }) > 30);
  });
}

TEST_CASE("shapes for timing are thin and fat, square and oblong, ragged and round") {
  const std::vector<Point> points = timed_points<Gemm>(200);
  const auto aspect = [](const Point& p) {
    return std::max({p["m"], p["n"], p["k"]}) / std::min({p["m"], p["n"], p["k"]});
  };
  const auto multiple = [](const Point& p) { return static_cast<int>(p["m"]) % 8 == 0; };
  CHECK(count(points, [&](const Point& p) { return aspect(p) == 1; }) > 20);
  CHECK(count(points, [&](const Point& p) { return aspect(p) > 16; }) > 20);
  CHECK(count(points, [](const Point& p) { return p["m"] > 4 * p["n"]; }) > 10);
  CHECK(count(points, [](const Point& p) { return p["n"] > 4 * p["m"]; }) > 10);
  CHECK(count(points, [](const Point& p) { return p["k"] > 4 * p["m"]; }) > 10);
  CHECK(count(points, multiple) > 60);
  CHECK(count(points, [&](const Point& p) { return !multiple(p); }) > 60);
}

TEST_CASE("every pattern is drawn for timing, and every width and depth that users have") {
  std::set<std::string> patterns;
  const std::vector<Point> matrices = timed_points<Spmv>(300);
  for (const Point& p : matrices) patterns.insert(p.word("pattern"));
  const CaseSpace space = space_of<Spmv>();
  CHECK(patterns.size() + 1 == space.parameters()[space.index("pattern")].classes.size());
  CHECK(patterns.count("repeat_last") == 0);  // costs what banded costs
  const auto covers = [](const std::vector<Point>& points, const char* key, double low, double high) {
    CAPTURE(key);
    for (double from = low; from < high; from *= 4)
      CHECK(count(points, [&](const Point& p) { return p[key] >= from && p[key] < 4 * from; }) > 10);
    CHECK(count(points, [&](const Point& p) { return p[key] < low || p[key] > high; }) == 0);
  };
  covers(timed_points<Spmm>(300), "n", 1, 256);
  covers(timed_points<Sddmm>(300), "k", 8, 256);
}

// Whether a value is a published one, or one beside it.
bool near(double value, double published, double noise) {
  return value >= std::floor(published / (1 + noise)) && value <= std::ceil(published * (1 + noise));
}

TEST_CASE(
    "half of the cases for timing are shapes that people have: published as they stand, or beside that") {
  const std::vector<Point> points = timed_points<SkinnyGemm>(400);
  const auto of_classes = [](const Point& p) {
    const std::set<double> counts = {7, 16, 40, 41, 47, 112, 153, 172};
    return counts.count(p["n"]) > 0;
  };
  CHECK(count(points, of_classes) > 80);
  for (const double classes : {7., 16., 40., 41., 47., 112., 153., 172.}) {
    CAPTURE(classes);
    CHECK(count(points, [&](const Point& p) { return p["n"] == classes; }) > 3);
  }
  const auto is_arxiv = [](const Point& p) { return p["v"] == 169343 && p["k"] == 128; };
  const auto beside_arxiv = [](const Point& p) {
    return near(p["v"], 169343, 0.15) && near(p["k"], 128, 0.15);
  };
  CHECK(count(points, is_arxiv) > 2);
  CHECK(count(points, beside_arxiv) > count(points, is_arxiv) + 1);
  CHECK(count(points, [](const Point& p) { return p["n"] > 64; }) < 80);
}

TEST_CASE("thin products for timing are thin on either side, and of few numbers") {
  const std::vector<Point> points = timed_points<Gemm>(400);
  CHECK(count(points, [](const Point& p) { return p["m"] < 65 && p["n"] > 512; }) > 10);
  CHECK(count(points, [](const Point& p) { return p["n"] < 65 && p["m"] > 512; }) > 10);
  CHECK(count(points, [](const Point& p) { return p["m"] < 16; }) > 2);
}

// gemv's two extents, with a family of one shape.
CaseSpace of_shape(const std::string& shape, double noise) {
  CaseSpace space("gemv");
  space.extent("rows", {.timed = timed_size(1, 100'000)}).extent("cols", {.timed = timed_size(1, 100'000)});
  space.fills({Fill::real})
      .work({.multiply_adds = [](const Point& p) { return p["rows"] * p["cols"]; },
             .elements = [](const Point& p) { return p["rows"] * p["cols"]; }});
  return space.timed_family({"square", "", {shape}, noise});
}

TEST_CASE("numbers of a shape that are equal stay equal, and a range is drawn within its ends") {
  constexpr TimedSize kAll{16, 4e8, 2e10, 1e5};
  const CaseSpace square = of_shape("rows=1000,cols=1000", 0.2), thin = of_shape("cols=3..5", 0.2);
  int exact = 0, noisy = 0, within = 0;
  for (std::uint64_t number = 0; number < 200; ++number) {
    const Case c = draw_timed_case(square, 5, number, kAll);
    const auto rows = c.integer("rows"), cols = c.integer("cols");
    exact += rows == 1000 && cols == 1000 ? 1 : 0;
    noisy += rows == cols && rows != 1000 && near(static_cast<double>(rows), 1000, 0.2) ? 1 : 0;
    const auto few = draw_timed_case(thin, 5, number, kAll).integer("cols");
    within += few >= 3 && few <= 5 ? 1 : 0;
  }
  CHECK(exact > 30);
  CHECK(noisy > 30);
  CHECK(within > 70);
  CHECK(within < 150);  // the others take the description's values
}

TEST_CASE("a family of shapes that says nothing, or what the operator lacks, is an error") {
  CaseSpace space = of_shape("rows=1", 0);
  CHECK_THROWS_WITH_AS(space.timed_family({"none", "", {}}), "gemv: family 'none' has no shapes", Error);
  CHECK_THROWS_WITH_AS(space.timed_family({"empty", "", {""}}),
                       "gemv: a shape of family 'empty' names no parameter", Error);
  CHECK_THROWS_WITH_AS(space.timed_family({"bare", "", {"rows"}}), "gemv: shape 'rows' gives 'rows' no value",
                       Error);
  CHECK_THROWS_AS(space.timed_family({"wrong", "", {"depth=4"}}), Error);
}

TEST_CASE("operators draw apart: cases of one number are not alike") {
  const CaseSpace gemv = space_of<Gemv>(), transpose = space_of<Transpose>();
  int alike = 0;
  for (std::uint64_t number = 0; number < 40; ++number) {
    const Case a = draw_timed_case(gemv, 1, number, kTimed),
               b = draw_timed_case(transpose, 1, number, kTimed);
    alike += a.text("rows") == b.text("rows") ? 1 : 0;
  }
  CHECK(alike < 4);
}

TEST_CASE("an extent without sizes for timing is an error that names it") {
  CHECK_THROWS_WITH_AS((void)draw_timed_case(two_sizes(), 1, 0, kTimed),
                       "gemv: 'rows' has no sizes for timing: timed_size() or timed_range() in describe()",
                       Error);
}

// The values of one parameter, as docs/results/drawn.md has them.
std::string words_of(const TimedValues& t) {
  std::string text = t.words.empty() ? fmt::format("{} to {}{}", t.low, t.high, t.grows ? ", grows" : "")
                                     : fmt::format("{}", fmt::join(t.words, ", "));
  if (!t.like.empty()) text += fmt::format(" (as {} in {:.0f} %)", t.like, 100 * t.alike);
  return text;
}

TEST_CASE("docs/results/drawn.md says what the descriptions say about timing") {
  std::ifstream file(PLUMB_DOCS_DIR "/results/drawn.md");
  REQUIRE_MESSAGE(file, "docs/results/drawn.md cannot be read");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  std::string table;
  each_operator(Operators{}, [&]<class Op>() {
    const CaseSpace space = space_of<Op>();
    std::vector<std::string> timed;
    for (const Parameter& p : space.parameters()) {
      if (!p.timed.words.empty() || p.timed.high != 0)
        timed.push_back(fmt::format("{}: {}", p.key, words_of(p.timed)));
    }
    table += fmt::format("| {} | {} |\n", Op::kName, fmt::join(timed, "; "));
  });
  CHECK_MESSAGE(page.find(table) != std::string::npos, "the page must hold\n" << table);
}

TEST_CASE("docs/results/drawn.md has the families of shapes with their sources") {
  std::ifstream file(PLUMB_DOCS_DIR "/results/drawn.md");
  REQUIRE_MESSAGE(file, "docs/results/drawn.md cannot be read");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  std::string table;
  each_operator(Operators{}, [&]<class Op>() {
    const CaseSpace space = space_of<Op>();
    for (const TimedFamily& f : space.timed_families()) {
      std::string shapes = fmt::format("{}", fmt::join(f.shapes, "; "));
      for (std::size_t at = 0; (at = shapes.find('|', at)) != std::string::npos; at += 4)
        shapes.replace(at, 1, " or ");
      table += fmt::format("| {} | {} | {} | {} |\n", Op::kName, f.name, f.source, shapes);
    }
  });
  CHECK_MESSAGE(page.find(table) != std::string::npos, "the page must hold\n" << table);
}

}  // namespace
}  // namespace plumb
