// The tiers against the descriptions: what a covering array forgets, and what it covers by cases that notice nothing.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "reference/cases/special_values.hpp"
#include "verify/drawing/cover.hpp"
#include "verify/drawing/draw.hpp"
#include "verify/drawing/redundant.hpp"
#include "verify/engine/operator/entry.hpp"
#include "verify/engine/operator/operators.hpp"
#include "verify/judge/mistrust.hpp"
#include "verify/tests/smoke_cases.hpp"

namespace plumb {
namespace {

bool has_once(const CaseSpace& space, const Point& p, Sizes sizes) {
  for (std::size_t i = 0; i < p.classes.size(); ++i) {
    const auto& [key, kind, classes, simplest, timed, why] = space.parameters()[i];
    if (kind == ParameterKind::derived || p.classes[i] >= classes.size()) continue;
    if (classes[p.classes[i]].once || met_once(space, sizes, i, p.classes[i])) return true;
  }
  return false;
}

// Sizes that the executor has no room for are met once, on a device. What follows from several sizes must be met on both, and a dear class
// where few kernels are judged.
bool too_large_for(CaseSpeed speed, const CaseSpace& space, std::size_t parameter, std::size_t value_class) {
  const Parameter& p = space.parameters()[parameter];
  const ValueClass& c = p.classes[value_class];
  if (c.dear && speed == CaseSpeed::executor) return true;
  return on_executor(speed) && c.once && p.kind != ParameterKind::derived;
}

template <class F>
void each_smoke_tier(F&& f) {
  for (const auto& entry : operators()) {
    for (const CaseSpeed speed : {CaseSpeed::device, CaseSpeed::executor, CaseSpeed::executor_of_few}) {
      CAPTURE(entry->name());
      CAPTURE(static_cast<int>(speed));
      f(*entry, speed);
    }
  }
}

TEST_CASE(
    "tiers, nightly: every class of every parameter is in a case of tier smoke, on a device and on the "
    "executor" *
    doctest::skip()) {
  each_smoke_tier([](const OperatorEntry& entry, CaseSpeed speed) {
    const CaseSpace space = entry.space();
    for (const ClassTuple& t : tuples_not_met(space, single_parameters(space), smoke_cases(entry, speed))) {
      if (!too_large_for(speed, space, t.parameter[0], t.value_class[0])) FAIL_CHECK(describe(space, t));
    }
  });
}

TEST_CASE(
    "tiers, nightly: every class but nothing itself is in a case of tier smoke that computes something" *
    doctest::skip()) {
  each_smoke_tier([](const OperatorEntry& entry, CaseSpeed speed) {
    const CaseSpace space = entry.space();
    const auto& parameters = space.parameters();
    std::vector<std::vector<bool>> met;
    for (const Parameter& p : parameters) met.emplace_back(p.classes.size(), false);
    for (const Case& c : smoke_cases(entry, speed)) {
      const std::optional<Point> at = space.locate(c);
      if (!at || space.idle(*at)) continue;
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (at->classes[i] < met[i].size()) met[i][at->classes[i]] = true;
      }
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      for (std::size_t k = 0; k < met[i].size(); ++k) {
        CAPTURE(parameters[i].key);
        CAPTURE(parameters[i].classes[k].name);
        CHECK((met[i][k] || space.is_nothing(i, k) || too_large_for(speed, space, i, k)));
      }
    }
  });
}

TEST_CASE(
    "tiers, nightly: no drawn case within a layer's limit meets classes, or contexts, that tier smoke does "
    "not" *
    doctest::skip()) {
  each_smoke_tier([](const OperatorEntry& entry, CaseSpeed speed) {
    const std::vector<Case>& tier = smoke_cases(entry, speed);
    for (const TierArray& array : tier_arrays(entry.space(), Tier::smoke, speed)) {
      const CaseSpace& space = array.space;
      for (const CoverLayer& layer : array.layers) {
        std::vector<Case> drawn;
        for (std::uint64_t number = 0; number < 600; ++number)
          drawn.push_back(draw_case(space, 23, number, layer.limit));
        // what is met once is not looked for together with the rest
        std::erase_if(drawn, [&](const Case& c) { return has_once(space, *space.locate(c), layer.sizes); });
        const std::vector<ClassTuple> not_drawn = tuples_not_met(space, layer.combinations, drawn);
        for (const ClassTuple& t : tuples_not_met(space, layer.combinations, tier)) {
          if (std::find(not_drawn.begin(), not_drawn.end(), t) == not_drawn.end())
            FAIL_CHECK(describe(space, t));
        }
      }
    }
  });
}

TEST_CASE("tiers, nightly: every made case of tier smoke meets some classes alone" * doctest::skip()) {
  each_smoke_tier([](const OperatorEntry& entry, CaseSpeed speed) {
    const std::vector<Case>& tier = smoke_cases(entry, speed);
    std::vector<std::vector<std::size_t>> met(tier.size());
    std::size_t tuples = 0;
    for (const auto& [space, layers] : tier_arrays(entry.space(), Tier::smoke, speed)) {
      for (const CoverLayer& layer : layers) tuples = number_tuples(space, layer, tier, tuples, met);
    }
    std::vector<std::size_t> made;
    for (std::size_t i = 0; i < tier.size(); ++i) {
      if (tier[i].drawn) made.push_back(i);
    }
    const std::vector<bool> left_out = redundant(met, tuples, made);
    for (const std::size_t i : made) {
      CAPTURE(tier[i].id());
      CHECK(!left_out[i]);
    }
  });
}

TEST_CASE("of cases that meet each other's classes those stay without which some would be missed") {
  const std::vector<std::vector<std::size_t>> met = {{0, 1}, {1, 2}, {0, 2}, {3}, {}};
  CHECK(redundant(met, 4, {0, 1, 2, 3}) == std::vector<bool>{true, false, false, false, false});
  CHECK(redundant(met, 4, {2, 1, 0}) == std::vector<bool>{false, false, true, false, false});
  CHECK(redundant(met, 4, {4}) == std::vector<bool>{false, false, false, false, true});
  CHECK(redundant(met, 4, {}) == std::vector<bool>(5, false));
}

TEST_CASE("a special value stands in one column of many rows, as it does in few rows and in many columns") {
  const OperatorEntry& entry = find_operator("gemm");
  const CaseSpace contexts = entry.space().contexts();
  const std::size_t m = contexts.index("m"), of_n = contexts.index("shape of n");
  CHECK(contexts.extent_of_shape(of_n) == contexts.index("n"));
  CHECK(!contexts.extent_of_shape(m));
  const auto missed = [&](const std::vector<Case>& cases) {
    const std::vector<ClassTuple> open =
        tuples_not_met(contexts, {{m, of_n, contexts.index("facing")}}, cases);
    return std::any_of(open.begin(), open.end(), [&](const ClassTuple& t) {
      return describe(contexts, t) == "m: several blocks with shape of n: one with facing: inf_tiny";
    });
  };
  const char* const form = "gemm.f32(m={},n={},k=8,alpha=0.5,facing=inf_tiny,fill=real,seed=1)";
  CHECK(!missed({parse_case(fmt::format(fmt::runtime(form), 304, 1))}));
  CHECK(missed({parse_case(fmt::format(fmt::runtime(form), 304, 13)),
                parse_case(fmt::format(fmt::runtime(form), 12, 1))}));
  CHECK(!missed(smoke_cases(entry, CaseSpeed::executor_of_few)));
}

TEST_CASE("a special value stands in one column of many rows in each type of the host") {
  const OperatorEntry& entry = find_operator("gemm");
  const CaseSpace contexts = entry.space().contexts();
  const Combination shapes = {contexts.index("shape of m"), contexts.index("shape of n"),
                              contexts.index("facing")};
  for (const Dtype type : {Dtype::f32, Dtype::f64}) {
    CAPTURE(name(type));
    std::vector<Case> cases = smoke_cases(entry, CaseSpeed::device);
    std::erase_if(cases, [&](const Case& c) { return c.dtype != type; });
    for (const ClassTuple& t : tuples_not_met(contexts, {shapes}, cases))
      CHECK(describe(contexts, t) != "shape of m: many with shape of n: one with facing: inf_tiny");
  }
}

namespace {

// What an element sums besides the terms that cancel is one or two `steps` of terms, of a size that its terms have on average: of twice that
// where half of them are 0. Of few terms, and where a part of the terms lies in padding, nothing is asked.
bool cancels(const ReferenceArray& array, double step) {
  constexpr int kFew = 64;
  bool any = false, all = true;
  for (std::size_t i = 0; i < array.value.size(); ++i) {
    if (array.terms[i] < kFew) continue;
    const bool small = std::fabs(array.value[i]) * array.terms[i] <= 10 * step * array.magnitude[i];
    any = any || small, all = all && small;
  }
  return any && all;
}

bool has_many_terms(const ReferenceArray& array) {
  return std::any_of(array.terms.begin(), array.terms.end(), [](std::int32_t n) { return n >= 64; });
}

bool may_have_padding(const Case& c) { return c.op == "conv2d" && c.integer_or("pad", 0) > 0; }

}  // namespace

TEST_CASE(
    "terms cancel in every case that says so, in each operator that has a product, and each type, and at "
    "each size") {
  for (const auto& entry : operators()) {
    std::map<std::string, int> with_parts;  // cases of one type whose sums are of 5,001 to 12,288 terms
    bool says = false;
    for (const Case& c : smoke_cases(*entry, CaseSpeed::device)) {
      if (c.text_or("facing", "") != "cancels" && c.text_or("special", "") != "cancels") continue;
      says = true;
      CAPTURE(c.id());
      const auto prepared = entry->prepare(c);
      CHECK(why_mistrusted(c, *prepared).empty());
      const ReferenceArray& array = prepared->reference().outputs.at(0);
      if (!has_many_terms(array) || c.fill != Fill::real || may_have_padding(c)) continue;
      const auto taps = static_cast<double>(c.integer_or("r", 1) * c.integer_or("s", 1));  // of a channel
      CHECK(cancels(array, taps / (1 - c.number_or("zeros", 0))));
      const std::int32_t most = *std::max_element(array.terms.begin(), array.terms.end());
      if (most > 5000 && most <= 12'288) ++with_parts[std::string(name(c.dtype))];
    }
    if (!says) continue;
    CAPTURE(entry->name());
    CHECK(with_parts["f32"] > 0);
    CHECK(with_parts["f64"] > 0);
  }
}

namespace {
// Of one class, how many classes of another parameter it is met with by cases that compute something.
std::size_t classes_beside(const CaseSpace& contexts, std::size_t parameter, std::size_t value_class,
                           std::size_t other, const std::vector<Case>& cases) {
  std::vector<bool> met(contexts.parameters()[other].classes.size());
  for (const Case& c : cases) {
    const std::optional<Point> p = contexts.locate(c);
    if (!p || p->classes[parameter] != value_class || p->classes[other] >= met.size()) continue;
    if (!contexts.idle(*p)) met[p->classes[other]] = true;
  }
  return static_cast<std::size_t>(std::count(met.begin(), met.end(), true));
}

// Sizes, layouts and types are what kernels have paths of their own for.
bool is_where(const Parameter& p) {
  return p.kind == ParameterKind::extent || p.key == "layout" || p.key == "dtype";
}
}  // namespace

TEST_CASE(
    "every special value and every layout is met in both types, three layouts and three sizes of each "
    "extent") {
  each_smoke_tier([](const OperatorEntry& entry, CaseSpeed speed) {
    const CaseSpace contexts = entry.space().contexts();
    const std::vector<Parameter>& all = contexts.parameters();
    const std::vector<Case>& cases = smoke_cases(entry, speed);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!contexts.is_special(i) && all[i].key != "special" && all[i].key != "layout") continue;
      for (std::size_t k = 0; k < all[i].classes.size(); ++k) {
        for (std::size_t other = 0; other < all.size(); ++other) {
          if (other == i || !is_where(all[other])) continue;
          const auto possible =
              static_cast<std::size_t>(std::count_if(all[other].classes.begin(), all[other].classes.end(),
                                                     [](const ValueClass& c) { return !c.once; }));
          CAPTURE(fmt::format("{}: {} with {}", all[i].key, all[i].classes[k].name, all[other].key));
          CHECK(classes_beside(contexts, i, k, other, cases) >= std::min<std::size_t>(3, possible));
        }
      }
    }
  });
}

