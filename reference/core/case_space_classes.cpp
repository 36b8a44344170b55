// Of a case space, the classes that are a matter of several parameters at once, and the cases that stand for one such class.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reference/core/case_space.hpp"
#include "reference/core/case_words.hpp"

namespace plumb {
namespace {

constexpr const char* kFewBeyondBlocks[] = {"129", "257", "258", "259", "513", "2049"};

// Counts are expected numbers where entries are drawn: hence more than 65,536.
constexpr std::int64_t kBeyond16Bits = 70'000;

}  // namespace

CaseSpace& CaseSpace::count(std::string key, std::function<double(const Point&)> value,
                            const std::vector<std::pair<std::string, std::string>>& with) {
  return derived(
      std::move(key), "beyond 16 bits",
      [value = std::move(value)](const Point& p) { return value(p) >= static_cast<double>(kBeyond16Bits); },
      with);
}

CaseSpace& CaseSpace::derived(std::string key, std::string name, std::function<bool(const Point&)> holds,
                              const std::vector<std::pair<std::string, std::string>>& with) {
  derived_.push_back({parameters_.size(), std::move(holds), {}, {}});
  for (const auto& [parameter, word] : with) derived_.back().with.emplace_back(index(parameter), word);
  add({std::move(key), ParameterKind::derived, {{std::move(name), {}}}, ""});
  return *this;
}

void CaseSpace::once_in_each_type(const InEachType& what,
                                  const std::function<bool(const Point&, double)>& holds) {
  std::vector<std::pair<std::size_t, std::string>> together;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].kind == ParameterKind::word) together.emplace_back(i, parameters_[i].simplest);
  }
  together[index(kLayoutKey)].second = what.layout;
  for (const auto& [parameter, value] : what.values) together.emplace_back(index(parameter), value);
  // asked at every point: numbers of classes are compared, and no words
  const std::size_t of_type = index(kDtypeKey), of_layout = index(kLayoutKey);
  const auto class_of = [&](std::size_t parameter, std::string_view word) {
    const std::vector<ValueClass>& classes = parameters_[parameter].classes;
    const auto at =
        std::find_if(classes.begin(), classes.end(), [&](const auto& c) { return c.name == word; });
    return static_cast<std::size_t>(at - classes.begin());
  };
  const std::size_t layout = class_of(of_layout, what.layout);
  for (const ValueClass& type : std::vector<ValueClass>(parameters_[of_type].classes)) {
    const std::string& word = type.name;
    const double bytes = facts(facts(dtype_named(word).value()).in).bytes;
    const std::size_t type_class = class_of(of_type, word);
    derived(fmt::format("{} of {}", what.key, word), what.name, [=](const Point& p) {
      return p.classes[of_type] == type_class && p.classes[of_layout] == layout && holds(p, bytes);
    });
    ValueClass& made = parameters_.back().classes.front();
    made.once = true, made.dear = what.dear;
    derived_.back().together = together;
    derived_.back().together[index(kDtypeKey)].second = word;
  }
}

void CaseSpace::rounds(const InEachType& what, const std::function<double(const Point&, double)>& number) {
  const auto add = [&](const char* many, double low, double high) {
    InEachType so_many = what;
    so_many.key = fmt::format("{} {} rounds", what.key, many);
    once_in_each_type(so_many, [=](const Point& p, double bytes) {
      const double rounds = std::ceil(number(p, bytes));
      return rounds >= low && rounds <= high;
    });
  };
  add("two", 2, 2), add("three", 3, 3), add("four", 4, 4), add("more", 5, 7);
}

CaseSpace& CaseSpace::rounds(std::function<double(const Point&)> elements) {
  rounds({"in", "all elements", "wide", {}, false},
         [elements = std::move(elements)](const Point& p, double bytes) {
           return elements(p) * bytes / kBytesOfRound;
         });
  return *this;
}

CaseSpace& CaseSpace::rounds_of_rows(const std::string& rows, const std::string& width) {
  constexpr double kRowsOfRound = 4 * 8 * 16;  // multiprocessors, warps of one, rows of a warp
  rounds({rows + " in", "whole vectors", "wide", {{width, "4"}}, true}, [=](const Point& p, double bytes) {
    const bool whole = p[width] > 0 && std::fmod(p[width] * bytes, 16) == 0;
    return whole ? p[rows] / kRowsOfRound : 0;
  });
  return *this;
}

