// One case's data, the oracle's answer for it, and its twins.
#include <algorithm>
#include <cmath>
#include <exception>
#include <map>

#include "reference/core/threads.hpp"
#include "verify/engine/erased_operator.hpp"
#include "verify/engine/resources.hpp"

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

class ErasedCase final : public PreparedCase {
 public:
  ErasedCase(const OperatorContract& contract, const Case& c)
      : contract_(contract),
        typed_(contract.of(c.dtype)),
        dtype_(c.dtype),
        fill_(c.fill),
        data_(typed_.make(c)) {
    quantise_operands();
    typed_.validate(data_.views.data());
  }

  StagedViews place(ImageLayout& layout) const override {
    StagedViews views = data_.views;
    for (const ViewArray& a : typed_.arrays(views.data(), dtype_)) {
      Segment s;
      s.name = a.name;
      s.kind = a.kind;
      s.output = a.output;
      s.rows = a.rows, s.cols = a.cols;
      s.source = a.data<const void>(), s.source_ld = a.ld();
      s.source_kind = a.values ? value_format(dtype_) : a.kind;
      const Segment& placed = layout.segments()[layout.add_once(std::move(s), a.vector)];
      a.set_ld(placed.ld);
      a.set_address(placed.offset);
    }
    return views;
  }

  const Reference& reference() override {
    if (reference_.outputs.empty()) {
      const Cost work = cost();
      const ThreadsForWork threads(work.flop + work.bytes / 4);
      typed_.oracle(data_.views.data(), reference_);
    }
    return reference_;
  }

  const LargeArray<double>& bounds(int output, Arithmetic arithmetic) override {
    LargeArray<double>& bound = bounds_[{output, arithmetic.code()}];
    const ReferenceArray& array = reference().outputs[static_cast<std::size_t>(output)];
    if (bound.size() != array.value.size()) {
      const Tolerance tolerance{fill_, arithmetic, dtype_};
      const LargeArray<double>& magnitude = array.magnitude_under(arithmetic);
      if (magnitude.size() != array.value.size()) throw_no_bound(contract_.name, arithmetic);
      bound = LargeArray<double>(array.value.size());
      const auto elements = static_cast<std::int64_t>(bound.size());
#pragma omp parallel for schedule(static) if (elements > 8 * kStretch)
      for (std::int64_t at = 0; at < elements; ++at) {
        const auto i = static_cast<std::size_t>(at);
        // a NaN or an infinity is compared by class: its distance is 0 or infinite, and no magnitude speaks of it
        bound[i] = std::isfinite(array.value[i])
                       ? contract_.bound(tolerance, output, array.value[i], magnitude[i], array.terms[i])
                       : 0;
      }
    }
    return bound;
  }

  Cost cost() const override { return cost_of(typed_.work(data_.views.data()), dtype_); }
  bool degenerate() const override { return data_.degenerate; }

  PreparedCase* twin(Twin which) override {
    const auto [at, fresh] = twins_.try_emplace(which);
    if (fresh) {
      at->second = which == Twin::problem   ? with_other_problem()
                   : which == Twin::pattern ? with_other_pattern()
                                            : with_negated(which);
    }
    return at->second.get();
  }

 private:
  // Its arrays are this case's.
  ErasedCase(const ErasedCase& of, Fill fill)
      : contract_(of.contract_), typed_(of.typed_), dtype_(of.dtype_), fill_(fill) {
    data_.views = of.data_.views;
    data_.degenerate = of.data_.degenerate;
  }
  [[nodiscard]] std::unique_ptr<ErasedCase> copied(Fill fill) const {
    return std::unique_ptr<ErasedCase>(new ErasedCase(*this, fill));
  }
  [[nodiscard]] std::unique_ptr<ErasedCase> copied() const { return copied(fill_); }
  [[nodiscard]] std::vector<ViewArray> arrays() { return typed_.arrays(data_.views.data(), dtype_); }

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

  // Whether the contract allows it: it may ask for a sign.
  [[nodiscard]] bool is_valid() const {
    try {
      typed_.validate(data_.views.data());
      return true;
    } catch (const std::exception&) { return false; }
  }

  [[nodiscard]] std::unique_ptr<ErasedCase> with_other_problem() const {
    std::unique_ptr<ErasedCase> other = copied();
    return typed_.make_other(other->data_.views.data()) && other->is_valid() ? std::move(other) : nullptr;
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
  CaseData data_;
  Reference reference_;
  std::map<std::pair<int, std::int32_t>, LargeArray<double>> bounds_;  // by output and arithmetic
  std::map<Twin, std::unique_ptr<ErasedCase>> twins_;
};

}  // namespace

std::unique_ptr<PreparedCase> prepare_case(const OperatorContract& contract, const Case& c) {
  return std::make_unique<ErasedCase>(contract, c);
}

}  // namespace plumb
