// What the engine asks of a contract, with its types erased: operands as bytes, and the arrays in them one by one. Everything that is compiled
// per operator, and per type in which the judge computes, implements this interface (adapter.hpp); the engine itself is compiled once.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "reference/cases/operator.hpp"
#include "verify/engine/operator/entry.hpp"
#include "verify/engine/operator/other_problem.hpp"
#include "verify/mutants/mutant.hpp"

namespace plumb {

/// One array of a call's views (StagedViews: structs of pointers and numbers, which are alike in every type and space), and where these hold
/// its address and its leading dimension.
struct ViewArray {
  enum class Part : std::uint8_t { whole, row_ptr, col, val };  // of a view; whole: its only array
  std::string name;                                             // "A.row_ptr", "x"
  Part part = Part::whole;
  bool values = true, output = false, vector = false;  // values: not indices
  Format kind = Format::f32;                           // as it is stored
  std::int64_t rows = 0, cols = 0;                     // elements; a vector is one row
  std::byte* pointer = nullptr;                        // in the views
  std::int64_t* leading = nullptr;                     // in the views; null for a vector

  [[nodiscard]] std::int64_t ld() const { return leading != nullptr ? *leading : cols; }
  void set_ld(std::int64_t ld) const {
    if (leading != nullptr) *leading = ld;
  }
  /// Its address, or in views that travel its offset.
  [[nodiscard]] std::int64_t address() const {
    std::int64_t value;
    __builtin_memcpy(&value, pointer, sizeof value);
    return value;
  }
  void set_address(std::int64_t value) const { __builtin_memcpy(pointer, &value, sizeof value); }
  template <class T>
  [[nodiscard]] T* data() const {
    return reinterpret_cast<T*>(address());
  }
  void point_to(const void* data) const { set_address(reinterpret_cast<std::int64_t>(data)); }
};

/// The three structs in views.
struct ViewParts {
  void *problem, *in, *out;
};

/// One case's data in the type in which the judge computes.
struct CaseData {
  StagedViews views;  // pointers into the arena, or into that of the case whose twin this is
  Arena arena;
  bool degenerate = false;
};

/// A contract in one type of values: float or double. All views are of that type.
class TypedContract {
 public:
  virtual ~TypedContract() = default;
  /// The data of a case, which may not be valid. Throws Error on a case that cannot be made.
  [[nodiscard]] virtual CaseData make(const Case&) const = 0;
  /// Gives views, which hold zeros, the shapes and numbers of a call; their arrays are null. Throws Error where one is missing.
  virtual void take_shapes(std::byte* views, const GivenCall&) const = 0;
  virtual void validate(const std::byte* views) const = 0;
  virtual void oracle(const std::byte* views, Reference&) const = 0;
  [[nodiscard]] virtual Work work(const std::byte* views) const = 0;
  [[nodiscard]] virtual std::size_t views_bytes() const = 0;
  [[nodiscard]] virtual ViewParts parts(std::byte* views) const = 0;
  /// Inputs, then outputs, in the order of the contract, stored as `dtype` says.
  [[nodiscard]] virtual std::vector<ViewArray> arrays(std::byte* views, Dtype dtype) const = 0;
  /// Every number beside the arrays by name: "alpha", "A.rows".
  [[nodiscard]] virtual std::vector<std::pair<std::string, double>> numbers(const std::byte* views) const = 0;
  /// Of the problem's numbers, which factors are 0, 1 or other, and which others are 0: "alpha=0 beta=other ".
  [[nodiscard]] virtual std::string number_classes(const std::byte* views) const = 0;
  /// As in other_problem.hpp.
  virtual Other make_other(std::byte* views, int n) const = 0;
  virtual bool make_other_numbers(std::byte* views) const = 0;
  virtual bool make_rowless(std::byte* views) const = 0;
  /// Whether the contract has a list of problems with an extent that is one less: make_shorter() makes the n-th, or returns false. Otherwise
  /// shorten() takes one from each of these sizes(), as in shorter.hpp.
  [[nodiscard]] virtual bool lists_shorter() const = 0;
  virtual bool make_shorter(std::byte* views, int n) const = 0;
  [[nodiscard]] virtual std::vector<std::int64_t*> sizes(std::byte* views) const = 0;
  virtual void shorten(std::byte* views, const std::vector<std::size_t>& which) const = 0;
};

/// A contract. The heads of its lists are asked for each time: they grow before main alone.
struct OperatorContract {
  const char* name;
  std::span<const Dtype> dtypes;
  std::span<const char* const> extents;  // parameters of a case that are sizes
  const char* signature;                 // of a formula: "x: n d, w: d, eps>0 -> y: n d"; else empty
  void (*cases)(CaseList&);
  void (*describe)(CaseSpace&);
  double (*bound)(const Tolerance&, int output, double value, double magnitude, std::int64_t terms);
  const AnyVariant* (*variants)();
  const AnyMutant* (*mutants)();
  const TypedContract *in_float, *in_double;

  /// In the type in which the judge computes cases of `dtype`.
  [[nodiscard]] const TypedContract& of(Dtype dtype) const {
    return *with_value_type(dtype,
                            [&](auto zero) { return of_value_type<decltype(zero)>(in_float, in_double); });
  }
};

}  // namespace plumb
