// One case's data, the oracle's answer for it, its twins and its neighbours.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "reference/core/pieces.hpp"
#include "reference/core/threads.hpp"
#include "verify/engine/operator/erased_operator.hpp"
#include "verify/engine/operator/resources.hpp"
#include "verify/engine/operator/shorter.hpp"

namespace plumb {
namespace {

// Of a (rows, cols) matrix the first element behind five eighths of all whose sign an answer shows; 0 where there is none.
template <class V>
std::int64_t telling_element(const V* data, std::int64_t rows, std::int64_t cols, std::int64_t ld) {
  for (std::int64_t e = rows * cols * 5 / 8 + 1; e < rows * cols; ++e) {
    const V value = data[e / cols * ld + e % cols];
    if (value != 0 && std::isfinite(value)) return e;
  }
  return 0;
}

// Whether values repeat: of 64 elements or more that are not 0, two drawn ones are equal in more than one case of ten. Numbers around 100 in
// bf16 are in one of seven, the uniform fills in e5m2 in one of twelve, in e4m3 in one of 24 (measured: reference/tests/narrow_sums_test.cpp).
template <class V>
bool repeats(const ViewArray& a) {
  std::unordered_map<V, double> counts;
  std::vector<std::uint32_t> by_code(facts(a.kind).bytes <= 2 ? std::size_t{1} << (8 * facts(a.kind).bytes)
                                                              : 0);
  double elements = 0, pairs = 0;
  const V* const data = a.data<V>();
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.cols; ++j) {
      const V value = data[i * a.ld() + j];
      if (value == V(0) || std::isnan(value))
        continue;  // NaN is equal to none, and finds no place of its own
      ++elements;
      if (by_code.empty()) {
        pairs += 2 * counts[value]++;
      } else {  // values are those of the format
        std::uint16_t code = 0;
        encode(a.kind, static_cast<double>(value), &code);
        pairs += 2.0 * by_code[code]++;
      }
    }
  }
  return elements >= 64 && pairs > elements * (elements - 1) / 10;
}

// A copy of an operand, (rows, ld), with the elements that `which` says negated: of the last operand all or one, of another all but three.
template <class V>
V* negated(const ViewArray& a, bool last, Twin which, Arena& arena) {
  const V* const data = a.data<V>();
  const std::int64_t ld = a.ld(), all = a.rows * a.cols, one = telling_element(data, a.rows, a.cols, ld);
  V* copy = arena.allocate<V>(a.rows * ld);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.cols; ++j) {
      const std::int64_t e = i * a.cols + j;
      const bool known = e == 0 || e == all / 2 || e == all - 1;
      const bool kept = which == Twin::one_element ? e != one : !last && known;
      copy[i * ld + j] = kept ? data[i * ld + j] : -data[i * ld + j];
    }
  }
  return copy;
}

// Of a case that is nobody's twin.
Contents next_contents() {
  static std::atomic<std::uint64_t> last{0};
  const std::uint64_t number = ++last;
  return {number, number};
}

class ErasedCase final : public PreparedCase {
 public:
  ErasedCase(const OperatorContract& contract, const Case& c)
      : contract_(contract),
        typed_(contract.of(c.dtype)),
        dtype_(c.dtype),
        fill_(c.fill),
        data_(typed_.make(c)) {
    for (const char* key : contract.extents) extents_.push_back(c.number_or(key, 0));
    quantise_operands();
    if (values_repeat(true) && !is_bitwise(fill_)) fill_ = Fill::few;
    typed_.validate(data_.views.data());
  }

  // Of arrays that are somebody's own: of their values nothing is known but what they show.
  ErasedCase(const OperatorContract& contract, const GivenCall& given)
      : contract_(contract), typed_(contract.of(given.dtype)), dtype_(given.dtype), fill_(Fill::own) {
    data_.views = StagedViews(typed_.views_bytes());
    typed_.take_shapes(data_.views.data(), given);
    for (const ViewArray& a : arrays()) {
      const ArrayInfo& from = given.array(a.name);
      if (from.kind != a.kind)
        throw Error(fmt::format("{} is stored in {}, and this has {}", a.name, facts(a.kind).name,
                                facts(from.kind).name));
      if (from.data != nullptr) a.point_to(copied_values(a, static_cast<const std::byte*>(from.data)));
    }
    if (values_repeat(false)) fill_ = Fill::few;
    typed_.validate(data_.views.data());
  }

