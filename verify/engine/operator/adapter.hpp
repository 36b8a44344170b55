// From a contract to an OperatorEntry: the only place where the engine is instantiated per operator, and per type in which the judge computes.
#pragma once
#include <cstring>
#include <type_traits>

#include "verify/engine/operator/contract.hpp"
#include "verify/engine/operator/erased_operator.hpp"
#include "verify/engine/operator/other_problem.hpp"
#include "verify/engine/operator/shorter.hpp"

namespace plumb {

namespace detail {

// Problem, inputs and outputs as they are.
template <class Op, class V>
struct Views {
  typename Op::template Problem<V> problem;
  typename Op::template In<V, Space::host> in;
  typename Op::template Out<V, Space::host> out;
};

// Appends the arrays of views to a list.
class ArrayCollector {
 public:
  ArrayCollector(std::vector<ViewArray>& all, Dtype dtype) : all_(all), dtype_(dtype) {}
  void collect_outputs() { output_ = true; }

  template <class E, Space S>
  void operator()(const char* name, VecView<E, S>& v) {
    add(name, ViewArray::Part::whole, v.data, 1, v.size, nullptr);
  }
  template <class E, Space S>
  void operator()(const char* name, DenseView<E, S>& v) {
    add(name, ViewArray::Part::whole, v.data, v.rows, v.cols, &v.ld);
  }
  template <class E, Space S>
  void operator()(const std::string& name, CsrView<E, S>& v) {
    add(name + ".row_ptr", ViewArray::Part::row_ptr, v.row_ptr, 1, v.rows + 1, nullptr);
    add(name + ".col", ViewArray::Part::col, v.col, 1, v.nnz, nullptr);
    add(name + ".val", ViewArray::Part::val, v.val, 1, v.nnz, nullptr);
  }

 private:
  template <class E>
  void add(std::string name, ViewArray::Part part, E*& pointer, std::int64_t rows, std::int64_t cols,
           std::int64_t* leading) {
    constexpr bool kValues = is_floating(kFormat<E>);
    static_assert(kValues || kFormat<E> == Format::i32, "arrays hold float, double or int32");
    const DtypeFacts& stored = facts(dtype_);
    all_.push_back({std::move(name), part, kValues, output_, leading == nullptr,
                    !kValues  ? Format::i32
                    : output_ ? stored.out
                              : stored.in,
                    rows, cols, reinterpret_cast<std::byte*>(&pointer), leading});
  }

  std::vector<ViewArray>& all_;
  Dtype dtype_;
  bool output_ = false;
};

template <class E, Space S>
void take_shape(const std::string& name, VecView<E, S>& v, const GivenCall& given) {
  v.size = given.array(name).cols;
}
template <class E, Space S>
void take_shape(const std::string& name, DenseView<E, S>& v, const GivenCall& given) {
  const ArrayInfo& a = given.array(name);
  v.rows = a.rows, v.cols = v.ld = a.cols;
}
template <class E, Space S>
void take_shape(const std::string& name, CsrView<E, S>& v, const GivenCall& given) {
  v.rows = given.array(name + ".row_ptr").cols - 1, v.nnz = given.array(name + ".col").cols;
  v.cols = static_cast<std::int64_t>(given.scalar(name + ".cols"));
}

template <class Op, class V>
class ContractOf final : public TypedContract {
  using Views = detail::Views<Op, V>;
  static_assert(std::is_trivially_copyable_v<Views>,
                "Problem, In and Out travel to child processes as bytes");
  static constexpr bool kListsShorter = requires(Views & v) { Op::template shorten<V>(v.in, v.out, 0); };
  static Views& of(std::byte* views) { return *reinterpret_cast<Views*>(views); }
  static const Views& of(const std::byte* views) { return *reinterpret_cast<const Views*>(views); }