TEST_CASE("a special value that is met in one layout is missed in the others") {
  const CaseSpace contexts = find_operator("gemm").space().contexts();
  const std::size_t facing = contexts.index("facing"), layout = contexts.index("layout");
  const auto missed = [&](const std::vector<Case>& cases, const char* where) {
    const std::vector<ClassTuple> open = tuples_not_met(contexts, {{layout, facing}}, cases);
    return std::any_of(open.begin(), open.end(), [&](const ClassTuple& t) {
      return describe(contexts, t) == fmt::format("layout: {} with facing: inf_tiny", where);
    });
  };
  const std::string known = "gemm.f32(m=13,n=12,k=8,alpha=0.5,facing=inf_tiny,fill=real,seed=1)",
                    ragged = "gemm.f32(m=13,n=11,k=8,alpha=0.5,facing=inf_tiny,layout=wide,fill=real,seed=1)",
                    whole = "gemm.f32(m=13,n=12,k=8,alpha=0.5,facing=inf_tiny,layout=wide,fill=real,seed=1)";
  CHECK(!missed({parse_case(known)}, "apart"));
  CHECK(missed({parse_case(known)}, "all on 16 bytes"));
  CHECK(missed({parse_case(ragged)}, "all on 16 bytes"));  // no kernel for vectors sees it
  CHECK(!missed({parse_case(whole)}, "all on 16 bytes"));
}