  StagedViews place(ImageLayout& layout) const override {
    StagedViews views = data_.views;
    layout.set_contents(contents_);
    std::size_t at = 0;
    std::map<std::size_t, std::pair<std::int64_t, std::int64_t>> kept;
    for (const ViewArray& a : typed_.arrays(views.data(), dtype_)) {
      Segment s;
      s.name = a.name;
      s.kind = a.kind;
      s.output = a.output;
      const auto [all_rows, all_cols] = room_.empty() ? std::pair(a.rows, a.cols) : room_[at++];
      s.rows = all_rows, s.cols = all_cols;
      s.source = a.data<const void>(), s.source_ld = a.ld();
      s.source_kind = a.values ? value_format(dtype_) : a.kind;
      const std::size_t index = layout.add_once(std::move(s), a.vector);
      auto& [kept_rows, kept_cols] = kept[index];  // of all views of one array
      kept_rows = std::max(kept_rows, a.rows), kept_cols = std::max(kept_cols, a.cols);
      const Segment& placed = layout.segments()[index];
      a.set_ld(placed.ld);
      a.set_address(placed.offset);
    }
    if (!room_.empty()) {  // when all are placed: what was shrunk is no longer found to be the same
      for (const auto& [index, size] : kept) layout.shrink(index, size.first, size.second);
    }
    return views;
  }

  Contents contents() const override { return contents_; }

  const Reference& reference() override {
    if (reference_.outputs.empty()) {
      const Cost work = cost();
      const ThreadsForWork threads(work.flop + work.bytes / 4);
      typed_.oracle(data_.views.data(), reference_);
    }
    return reference_;
  }

  const LargeArray<double>& bounds(int output, Arithmetic arithmetic, bool tensor_cores) override {
    LargeArray<double>& bound = bounds_[{output, arithmetic.code(), tensor_cores}];
    const ReferenceArray& array = reference().outputs[static_cast<std::size_t>(output)];
    if (bound.size() != array.value.size()) {
      const Tolerance tolerance{fill_, arithmetic, dtype_, tensor_cores};
      const LargeArray<double>& magnitude = array.magnitude_under(arithmetic);
      if (magnitude.size() != array.value.size()) throw_no_bound(contract_.name, arithmetic);
      bound = LargeArray<double>(array.value.size());
      const std::size_t elements = bound.size();
      for_each_piece((static_cast<std::int64_t>(elements) + kStretch - 1) / kStretch, [&](std::int64_t n) {
        const auto begin = static_cast<std::size_t>(n * kStretch);
        for (std::size_t i = begin; i < std::min<std::size_t>(elements, begin + kStretch); ++i) {
          // a NaN or an infinity is compared by class: its distance is 0 or infinite, and no magnitude speaks of it
          bound[i] = std::isfinite(array.value[i])
                         ? contract_.bound(tolerance, output, array.value[i], magnitude[i], array.terms[i])
                         : 0;
        }
      });
    }
    return bound;
  }

  Cost cost() const override {
    if (!cost_) cost_ = cost_of(typed_.work(data_.views.data()), dtype_);
    return *cost_;
  }
  bool degenerate() const override { return data_.degenerate; }
  const std::vector<double>& extents() const override { return extents_; }

  PreparedCase* twin(Twin which) override {
    const auto [at, fresh] = twins_.try_emplace(which);
    if (fresh) {
      at->second = which == Twin::problem   ? with_other_problem()
                   : which == Twin::pattern ? with_other_pattern()
                                            : with_negated(which);
    }
    return at->second.get();
  }

  PreparedCase* neighbour(int n) override {
    if (!knows_neighbours_) find_neighbours();
    const auto at = static_cast<std::size_t>(n);
    return at < neighbours_.size() ? neighbours_[at].get() : nullptr;
  }

  std::string problem_class() override {
    if (problem_class_) return *problem_class_;
    problem_class_ = typed_.number_classes(data_.views.data());
    for (const ViewArray& a : arrays()) {
      if (a.rows * a.cols == 0) *problem_class_ += "no " + a.name + " ";
    }
    return *problem_class_;
  }