 public:
  CaseData make(const Case& c) const override {
    Instance<Op, V> instance;
    Op::template make<V>(c, instance);
    const Views views{instance.problem, instance.in, instance.out};
    CaseData data{StagedViews(sizeof views), std::move(instance.arena), instance.degenerate};
    std::memcpy(data.views.data(), &views, sizeof views);
    return data;
  }
  void take_shapes(std::byte* v, const GivenCall& given) const override {
    Op::each_scalar(of(v).problem, [&](const char* name, auto& n) {
      n = static_cast<std::decay_t<decltype(n)>>(given.scalar(name));
    });
    const auto take = [&](const std::string& name, auto& view) { take_shape(name, view, given); };
    Op::each_input(of(v).in, take), Op::each_output(of(v).out, take);
  }
  void validate(const std::byte* v) const override {
    Op::template validate<V>(of(v).problem, of(v).in, of(v).out);
  }
  void oracle(const std::byte* v, Reference& reference) const override {
    Op::template oracle<V>(of(v).problem, of(v).in, of(v).out, reference);
  }
  Work work(const std::byte* v) const override {
    return Op::template cost<V>(of(v).problem, of(v).in, of(v).out);
  }
  std::size_t views_bytes() const override { return sizeof(Views); }
  ViewParts parts(std::byte* v) const override { return {&of(v).problem, &of(v).in, &of(v).out}; }
  std::vector<ViewArray> arrays(std::byte* v, Dtype dtype) const override {
    std::vector<ViewArray> all;
    ArrayCollector collector(all, dtype);
    Op::each_input(of(v).in, collector);
    collector.collect_outputs();
    Op::each_output(of(v).out, collector);
    return all;
  }
  std::vector<std::pair<std::string, double>> numbers(const std::byte* v) const override {
    std::vector<std::pair<std::string, double>> all;
    Op::each_scalar(of(v).problem,
                    [&](const char* name, auto n) { all.emplace_back(name, static_cast<double>(n)); });
    const auto add = [&](const std::string& name, const auto& view) {
      if constexpr (requires { view.nnz; }) {
        all.emplace_back(name + ".rows", static_cast<double>(view.rows));
        all.emplace_back(name + ".cols", static_cast<double>(view.cols));
        all.emplace_back(name + ".nnz", static_cast<double>(view.nnz));
      }
    };
    Op::each_input(of(v).in, add);
    Op::each_output(of(v).out, add);
    return all;
  }
  std::string number_classes(const std::byte* v) const override {
    std::string text;
    Op::each_scalar(of(v).problem, [&](const char* name, const auto& held) {
      const bool factor = std::is_floating_point_v<std::decay_t<decltype(held)>>;
      const auto number = static_cast<double>(held);
      if (number == 0 || factor)
        text += std::string(name) + (number == 0 ? "=0 " : number == 1 ? "=1 " : "=other ");
    });
    return text;
  }
  Other make_other(std::byte* v, int n) const override { return make_other_problem<Op>(of(v).problem, n); }
  bool make_other_numbers(std::byte* v) const override { return plumb::make_other_numbers(of(v).problem); }
  bool make_rowless(std::byte* v) const override { return plumb::make_rowless(of(v).in, of(v).out); }
  bool lists_shorter() const override { return kListsShorter; }
  bool make_shorter(std::byte* v, int n) const override {
    if constexpr (kListsShorter) return Op::template shorten<V>(of(v).in, of(v).out, n);
    return false;
  }
  std::vector<std::int64_t*> sizes(std::byte* v) const override { return sizes_of<Op>(of(v).in, of(v).out); }
  void shorten(std::byte* v, const std::vector<std::size_t>& which) const override {
    plumb::shorten<Op>(of(v).in, of(v).out, which);
  }
};

template <class Op>
constexpr const char* signature_of() {
  if constexpr (requires { Op::kIsFormula; })
    return Op::kSignature;
  else
    return "";
}

template <Operator Op>
OperatorContract contract_of() {
  static const ContractOf<Op, float> in_float;
  static const ContractOf<Op, double> in_double;
  return {Op::kName,
          dtypes_of<Op>(),
          Op::kExtents,
          signature_of<Op>(),
          &Op::cases,
          &Op::describe,
          &Op::bound,
          [] { return any_variants<Op>; },
          [] { return any_mutants<Op>; },
          &in_float,
          &in_double};
}

}  // namespace detail

template <Operator Op>
class OperatorAdapter final : public ErasedOperator {
 public:
  OperatorAdapter() : ErasedOperator(detail::contract_of<Op>()) {}
};

}  // namespace plumb