TEST_CASE("dear classes are in tier smoke of the executor where few kernels are judged, else in tier full") {
  CHECK(speed_of({"simt"}, true) == CaseSpeed::executor_of_few);
  CHECK(speed_of({"cpu", "simt"}, false) == CaseSpeed::executor);
  CHECK(speed_of({}, true) == CaseSpeed::device);
  const OperatorEntry& entry = find_operator("skinny_gemm");
  const CaseSpace space = entry.space();
  const auto open = [&](CaseSpeed speed) {
    return tuples_not_met(space, single_dear(space), smoke_cases(entry, speed)).size();
  };
  CHECK(open(CaseSpeed::device) == 0);
  CHECK(open(CaseSpeed::executor_of_few) == 0);
  CHECK(open(CaseSpeed::executor) > 0);
  const std::vector<CoverLayer> full = tier_arrays(space, Tier::full, CaseSpeed::executor).front().layers;
  CHECK(std::any_of(full.begin(), full.end(),
                    [&](const CoverLayer& layer) { return layer.combinations == single_dear(space); }));
}

namespace {
// Whether a case meets the pair of those classes of two parameters.
bool meets_pair(const CaseSpace& space, const std::string& id, std::pair<const char*, const char*> a,
                std::pair<const char*, const char*> b) {
  Combination pair{space.index(a.first), space.index(b.first)};
  const std::string first = fmt::format("{}: {}", a.first, a.second),
                    second = fmt::format("{}: {}", b.first, b.second);
  const bool turned = pair[0] > pair[1];
  if (turned) std::swap(pair[0], pair[1]);
  const std::string wanted = turned ? second + " with " + first : first + " with " + second;
  const auto is_open = [&](const std::vector<Case>& cases) {
    const std::vector<ClassTuple> open = tuples_not_met(space, {pair}, cases);
    return std::any_of(open.begin(), open.end(),
                       [&](const ClassTuple& t) { return describe(space, t) == wanted; });
  };
  REQUIRE(is_open({}));
  return !is_open({parse_case(id)});
}
}  // namespace