CaseSpace& CaseSpace::threads_beyond_16_bits(std::function<double(const Point&)> elements,
                                             const std::vector<std::pair<std::string, std::string>>& beside) {
  once_in_each_type({"threads", "beyond 16 bits", "wide", beside, true},
                    [elements = std::move(elements)](const Point& p, double bytes) {
                      return elements(p) * bytes > kBytesOf16Bits;
                    });
  return *this;
}

CaseSpace& CaseSpace::large_on_16_bytes(const std::vector<std::string>& extents,
                                        const std::vector<std::pair<std::string, std::string>>& beside) {
  constexpr std::int64_t kSize = 65568;  // whole vectors, and in 16 bits 32, for which kernels are made
  for (const std::string& extent : extents) {
    InEachType what{extent + " on 16 bytes", "beyond 16 bits", "wide", beside, true};
    what.values.emplace_back(extent, std::to_string(kSize));
    once_in_each_type(what, [=](const Point& p, double) {
      return p[extent] >= kSize && std::fmod(p[extent], 4) == 0 &&
             std::all_of(beside.begin(), beside.end(),
                         [&](const auto& one) { return p.word(one.first) == one.second; });
    });
  }
  return *this;
}

CaseSpace& CaseSpace::one_long_row() {
  const InEachType what{"longest row",
                        "beyond 16 bits among short ones",
                        "apart",
                        {{std::string(kPatternKey), "giant"},
                         {std::string(kRowMeanKey), "0.3"},
                         {sparse_rows_, "7"},
                         {sparse_cols_, "70001"}},
                        true};
  once_in_each_type(what, [rows = sparse_rows_, cols = sparse_cols_](const Point& p, double) {
    return p[kRowMeanKey] < 6 && p[rows] > 1 && longest_row(p, rows, cols) > 65536;
  });
  return one_case("longest row", "behind 16 bits of rows",
                  {{std::string(kPatternKey), "last"},
                   {std::string(kRowMeanKey), "0.3"},
                   {sparse_rows_, "70001"},
                   {sparse_cols_, "5003"}},
                  true);
}

CaseSpace& CaseSpace::many_long_rows() {
  return one_case("rows", "many and long",
                  {{std::string(kPatternKey), "uniform"},
                   {std::string(kRowMeanKey), "576"},
                   {sparse_rows_, "300"},
                   {sparse_cols_, "640"}},
                  true);
}

CaseSpace& CaseSpace::made_for(const std::string& extent, const std::vector<int>& sizes,
                               const std::vector<std::pair<std::string, std::string>>& beside) {
  for (const int size : sizes) {
    std::vector<std::pair<std::string, std::string>> values = beside;
    values.emplace_back(extent, std::to_string(size)), values.emplace_back(kFillKey, "real");
    one_case(fmt::format("{}, {}", extent, size), "a kernel's own", values);
  }
  return *this;
}

CaseSpace& CaseSpace::long_row_beside(const std::string& extent) {
  for (const char* const size : {"5", "12", "33", "48", "64"}) {
    one_case(fmt::format("longest row, {} {}", extent, size), "in several pieces",
             {{std::string(kPatternKey), "giant"},
              {std::string(kRowMeanKey), "0.3"},
              {sparse_rows_, "9"},
              {sparse_cols_, "2503"},
              {extent, size}});
  }
  return one_case(fmt::format("longest row, {} 1030", extent), "in several pieces, and panels of the other",
                  {{std::string(kPatternKey), "giant"},
                   {std::string(kRowMeanKey), "0.3"},
                   {sparse_rows_, "9"},
                   {sparse_cols_, "260"},
                   {extent, "1030"}});
}

CaseSpace& CaseSpace::added_as_it_is(std::vector<std::pair<std::string, std::string>> values) {
  values.insert(values.end(), {{"alpha", "1"}, {"beta", "1"}, {std::string(kFillKey), "real"}});
  return one_case("alpha and beta", "both 1", values);
}

