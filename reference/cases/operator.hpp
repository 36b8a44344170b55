// What an operator is to the host: cases, data, oracle, bound, cost. A contract (ops/<op>.hpp) declares them, ops/<op>.cpp
// defines them, and the concept Operator names the member that is missing.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference/arithmetic/fp.hpp"
#include "reference/cases/case_id.hpp"
#include "reference/core/abi.hpp"
#include "reference/core/large_array.hpp"

namespace plumb {

/// Owns the arrays of one instance; freed together. The system zeroes the pages when the threads that fill an array touch them first.
class Arena {
 public:
  template <class T>
  [[nodiscard]] T* allocate(std::int64_t count) {
    void* const block = std::calloc(static_cast<std::size_t>(count) + 1, sizeof(T));
    if (block == nullptr) throw OutOfMemory(static_cast<std::size_t>(count), sizeof(T));
    blocks_.emplace_back(block);
    return static_cast<T*>(block);
  }

 private:
  struct Free {
    void operator()(void* block) const { std::free(block); }
  };
  std::vector<std::unique_ptr<void, Free>> blocks_;
};

/// One case's data in a type in which the judge computes: scalars, inputs, and the shapes of the outputs. An output whose data is not null is in-out:
/// it holds the initial contents (y of beta * y); one whose data is null is poisoned before every run and must be written.
template <class Op, class T>
struct Instance {
  typename Op::template Problem<T> problem{};
  typename Op::template In<T, Space::host> in{};
  typename Op::template Out<T, Space::host> out{};
  Arena arena;
  bool degenerate =
      false;  // a constant or all-zero answer is correct for this case (nothing to sum, zero sizes)
};

/// What each row of an output may choose from, where the output holds places of candidates and several answers are legal: the columns of the
/// largest elements of a row, of which some are equal. A candidate may stand from position `first` to position `last` of its row, once; at
/// none where `last` is before `first`, as it is at the beginning. Equal candidates have the same positions. Where those of two overlap in
/// part, and their order is sure all the same, the other order passes too.
struct Candidates {
  Candidates(std::int64_t rows, std::int64_t in_each_row)
      : in_row(in_each_row),
        value(static_cast<std::size_t>(rows * in_row)),
        first(value.size()),
        last(value.size()) {
    for (std::int32_t& position : last) position = -1;
  }
  void allow(std::int64_t row, std::int64_t candidate, std::int64_t from, std::int64_t to) {
    const auto at = static_cast<std::size_t>(row * in_row + candidate);
    first[at] = static_cast<std::int32_t>(from), last[at] = static_cast<std::int32_t>(to);
  }
  [[nodiscard]] bool has(double candidate) const {
    return candidate >= 0 && candidate < static_cast<double>(in_row);
  }
  [[nodiscard]] double value_at(std::int64_t row, std::int64_t candidate) const {
    return value[static_cast<std::size_t>(row * in_row + candidate)];
  }
  std::int64_t in_row;
  LargeArray<double> value;  // (rows, in_row), as the others: what a candidate is
  LargeArray<std::int32_t> first, last;
};

/// The oracle's answer for one output array, packed row-major: value, magnitude M = sum |a||b|, and number of terms.
struct ReferenceArray {
  LargeArray<double> value, magnitude;
  // the same under `transform`, which gives the answer another form; empty where no variant may compute so
  LargeArray<double> transformed;
  Arithmetic::Transform transform = Arithmetic::Transform::winograd;
  LargeArray<std::int32_t> terms;
  bool moved = false;  // copies of inputs: a zero has the sign of the value that it is a copy of
  // of places: the legal ones, of which `value` holds one choice. What a variant chose is judged, whichever it is, and runs may differ in it
  std::shared_ptr<const Candidates> candidates;
  int chosen_by = -1;  // of the values at such places: the output that holds the places
  [[nodiscard]] bool leaves_choice() const { return candidates != nullptr || chosen_by >= 0; }
  /// What errors under `arithmetic` are measured against, per element; empty where the operator knows no such arithmetic.
  [[nodiscard]] const LargeArray<double>& magnitude_under(Arithmetic arithmetic) const {
    static const LargeArray<double> none;
    if (arithmetic.transform == Arithmetic::Transform::none) return magnitude;
    return arithmetic.transform == transform ? transformed : none;
  }
  void resize(std::int64_t n) {
    const auto size = static_cast<std::size_t>(n);
    value = LargeArray<double>(size), magnitude = LargeArray<double>(size),
    terms = LargeArray<std::int32_t>(size);
  }
  /// Takes value, magnitude and terms of element i from an OracleDot.
  template <class Dot>
  void take(std::int64_t i, const Dot& dot) {
    const auto k = static_cast<std::size_t>(i);
    value[k] = dot.value();
    magnitude[k] = dot.magnitude();
    terms[k] = static_cast<std::int32_t>(dot.terms());
  }
};
struct Reference {
  std::vector<ReferenceArray> outputs;  // in the order of Op::each_output
};

/// What a bound is a function of, besides the element's magnitude and number of terms.
struct Tolerance {
  Fill fill = Fill::real;
  Arithmetic arithmetic = Arithmetic::native;
  Dtype dtype = Dtype::f32;
  bool tensor_cores = false;  // narrow products may be summed by them: on a device
  /// The format in which the variant sums.
  [[nodiscard]] Format accumulate() const {
    return arithmetic.accumulate == Format::none ? facts(dtype).accumulate : arithmetic.accumulate;
  }
  [[nodiscard]] double unit() const { return facts(accumulate()).unit; }
  [[nodiscard]] double smallest_normal() const { return facts(accumulate()).smallest_normal; }
  [[nodiscard]] double eta() const { return facts(accumulate()).eta; }
};

/// What n roundings of a plain sum in any order may amount to, in units of the largest of them.
/// Roundings of different terms go up and down: a random walk, 4 sqrt(n), or 16 where the partial sums stay small (zero-mean data).
/// Equal terms are rounded by equal amounts, which add up: where terms may repeat (fill few), n, the worst case.
[[nodiscard]] double sum_of_roundings(Fill, double n);

/// As a fill says it of sums whose terms have one sign, whatever the fill draws: positive, or few where terms repeat too.
[[nodiscard]] Fill fill_of_one_sign(Fill);

/// The bound of a sum of `terms` products with magnitude M: 0 (bitwise) for the exact, wide and index fills;
/// for others the sum of four parts: of the operands' rounding, of the sum's (sum_of_roundings() u M, or less by its order), of underflow, and of
/// what is flushed.
/// Underflow adds n eta. Measured: honest fp32 sums of zero-mean products stay under 6 u M for n from 16 to 8192.
/// Flushed additions add (n + 1) m, m the smallest normal number. Flushing a number to 0 errs by less than m. Each of the
/// at most n additions flushes its addend or its result, never both: without the addend the result is the value in memory,
/// which is normal or 0 after the first addition. The first may flush what lay in memory before, which is the 1 in n + 1.
/// Exact fills keep that part where M is so small that subnormals may be among the terms.
[[nodiscard]] double sum_bound(const Tolerance&, double value, double magnitude, std::int64_t terms);

/// The magnitude that a bound of alpha * sum + addend is measured against, for a sum of `terms` products of magnitude `products`
/// computed in T. Two parts exceed the plain |alpha| * products + |addend|:
///   a kernel may start its sum at the addend, and then rounds `terms` times at the addend's size: a random walk, which
///   sum_bound covers up to 16 u, hence the factor sqrt(terms) / 4;
///   alpha multiplies what the products lost to underflow, terms * eta.
template <class T>
[[nodiscard]] double affine_magnitude(double alpha, double products, double addend, std::int64_t terms);

/// sum_bound() for a sum whose terms have one sign whatever the fill draws, such as squares: roundings then drift as on
/// positive data. At n u above 0.1 no bound of a plain sum holds: choose the exact fill, or fp64 alone, for such a case.
[[nodiscard]] double sum_bound_of_one_sign(const Tolerance&, double value, double magnitude,
                                           std::int64_t terms);

/// sum_bound() for a sum whose terms differ in scale where the fill is scaled: the scale of a term in one operand is not the inverse of that
/// in the other. After one large term every later addition rounds at its size.
[[nodiscard]] double sum_bound_of_many_scales(const Tolerance&, double value, double magnitude,
                                              std::int64_t terms);

/// True for fills whose answers are compared bit for bit (as numbers: -0 equals +0).
[[nodiscard]] constexpr bool is_bitwise(Fill fill) {
  return fill == Fill::exact || fill == Fill::wide || fill == Fill::index;
}

/// Work and compulsory traffic of one run: flop counts multiply and add apart; each input is read once, each output written once.
struct Cost {
  double flop = 0, bytes = 0;
};
/// The same as a contract counts it: elements of arrays of values, whose bytes follow from their formats, and bytes of indices.
struct Work {
  double flop = 0, values_in = 0, values_out = 0, index_bytes = 0;
};
[[nodiscard]] Cost cost_of(const Work&, Dtype);

/// Collects an operator's cases, one per fill and type, each beside the reason it exists.
class CaseList {
 public:
  /// `dtypes`: those of the operator, one case each.
  CaseList(std::string_view op, std::span<const Dtype> dtypes)
      : op_(op), dtypes_(dtypes.begin(), dtypes.end()) {}
  /// params: "rows=7,cols=5,density=0.3" in the order they are to be printed. `only`: the types of these cases; none: all of the operator whose
  /// outputs show a factor of that size.
  void add(Tier tier, std::string_view params, std::initializer_list<Fill> fills, std::string_view why,
           std::initializer_list<Dtype> only = {});
  /// The fill hostile with the seeds 1 to `seeds`: every special value meets every class of position that the shape has.
  void add_hostile(Tier tier, std::string_view params, std::uint64_t seeds, std::string_view why);
  /// One of the extents in `params` is 524,309: in tiles of 8, more than the 65,535 blocks that a grid may have down.
  void add_beyond_a_grid(std::string_view params) {
    add(Tier::smoke, params, {Fill::real},
        "in tiles of 8, more than the 65,535 blocks that a grid may have down");
  }
  /// In `params` every matrix has five rows or more, and few columns: its rows lie so far apart that the third begins beyond a 32-bit number of
  /// elements with a sign, the fifth beyond one without.
  void add_far_rows(std::string_view params, Fill fill = Fill::exact) {
    add(Tier::smoke, std::string(params) + ",layout=far", {fill},
        "rows 2^30 elements and more apart: a row's number times the leading dimension is beyond 32 bits");
  }
  /// In `params` an element sums 8,209 terms, in more parts than one and fewer than at sizes beyond shared memory. They cancel each other.
  void add_cancelling(std::string_view params) {
    add(Tier::smoke, std::string(params) + ",facing=cancels", {Fill::real},
        "sums of a few parts that cancel: what is kept of them in a narrower type than is declared shows");
  }
  [[nodiscard]] const std::vector<Case>& all() const { return cases_; }