TEST_CASE("a case that computes nothing meets what is about all that sees to that, and no pair beside it") {
  const CaseSpace gemm = find_operator("gemm").space();
  const std::pair no_depth{"k", "zero"}, wide{"n", "beyond any tile"};
  CHECK(meets_pair(gemm, "gemm.f32(m=3,n=601,k=0,alpha=1,beta=2,fill=exact,seed=1)", no_depth, wide));
  CHECK(!meets_pair(gemm, "gemm.f32(m=0,n=601,k=0,alpha=1,beta=2,fill=exact,seed=1)", no_depth, wide));
  CHECK(!meets_pair(gemm, "gemm.f32(m=3,n=601,k=0,alpha=0,beta=2,fill=exact,seed=1)", no_depth, wide));
  CHECK(
      meets_pair(gemm, "gemm.f32(m=0,n=601,k=0,alpha=1,beta=2,fill=exact,seed=1)", {"m", "zero"}, no_depth));
  const CaseSpace conv2d = find_operator("conv2d").space();
  const std::pair no_channels{"c", "0"}, filters{"k", "33"};
  CHECK(meets_pair(conv2d,
                   "conv2d.f32(n=1,c=0,h=3,w=3,k=33,r=3,s=3,stride=1,pad=0,dilation=1,fill=exact,seed=1)",
                   no_channels, filters));
  // no window fits: no outputs, whatever the channels are
  CHECK(!meets_pair(conv2d,
                    "conv2d.f32(n=1,c=0,h=2,w=3,k=33,r=3,s=3,stride=1,pad=0,dilation=1,fill=exact,seed=1)",
                    no_channels, filters));
}