CaseSpace& CaseSpace::rows_alike_at_their_ends(
    const std::vector<std::pair<std::string, std::string>>& beside) {
  std::vector<std::pair<std::string, std::string>> values = beside;
  values.insert(values.end(), {{std::string(kPatternKey), "uniform"},
                               {std::string(kRowMeanKey), "4"},
                               {std::string(kFillKey), "real"},
                               {sparse_rows_, "600"},
                               {sparse_cols_, "7"}});
  return one_case("neighbouring rows", "alike at their ends", values);
}

CaseSpace& CaseSpace::unsorted_wide_rows() {
  return one_case("columns", "unsorted and far apart",
                  {{std::string(kPatternKey), "unsorted"},
                   {std::string(kRowMeanKey), "40"},
                   {sparse_rows_, "7"},
                   {sparse_cols_, "70001"}},
                  true);
}

CaseSpace& CaseSpace::beside_on_16_bytes(const std::string& extent, const std::vector<int>& sizes) {
  for (const int size : sizes) {
    const std::string word = std::to_string(size + 1);
    once_in_each_type(
        {fmt::format("{} on 16 bytes, {}", extent, word), "one more", "wide", {{extent, word}}, true},
        [extent, word](const Point& p, double) { return p.word(extent) == word; });
  }
  return *this;
}

CaseSpace& CaseSpace::one_case(const std::string& key, const std::string& name,
                               const std::vector<std::pair<std::string, std::string>>& values, bool dear) {
  const auto layout =
      std::find_if(values.begin(), values.end(), [](const auto& one) { return one.first == kLayoutKey; });
  const InEachType what{key, name, layout == values.end() ? "apart" : layout->second, values, dear};
  std::vector<std::pair<std::size_t, std::string>> placed;  // asked at many points: by place, not by key
  for (const auto& [parameter, value] : values) placed.emplace_back(index(parameter), value);
  once_in_each_type(what, [placed = std::move(placed)](const Point& p, double) {
    return std::all_of(placed.begin(), placed.end(),
                       [&](const auto& one) { return same_value(p.words[one.first], one.second); });
  });
  return *this;
}

CaseSpace& CaseSpace::whole_blocks(const std::vector<std::string>& extents) {
  const std::string size = "6144";
  for (const std::string& extent : extents) {
    std::vector<std::pair<std::string, std::string>> values = {{extent, size}};
    if (!sparse_rows_.empty() && extent != sparse_rows_ && extent != sparse_cols_)  // a product has entries
      values.insert(values.end(),
                    {{std::string(kRowMeanKey), "3"}, {sparse_rows_, "7"}, {sparse_cols_, "9"}});
    one_case(extent, "whole blocks", values);
    values.front().second = "1025";
    one_case(extent, "one more than whole blocks", values);
  }
  if (sparse_rows_.empty()) return *this;
  one_case("longest row", "whole blocks",
           {{std::string(kPatternKey), "giant"},
            {std::string(kRowMeanKey), "0.3"},
            {sparse_rows_, "7"},
            {sparse_cols_, size}});
  return one_case("entries", "whole warps and no whole block",
                  {{std::string(kPatternKey), "giant"},
                   {std::string(kRowMeanKey), "0.3"},
                   {sparse_rows_, "1"},
                   {sparse_cols_, "4128"}},
                  true);
}

CaseSpace& CaseSpace::few_beyond_blocks(const std::string& extent,
                                        const std::vector<std::pair<std::string, std::string>>& beside) {
  for (const char* const size : kFewBeyondBlocks) {
    std::vector<std::pair<std::string, std::string>> values = beside;
    values.emplace_back(extent, size);
    one_case(fmt::format("{}, {}", extent, size), "a few more than blocks", values);
  }
  return *this;
}

CaseSpace& CaseSpace::rows_few_beyond_blocks() {
  for (const char* const size : kFewBeyondBlocks)
    one_case(fmt::format("longest row, {}", size), "a few more than blocks",
             {{std::string(kPatternKey), "giant"},
              {std::string(kRowMeanKey), "0.3"},
              {sparse_rows_, "7"},
              {sparse_cols_, size}});
  return *this;
}

