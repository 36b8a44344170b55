// What the judge has of an operator by formula: description, data, checks, oracle and cost, with the operator's type erased. A header that
// derives from FormulaOf (formula_of.hpp) needs PLUMB_FORMULA(RmsNorm) in one file, which the build writes (plumb_formula_sources).
#pragma once
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reference/arithmetic/bounded.hpp"
#include "reference/cases/case_space.hpp"
#include "reference/cases/operator.hpp"
#include "reference/formula/evaluate.hpp"
#include "reference/formula/formula_of.hpp"
#include "reference/formula/signature.hpp"

namespace plumb {

/// What an operator may say beside its signature and formula.
struct FormulaOptions {
  std::vector<Fill> fills = {Fill::real, Fill::positive, Fill::few};
  std::vector<std::string> spreads = {"1", "30"};  // the first input is so many times as large
  std::vector<std::string> means = {"0", "8"};     // and so far from 0
  Math math = Math::library;
};

/// The arrays and numbers of one call.
struct FormulaCall {
  std::vector<FormulaArray> inputs, outputs;
  std::vector<double> scalars;
  std::vector<std::int64_t> extents;  // of Problem; empty where it has none
};

class Formula {
 public:
  using Outputs = std::vector<Expression>;
  /// Calls the formula with the expressions of its inputs and scalars.
  using Build = Outputs (*)(const std::vector<Expression>&);
  /// `form`: a second form of the formula, for variants that declare that transform; none where `other` is null.
  Formula(std::string op, std::string_view signature, Build build, Build other, Arithmetic::Transform form,
          FormulaOptions options);

  [[nodiscard]] const Signature& signature() const { return signature_; }
  [[nodiscard]] const FormulaGraph& graph() const { return graph_; }
  void describe(CaseSpace&) const;
  void cases(CaseList&) const;
  /// The inputs of a case, in the arena, and its sizes. V: float, double.
  template <class V>
  void make(const Case&, Arena&, FormulaCall&) const;
  /// A constant answer is right: nothing to compute, or hardly anything.
  [[nodiscard]] bool is_degenerate(const FormulaCall&) const;
  /// Throws Error naming the first array, scalar or element that does not fit.
  void validate(const FormulaCall&) const;
  /// `format`: in which variants compute that declare nothing.
  void oracle(const FormulaCall&, Format format, Reference&) const;
  [[nodiscard]] Work cost(const FormulaCall&) const;