TEST_CASE("a pair that no case is left for is missed") {
  const CaseSpace space = find_operator("gemv").space();
  const Cover full = cover(space, {{parameter_pairs(space), {5e4, 2e5}}}, {}, 1);
  REQUIRE(full.cases.size() > 1);
  std::vector<Case> fewer(full.cases.begin(), full.cases.end() - 1);
  CHECK(tuples_not_met(space, parameter_pairs(space), fewer).size() >
        tuples_not_met(space, parameter_pairs(space), full.cases).size());
  CHECK(tuples_not_met(space, parameter_pairs(space), full.cases) == full.impossible);
}

// Those that are met once are drawn rarely, and derived ones follow. Where there are many extents, a large one is rare.
TEST_CASE("every class is drawn by --drawn") {
  constexpr std::uint64_t kDraws = 8000, kMost = 40'000;
  for (const auto& entry : operators()) {
    CAPTURE(entry->name());
    const CaseSpace space = entry->space();
    std::vector<Case> drawn;
    std::vector<ClassTuple> open;
    const auto is_drawn_rarely = [&](const ClassTuple& t) {
      const Parameter& p = space.parameters()[t.parameter[0]];
      return p.kind == ParameterKind::derived || p.classes[t.value_class[0]].once;
    };
    do {
      for (std::uint64_t n = 0; n < kDraws; ++n) drawn.push_back(draw_case(space, 1, drawn.size(), {}));
      open = tuples_not_met(space, single_parameters(space), drawn);
      std::erase_if(open, is_drawn_rarely);
    } while (!open.empty() && drawn.size() < kMost);
    for (const ClassTuple& t : open) FAIL_CHECK(describe(space, t));
  }
}

// Which special values met which classes of position in one operand of an operator, over all cases.
struct Meetings {
  std::array<bool, kPositions> possible{};
  std::array<std::array<bool, kSpecials>, kPositions> met{};

  void add(const Segment& s) {
    const auto* data = static_cast<const float*>(s.source);
    for (std::int64_t i = 0; i < s.rows; ++i) {
      for (std::int64_t j = 0; j < s.cols; ++j) {
        const auto special = special_of(data[i * s.source_ld + j]);
        for (std::size_t p = 0; p < kPositions; ++p) {
          if (!stands_at(static_cast<Position>(p), i, j, s.rows, s.cols)) continue;
          possible[p] = true;
          if (special) met[p][static_cast<std::size_t>(*special)] = true;
        }
      }
    }
  }
};

TEST_CASE(
    "every special value meets every class of position in every operand, on a device and on the executor") {
  each_smoke_tier([](const OperatorEntry& entry, CaseSpeed speed) {
    std::map<std::string, Meetings> operands;
    for (const Case& c : smoke_cases(entry, speed)) {
      if (c.fill != Fill::hostile || c.dtype != Dtype::f32) continue;
      const auto prepared = entry.prepare(c);
      ImageLayout layout{Placement{}};
      (void)prepared->place(layout);
      for (const Segment& s : layout.segments()) {
        const bool by_rows = s.name == "A.val";  // sparse_cases_test.cpp: its classes are those of rows
        if (s.source != nullptr && s.kind == Format::f32 && !by_rows) operands[s.name].add(s);
      }
    }
    for (const auto& one : operands) {
      const Meetings& meetings = one.second;
      CAPTURE(one.first);
      const bool has_huge = meetings.met[static_cast<std::size_t>(Position::interior)][kSpecials - 1];
      for (std::size_t p = 0; p < kPositions; ++p) {
        for (std::size_t k = 0; meetings.possible[p] && k < kSpecials - (has_huge ? 0 : 1); ++k) {
          CAPTURE(name(static_cast<Position>(p)));
          CAPTURE(name(static_cast<Special>(k)));
          CHECK(meetings.met[p][k]);
        }
      }
    }
  });
}

