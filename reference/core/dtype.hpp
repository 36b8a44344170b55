// The type of a case, as its id says it: how inputs, outputs and scalars are stored, and in what sums are kept. One row of a table per type;
// an operator lists those that it has (Op::kDtypes). Read with every kernel: C++17, no standard library beyond <cstdint>.
#pragma once
#include <cstdint>

#include "reference/core/format.hpp"

namespace plumb {

enum class Dtype : std::uint8_t { f32, f64 };

struct DtypeFacts {
  Dtype dtype;
  const char* name;   // the word in a case's id
  Format in, out;     // of the arrays of values that a variant reads and writes
  Format scalar;      // of alpha, beta and their like
  Format accumulate;  // in which an undeclared variant sums
};

/// One row per type, in the order of the enumeration.
inline constexpr DtypeFacts kDtypes[] = {
    {Dtype::f32, "f32", Format::f32, Format::f32, Format::f32, Format::f32},
    {Dtype::f64, "f64", Format::f64, Format::f64, Format::f64, Format::f64}};

[[nodiscard]] constexpr const DtypeFacts& facts(Dtype dtype) {
  return kDtypes[static_cast<std::uint8_t>(dtype)];
}

/// Those of an operator that lists none, and of the models.
inline constexpr Dtype kUsualDtypes[] = {Dtype::f32, Dtype::f64};

/// The type in which meaning is computed: double where a value is stored as one, else float. It holds every number of in, out and scalar.
[[nodiscard]] constexpr Format value_format(Dtype dtype) {
  const DtypeFacts& d = facts(dtype);
  return d.in == Format::f64 || d.out == Format::f64 ? Format::f64 : Format::f32;
}

/// The row of a kernel's type argument T; a type that no row is of does not compile.
template <class T>
struct DtypeOf;
template <>
struct DtypeOf<float> {
  static constexpr Dtype value = Dtype::f32;
};
template <>
struct DtypeOf<double> {
  static constexpr Dtype value = Dtype::f64;
};
template <class T>
inline constexpr Dtype kDtype = DtypeOf<T>::value;

namespace detail {
constexpr bool dtypes_are_in_order() {
  int row = 0;
  for (const DtypeFacts& d : kDtypes) {
    if (static_cast<int>(d.dtype) != row++) return false;
  }
  return true;
}
static_assert(dtypes_are_in_order(), "kDtypes has one row per Dtype, in the order of the enumeration");
}  // namespace detail

/// Of two things, one for each type in which values are computed, that for V: float or double.
template <class V, class Single, class Twice>
constexpr decltype(auto) of_value_type(Single&& single, Twice&& twice) {
  static_assert(kFormat<V> == Format::f32 || kFormat<V> == Format::f64,
                "values are computed in float or double");
  if constexpr (kFormat<V> == Format::f32)
    return static_cast<Single&&>(single);
  else
    return static_cast<Twice&&>(twice);
}

/// Calls f(float()) or f(double()): the type in which the judge computes a case of `dtype`.
template <class F>
decltype(auto) with_value_type(Dtype dtype, F&& f) {
  // NOLINTNEXTLINE(bugprone-branch-clone): two types
  return value_format(dtype) == Format::f32 ? f(float()) : f(double());
}

}  // namespace plumb