CaseSpace& CaseSpace::reciprocal_rounded_down(const std::string& extent,
                                              const std::vector<std::pair<std::string, std::string>>& beside,
                                              const std::vector<std::pair<std::string, std::string>>& tiles) {
  const auto add = [&](const char* size, std::vector<std::pair<std::string, std::string>> values, bool dear) {
    values.emplace_back(extent, size);
    one_case(fmt::format("{}, {}", extent, size), "reciprocal rounded down", values, dear);
  };
  add("107", beside, false);
  if (!tiles.empty()) add("3424", tiles, true);
  return *this;
}

CaseSpace& CaseSpace::one_array_narrow(const std::vector<std::pair<std::string, std::string>>& values,
                                       const std::string& size) {
  for (const char* const layout : {"not_1", "not_2", "not_3"}) {
    std::vector<std::pair<std::string, std::string>> placed = values;
    placed.emplace_back(kLayoutKey, layout);
    one_case(size.empty() ? layout : fmt::format("{}, {}", layout, size), "whole vectors", placed, true);
  }
  return *this;
}

CaseSpace& CaseSpace::on_8_bytes(const std::vector<std::pair<std::string, std::string>>& values) {
  std::vector<std::pair<std::string, std::string>> placed = values;
  placed.emplace_back(kLayoutKey, "half");
  return one_case("half", "whole vectors", placed);
}

CaseSpace& CaseSpace::rows_on_pages(const std::vector<std::pair<std::string, std::string>>& values) {
  std::vector<std::pair<std::string, std::string>> placed = values;
  placed.emplace_back(kLayoutKey, "pages");
  return one_case("pages", "ragged tiles", placed, true);
}

CaseSpace& CaseSpace::row_lengths_that_wrap(int rows) {
  const auto giant = [this](const char* length, int all, const std::string& name, bool dear) {
    one_case("longest row", name,
             {{std::string(kPatternKey), "giant"},
              {std::string(kRowMeanKey), "0.3"},
              {std::string(kFillKey), "real"},
              {sparse_rows_, std::to_string(all)},
              {sparse_cols_, length}},
             dear);
  };
  giant("256", 3, "0 in 8 bits", false), giant("65536", rows, "0 in 16 bits", true);
  return *this;
}

CaseSpace& CaseSpace::alike(const std::vector<std::string>& extents) {
  std::vector<std::size_t> equal;
  for (const std::string& key : extents) equal.push_back(index(key));
  derived(fmt::format("{}", fmt::join(extents, " and ")), "alike", [equal](const Point& p) {
    return p.numbers[equal.front()] > 1 && std::all_of(equal.begin(), equal.end(), [&](std::size_t i) {
             return p.numbers[i] == p.numbers[equal.front()];
           });
  });
  derived_.back().equal = equal;
  const auto may_be_large = [&](std::size_t i) {
    return std::any_of(parameters_[i].classes.begin(), parameters_[i].classes.end(),
                       [](const ValueClass& c) { return c.low == kBeyondTiles; });
  };
  if (equal.size() != 2 || !std::all_of(equal.begin(), equal.end(), may_be_large)) return *this;
  return one_case(fmt::format("{}", fmt::join(extents, " and ")), "alike, several tiles",
                  {{extents[0], "300"}, {extents[1], "300"}}, true);
}

CaseSpace& CaseSpace::form(std::string key, std::string name,
                           const std::vector<std::pair<std::string, std::string>>& values) {
  std::vector<std::pair<std::size_t, std::string>> together;
  for (const auto& [parameter, value] : values) together.emplace_back(index(parameter), value);
  derived(std::move(key), std::move(name), [together](const Point& p) {
    return std::all_of(together.begin(), together.end(),
                       [&](const auto& one) { return p.words[one.first] == one.second; });
  });
  derived_.back().together = std::move(together);
  return *this;
}

CaseSpace& CaseSpace::rests_of_four(const std::vector<std::string>& extents) {
  constexpr double kWarp = 32;
  for (const std::string& extent : extents) {
    const std::size_t of = index(extent);
    for (const int rest : {1, 2, 3}) {
      derived(
          fmt::format("{} by four", extent), fmt::format("{} left", rest),
          [of, rest](const Point& p) { return p.numbers[of] > kWarp && std::fmod(p.numbers[of], 4) == rest; },
          {{extent, std::to_string(40 + rest)}});
    }
  }
  return *this;
}

}  // namespace plumb