 private:
  static constexpr std::size_t kMostNeighbours = 20;

  // Its arrays are this case's.
  ErasedCase(const ErasedCase& of, Fill fill)
      : contract_(of.contract_), typed_(of.typed_), dtype_(of.dtype_), fill_(fill) {
    contents_.of_case = of.contents_.of_case;
    data_.views = of.data_.views;
    data_.degenerate = of.data_.degenerate;
    extents_ = of.extents_;
  }
  [[nodiscard]] std::unique_ptr<ErasedCase> copied(Fill fill) const {
    return std::unique_ptr<ErasedCase>(new ErasedCase(*this, fill));
  }
  [[nodiscard]] std::unique_ptr<ErasedCase> copied() const { return copied(fill_); }
  [[nodiscard]] std::vector<ViewArray> arrays() { return typed_.arrays(data_.views.data(), dtype_); }

  // A copy of packed elements, in the type in which the judge computes.
  [[nodiscard]] const void* copied_values(const ViewArray& a, const std::byte* from) {
    const std::int64_t count = a.rows * a.cols;
    const auto copy = [&](auto zero) -> const void* {
      using V = decltype(zero);
      V* const to = data_.arena.allocate<V>(count);
      for (std::int64_t i = 0; i < count; ++i)
        to[i] = static_cast<V>(decode(a.kind, from + i * facts(a.kind).bytes));
      return to;
    };
    return a.values ? with_value_type(dtype_, copy) : copy(std::int32_t{0});
  }

  // Values become exact as stored. The arrays are the arena's.
  void quantise_operands() {
    for (const ViewArray& a : arrays()) {
      if (!a.values || a.address() == 0) continue;
      with_value_type(dtype_, [&](auto zero) {
        using V = decltype(zero);
        if (facts(a.kind).digits >= facts(kFormat<V>).digits) return;
        for (std::int64_t i = 0; i < a.rows; ++i) quantise(a.kind, a.data<V>() + i * a.ld(), a.cols);
      });
    }
  }

  // Whether every operand has few values, as narrow formats make of any: roundings of equal terms add up (docs/bounds.md). `where_narrow`: of
  // operands in wide formats it is known that they do not.
  [[nodiscard]] bool values_repeat(bool where_narrow) {
    std::vector<ViewArray> operands = arrays();
    std::erase_if(operands, [](const ViewArray& a) { return a.output || !a.values; });
    const auto few = [&](const ViewArray& a) {
      return with_value_type(dtype_, [&](auto zero) {
        const bool narrow = facts(a.kind).digits < facts(kFormat<decltype(zero)>).digits;
        return (narrow || !where_narrow) && repeats<decltype(zero)>(a);
      });
    };
    return !operands.empty() && std::all_of(operands.begin(), operands.end(), few);
  }

  // Whether the contract allows it: it may ask for a sign.
  [[nodiscard]] bool is_valid() const {
    try {
      typed_.validate(data_.views.data());
      return true;
    } catch (const std::exception&) { return false; }
  }

  [[nodiscard]] std::unique_ptr<ErasedCase> with_other_problem() const {
    std::unique_ptr<ErasedCase> other = copied();
    const bool another = typed_.make_other(other->data_.views.data(), 0) == Other::another;
    return another && other->is_valid() ? std::move(other) : nullptr;
  }

  // Rows and columns of every array.
  [[nodiscard]] std::vector<std::pair<std::int64_t, std::int64_t>> rooms() {
    std::vector<std::pair<std::int64_t, std::int64_t>> all;
    for (const ViewArray& a : arrays()) all.emplace_back(a.rows, a.cols);
    return all;
  }

  void find_neighbours() {
    knows_neighbours_ = true;
    for (int n = 0; neighbours_.size() < kMostNeighbours; ++n) {
      std::unique_ptr<ErasedCase> other = copied();
      const Other what = typed_.make_other(other->data_.views.data(), n);
      if (what == Other::no_more) break;
      if (what == Other::another && other->is_valid()) neighbours_.push_back(std::move(other));
    }
    if (typed_.lists_shorter()) {
      for (int n = 0; n < 2; ++n)
        add_shorter([&](std::byte* views) { return typed_.make_shorter(views, n); });
      return;
    }
    each_extent(typed_.sizes(data_.views.data()), [&](const std::vector<std::size_t>& members) {
      return add_shorter([&](std::byte* views) { return typed_.shorten(views, members), true; });
    });
  }