TEST_CASE(
    "of a listed size beyond the executor's pairs one case is in its smoke, beyond 16 bits one of each type, "
    "and "
    "the others in its full") {
  const OperatorEntry& entry = find_operator("log_softmax");
  const auto cases_of = [&](std::string_view params, CaseSpeed speed) {
    std::vector<Case> found;
    for (const Case& c : smoke_cases(entry, speed)) {
      if (!c.drawn && c.id().find(params) != std::string::npos) found.push_back(c);
    }
    return found;
  };
  const char* const large = "(rows=3,cols=65537,fill";
  const std::size_t types = entry.dtypes().size();
  CHECK(cases_of(large, CaseSpeed::device).size() == 2 * types);  // real and positive
  CHECK(cases_of("(rows=5,cols=1,fill", CaseSpeed::executor).size() == 2 * types);
  const std::vector<Case> kept = cases_of(large, CaseSpeed::executor);
  REQUIRE(kept.size() == types);
  CHECK(kept[0].fill == cases_of(large, CaseSpeed::device)[0].fill);
  CHECK(kept[0].dtype != kept[1].dtype);
  const std::vector<Case> all = tier_cases(entry, Tier::smoke, CaseSpeed::executor);
  for (const Case& listed : entry.cases()) {
    const auto at = std::find(all.begin(), all.end(), listed);
    REQUIRE(at != all.end());
    CHECK((at->tier == listed.tier || at->tier == Tier::full));
  }
}

TEST_CASE(
    "of a listed size beyond the executor's pairs one case is in its smoke that is stored narrow, and one "
    "that is not") {
  int narrow = 0, wide = 0;
  for (const Case& c : smoke_cases(find_operator("transpose"), CaseSpeed::executor)) {
    if (c.drawn || c.text("rows") != "1009" || c.text("cols") != "1013" || c.fill == Fill::hostile) continue;
    ++(is_narrow(facts(c.dtype).in) ? narrow : wide);
  }
  CHECK(narrow == 1);
  CHECK(wide == 1);
}

TEST_CASE(
    "special values meet every position in one type on the executor, and by the first seeds in the other") {
  std::map<Dtype, std::size_t> on_device, on_executor, of_first_seeds;
  const OperatorEntry& entry = find_operator("transpose");
  const auto is_one = [](const Case& c) {
    return c.fill == Fill::hostile && !c.drawn && c.text("rows") == "35";
  };
  for (const Case& c : smoke_cases(entry, CaseSpeed::device)) {
    on_device[c.dtype] += is_one(c);
    of_first_seeds[c.dtype] += is_one(c) && c.seed <= kSeedsInFurtherTypes;
  }
  for (const Case& c : smoke_cases(entry, CaseSpeed::executor)) on_executor[c.dtype] += is_one(c);
  CHECK(on_executor[Dtype::f32] == on_device[Dtype::f32]);
  CHECK(on_executor[Dtype::f64] == of_first_seeds[Dtype::f64]);
  CHECK(of_first_seeds[Dtype::f64] == kSeedsInFurtherTypes);
  CHECK(of_first_seeds[Dtype::f64] < on_device[Dtype::f64]);
}

TEST_CASE("arrays are the same every time, and their ids are read back") {
  const OperatorEntry& entry = find_operator("spmv");
  const std::vector<Case> cases = tier_cases(entry, Tier::smoke, CaseSpeed::device);
  CHECK(tier_cases(entry, Tier::smoke, CaseSpeed::device) == cases);
  for (const Case& c : cases) CHECK(parse_case(c.id()) == c);
}

}  // namespace
}  // namespace plumb