 private:
  [[nodiscard]] std::vector<std::int64_t> sizes(const FormulaCall&) const;
  [[nodiscard]] double size_of(const FormulaData&, const std::string& extent) const;
  [[nodiscard]] double elements(const FormulaGraph::Sizes&) const;
  [[nodiscard]] std::string role_of(const std::string& extent) const;
  [[nodiscard]] Layout layout() const;
  [[nodiscard]] bool has_answer(std::size_t none, double flag) const;
  [[nodiscard]] bool has_answer(const FormulaGraph::Sizes&) const;
  [[nodiscard]] std::vector<std::int64_t> primes() const;
  template <class V>
  void spread_out(V* data, std::int64_t count, const Case&, const std::vector<std::int64_t>& sizes) const;
  void check_members(const FormulaCall&) const;
  void validate_values(const SignatureArray&, const FormulaArray&,
                       const std::vector<std::int64_t>& sizes) const;
  [[nodiscard]] FormulaData data(const FormulaCall&) const;
  [[nodiscard]] FormulaGraph::Sizes sizes_at(const Point&) const;
  [[nodiscard]] std::string parameters(const std::vector<std::int64_t>& sizes, std::size_t word) const;
  std::string op_;
  Signature signature_;
  FormulaGraph graph_;
  std::optional<FormulaGraph> other_;
  Arithmetic::Transform form_;
  FormulaOptions options_;
  std::vector<bool> needed_;  // of each extent of the signature: where it is 0 there is no answer
  std::size_t spread_ = 0;  // the input that `spread` and `mean` change: the first of any values that is read
  bool empty_masks_ = false;  // there is one where all flags are 0
};

/// The one place where a bound of a formula meets a declared arithmetic. The oracle has the bound in units of the rounding of its type: that of a
/// variant that sums in another format, or cuts its operands to one, is as many of those units, whose largest counts.
[[nodiscard]] double formula_bound(const Tolerance&, double units, std::int64_t terms);

namespace detail {

template <class E, Space S>
FormulaArray formula_array(const VecView<E, S>& v) {
  return {v.data, kFormat<E>, 1, v.size, v.size, nullptr, nullptr, 0, true};
}
template <class E, Space S>
FormulaArray formula_array(const DenseView<E, S>& v) {
  return {v.data, kFormat<E>, v.rows, v.cols, v.ld, nullptr, nullptr, 0, false};
}
template <class E, Space S>
FormulaArray formula_array(const CsrView<E, S>& v) {
  return {v.val, kFormat<E>, v.rows, v.cols, 0, v.row_ptr, v.col, v.nnz, false, true};
}

template <class E, Space S>
void assign(VecView<E, S>& v, const FormulaArray& a) {
  v = {const_cast<E*>(static_cast<const E*>(a.data)), a.cols};
}
template <class E, Space S>
void assign(DenseView<E, S>& v, const FormulaArray& a) {
  v = {const_cast<E*>(static_cast<const E*>(a.data)), a.rows, a.cols, a.ld};
}
template <class E, Space S>
void assign(CsrView<E, S>& v, const FormulaArray& a) {
  v = {a.rows, a.cols, a.entries, a.row_ptr, a.col, static_cast<E*>(const_cast<void*>(a.data))};
}

template <class Op, class P, class In, class Out>
FormulaCall call_of(const P& problem, const In& in, const Out& out) {
  FormulaCall call;
  Op::each_input(in, [&](const char*, const auto& v) { call.inputs.push_back(formula_array(v)); });
  Op::each_output(out, [&](const char*, const auto& v) { call.outputs.push_back(formula_array(v)); });
  Op::each_scalar(problem, [&](const char*, const auto& v) {
    if constexpr (std::is_floating_point_v<std::decay_t<decltype(v)>>)
      call.scalars.push_back(static_cast<double>(v));
    else
      call.extents.push_back(v);
  });
  return call;
}

inline Formula::Outputs outputs_of(const Expression& e) { return {e}; }
template <std::size_t N>
Formula::Outputs outputs_of(const std::array<Expression, N>& all) {
  return {all.begin(), all.end()};
}

template <class F, std::size_t... I>
Formula::Outputs called(F f, const std::vector<Expression>& arguments, std::index_sequence<I...>) {
  return outputs_of(f(arguments[I]...));
}

template <class Op>
FormulaOptions options_of() {
  FormulaOptions o;
  if constexpr (requires { Op::kFills; }) o.fills.assign(std::begin(Op::kFills), std::end(Op::kFills));
  if constexpr (requires { Op::kSpreads; })
    o.spreads.assign(std::begin(Op::kSpreads), std::end(Op::kSpreads));
  if constexpr (requires { Op::kMeans; }) o.means.assign(std::begin(Op::kMeans), std::end(Op::kMeans));
  if constexpr (requires { Op::kMath; }) o.math = Op::kMath;
  return o;
}

}  // namespace detail

/// The formula of an operator, built when it is first asked for. Throws Error where formula and signature do not fit.
template <class Op>
const Formula& formula_of() {
  static const Formula formula = [] {
    using Arguments = std::make_index_sequence<static_cast<std::size_t>(Op::kNames().input_count +
                                                                        Op::kNames().scalar_count)>;
    const Formula::Build build = [](const std::vector<Expression>& a) {
      return detail::called([](const auto&... x) { return Op::template formula<Expression>(x...); }, a,
                            Arguments{});
    };
    Formula::Build other = nullptr;
    auto form = Arithmetic::Transform::none;
    if constexpr (requires { &Op::template one_pass<Expression>; }) {
      form = Arithmetic::Transform::one_pass;
      other = [](const std::vector<Expression>& a) {
        return detail::called([](const auto&... x) { return Op::template one_pass<Expression>(x...); }, a,
                              Arguments{});
      };
    } else if constexpr (requires { &Op::template by_lse<Expression>; }) {
      form = Arithmetic::Transform::by_lse;
      other = [](const std::vector<Expression>& a) {
        return detail::called([](const auto&... x) { return Op::template by_lse<Expression>(x...); }, a,
                              Arguments{});
      };
    }
    return Formula(Op::kName, Op::kSignature, build, other, form, detail::options_of<Op>());
  }();
  return formula;
}

template <class Op>
void FormulaOf<Op>::describe(CaseSpace& space) {
  formula_of<Op>().describe(space);
}
template <class Op>
void FormulaOf<Op>::cases(CaseList& list) {
  formula_of<Op>().cases(list);
}
template <class Op>
double FormulaOf<Op>::bound(const Tolerance& t, int, double, double magnitude, std::int64_t terms) {
  return formula_bound(t, magnitude, terms);
}
template <class Op>
template <class T>
void FormulaOf<Op>::make(const Case& c, Instance<Op, T>& instance) {
  FormulaCall call = detail::call_of<Op>(instance.problem, instance.in, instance.out);
  formula_of<Op>().template make<T>(c, instance.arena, call);
  std::size_t n = 0;
  Op::each_input(instance.in, [&](const char*, auto& v) { detail::assign(v, call.inputs[n++]); });
  n = 0;
  Op::each_output(instance.out, [&](const char*, auto& v) { detail::assign(v, call.outputs[n++]); });
  std::size_t scalar = 0, extent = 0;
  Op::each_scalar(instance.problem, [&](const char*, auto& v) {
    if constexpr (std::is_floating_point_v<std::decay_t<decltype(v)>>)
      v = static_cast<std::decay_t<decltype(v)>>(call.scalars[scalar++]);
    else
      v = call.extents[extent++];
  });
  instance.degenerate = formula_of<Op>().is_degenerate(call);
}
template <class Op>
template <class T, class P, class In, class Out>
void FormulaOf<Op>::validate(const P& problem, const In& in, const Out& out) {
  formula_of<Op>().validate(detail::call_of<Op>(problem, in, out));
}
template <class Op>
template <class T, class P, class In, class Out>
void FormulaOf<Op>::oracle(const P& problem, const In& in, const Out& out, Reference& reference) {
  formula_of<Op>().oracle(detail::call_of<Op>(problem, in, out), kFormat<T>, reference);
}
template <class Op>
template <class T, class P, class In, class Out>
Work FormulaOf<Op>::cost(const P& problem, const In& in, const Out& out) {
  return formula_of<Op>().cost(detail::call_of<Op>(problem, in, out));
}

/// Instantiates the host side of an operator by formula: the one line of ops/<op>.cpp, or of a user's file.
#define PLUMB_FORMULA(Op)                                                                    \
  template void FormulaOf<Op>::describe(CaseSpace&);                                         \
  template void FormulaOf<Op>::cases(CaseList&);                                             \
  template double FormulaOf<Op>::bound(const Tolerance&, int, double, double, std::int64_t); \
  PLUMB_FORMULA_FOR(Op, float) PLUMB_FORMULA_FOR(Op, double)
#define PLUMB_FORMULA_FOR(Op, T)                                                                 \
  template void FormulaOf<Op>::make<T>(const Case&, Instance<Op, T>&);                           \
  template void FormulaOf<Op>::validate<T>(const Op::Problem<T>&, const Op::In<T, Space::host>&, \
                                           const Op::Out<T, Space::host>&);                      \
  template void FormulaOf<Op>::oracle<T>(const Op::Problem<T>&, const Op::In<T, Space::host>&,   \
                                         const Op::Out<T, Space::host>&, Reference&);            \
  template Work FormulaOf<Op>::cost<T>(const Op::Problem<T>&, const Op::In<T, Space::host>&,     \
                                       const Op::Out<T, Space::host>&);

}  // namespace plumb