 private:
  std::string op_;
  std::vector<Dtype> dtypes_;
  std::vector<Case> cases_;
};

/// The types of an operator, by its list kDtypes; one without a list has f32 and f64.
template <class Op>
[[nodiscard]] constexpr std::span<const Dtype> dtypes_of() {
  if constexpr (requires { Op::kDtypes; }) {
    return Op::kDtypes;
  } else {
    return kUsualDtypes;
  }
}

/// What verify/operators.hpp accepts. A missing member is named by the failing line of this concept.
template <class Op>
concept Operator = requires(CaseList& list, CaseSpace& space, const Case& c, Instance<Op, float>& instance,
                            Reference& reference, const Tolerance& tolerance) {
  { Op::kName } -> std::convertible_to<const char*>;
  { Op::kExtents[0] } -> std::convertible_to<const char*>;
  Op::cases(list);
  Op::describe(space);
  Op::template make<float>(c, instance);
  Op::template validate<float>(instance.problem, instance.in, instance.out);
  Op::template oracle<float>(instance.problem, instance.in, instance.out, reference);
  { Op::template cost<float>(instance.problem, instance.in, instance.out) } -> std::same_as<Work>;
  { Op::bound(tolerance, 0, 0.0, 0.0, std::int64_t{0}) } -> std::same_as<double>;
  Op::each_scalar(instance.problem, [](const char*, auto) {});
  Op::each_input(instance.in, [](const char*, auto&) {});
  Op::each_output(instance.out, [](const char*, auto&) {});
};

/// Instantiates the host side of a contract; the last line of ops/<op>.cpp. The judge computes in these two types, whatever types an operator
/// has: value_format().
#define PLUMB_INSTANTIATE_OPERATOR(Op) \
  PLUMB_INSTANTIATE_OPERATOR_FOR(Op, float) PLUMB_INSTANTIATE_OPERATOR_FOR(Op, double)
#define PLUMB_INSTANTIATE_OPERATOR_FOR(Op, T)                                                              \
  template void Op::make<T>(const Case&, Instance<Op, T>&);                                                \
  template void Op::validate<T>(const Problem<T>&, const In<T, Space::host>&, const Out<T, Space::host>&); \
  template void Op::oracle<T>(const Problem<T>&, const In<T, Space::host>&, const Out<T, Space::host>&,    \
                              Reference&);                                                                 \
  template Work Op::cost<T>(const Problem<T>&, const In<T, Space::host>&, const Out<T, Space::host>&);

}  // namespace plumb