  // A neighbour of which `shorten` takes from an extent; its arrays keep the places of this case's. False where there is none.
  bool add_shorter(const std::function<bool(std::byte*)>& shorten) {
    std::unique_ptr<ErasedCase> other = copied();
    if (!shorten(other->data_.views.data()) || !other->is_valid()) return false;
    other->room_ = rooms();
    if (neighbours_.size() < kMostNeighbours) neighbours_.push_back(std::move(other));
    return true;
  }

  // As many rows, columns and entries, and all entries in their order. A row may hold one column of several rows: terms that repeat, for
  // which the bound of few values holds (docs/bounds.md).
  [[nodiscard]] std::unique_ptr<ErasedCase> with_other_pattern() const {
    std::unique_ptr<ErasedCase> other = copied(is_bitwise(fill_) ? fill_ : Fill::few);
    for (const ViewArray& a : other->arrays()) {
      if (a.part != ViewArray::Part::row_ptr || a.output) continue;
      const auto* const before = a.data<const std::int32_t>();
      const std::int64_t rows = a.cols - 1;
      auto* const row_ptr = other->data_.arena.allocate<std::int32_t>(rows + 1);
      row_ptr[0] = 0;
      bool same = true;
      for (std::int64_t i = 0; i < rows; ++i) {
        const std::int64_t from = rows - 1 - i;
        row_ptr[i + 1] = row_ptr[i] + before[from + 1] - before[from];
        same = same && row_ptr[i + 1] == before[i + 1];
      }
      a.point_to(row_ptr);
      return !same && other->is_valid() ? std::move(other) : nullptr;
    }
    return nullptr;
  }

  [[nodiscard]] std::unique_ptr<ErasedCase> with_negated(Twin which) const {
    std::unique_ptr<ErasedCase> other = copied();
    std::vector<ViewArray> operands =
        other->arrays();  // of values: the last one's sign shows in every answer
    std::erase_if(operands, [](const ViewArray& a) { return a.output || !a.values; });
    const auto is_empty = [](const ViewArray& a) { return a.address() == 0 || a.rows * a.cols == 0; };
    const auto first = std::find_if_not(operands.begin(), operands.end(), is_empty);
    if (first == operands.end()) return nullptr;
    const auto last = std::find_if_not(operands.rbegin(), operands.rend(), is_empty).base() - 1;
    const bool of_last = which != Twin::other_operands;
    for (auto a = first; a <= last; ++a) {
      if (is_empty(*a) || (of_last || first == last ? a != last : a == last)) continue;
      with_value_type(dtype_, [&](auto zero) {
        a->point_to(negated<decltype(zero)>(*a, of_last, which, other->data_.arena));
      });
    }
    return other->is_valid() ? std::move(other) : nullptr;
  }

  const OperatorContract& contract_;
  const TypedContract& typed_;
  Dtype dtype_;
  Fill fill_;
  Contents contents_ = next_contents();
  std::optional<std::string> problem_class_;
  mutable std::optional<Cost> cost_;
  std::vector<double> extents_;
  CaseData data_;
  // rows and columns of each array's place, where that is larger
  std::vector<std::pair<std::int64_t, std::int64_t>> room_;
  Reference reference_;
  std::map<std::tuple<int, std::int32_t, bool>, LargeArray<double>> bounds_;  // by output and arithmetic
  std::map<Twin, std::unique_ptr<ErasedCase>> twins_;
  std::vector<std::unique_ptr<ErasedCase>> neighbours_;
  bool knows_neighbours_ = false;
};

}  // namespace

std::unique_ptr<PreparedCase> prepare_given(const OperatorContract& contract, const GivenCall& given) {
  return std::make_unique<ErasedCase>(contract, given);
}

std::unique_ptr<PreparedCase> prepare_case(const OperatorContract& contract, const Case& c) {
  return std::make_unique<ErasedCase>(contract, c);
}

}  // namespace plumb
