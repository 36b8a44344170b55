// The type of a case, as its id says it: how inputs, outputs and scalars are stored, and in what sums are kept. One row of a table per type;
// an operator lists those that it has (Op::kDtypes). Read with every kernel: C++17, no standard library beyond <cstdint>.
#pragma once
#include <cstdint>

#include "reference/core/format.hpp"

namespace plumb {

enum class Dtype : std::uint8_t {
  f32,
  f64,
  f16,
  bf16,
  f16_f32,
  bf16_f32,
  e4m3,
  e4m3_f16,
  e4m3_bf16,
  e4m3_f32,
  e5m2_f16,
  e5m2_bf16,
  e5m2_f32
};

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
    {Dtype::f64, "f64", Format::f64, Format::f64, Format::f64, Format::f64},
    {Dtype::f16, "f16", Format::f16, Format::f16, Format::f32, Format::f32},
    {Dtype::bf16, "bf16", Format::bf16, Format::bf16, Format::f32, Format::f32},
    {Dtype::f16_f32, "f16_f32", Format::f16, Format::f32, Format::f32, Format::f32},
    {Dtype::bf16_f32, "bf16_f32", Format::bf16, Format::f32, Format::f32, Format::f32},
    {Dtype::e4m3, "e4m3", Format::e4m3, Format::e4m3, Format::f32, Format::f32},
    {Dtype::e4m3_f16, "e4m3_f16", Format::e4m3, Format::f16, Format::f32, Format::f32},
    {Dtype::e4m3_bf16, "e4m3_bf16", Format::e4m3, Format::bf16, Format::f32, Format::f32},
    {Dtype::e4m3_f32, "e4m3_f32", Format::e4m3, Format::f32, Format::f32, Format::f32},
    {Dtype::e5m2_f16, "e5m2_f16", Format::e5m2, Format::f16, Format::f32, Format::f32},
    {Dtype::e5m2_bf16, "e5m2_bf16", Format::e5m2, Format::bf16, Format::f32, Format::f32},
    {Dtype::e5m2_f32, "e5m2_f32", Format::e5m2, Format::f32, Format::f32, Format::f32}};

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

/// Whether outputs are stored in fewer digits than the sums have: an output then stands for a cell of numbers (reference/arithmetic/cell.hpp).
[[nodiscard]] constexpr bool is_narrow(Format output) {
  return is_floating(output) && facts(output).digits < facts(Format::f32).digits;
}

/// Whether usual values times `factor` are neither all 0 nor all infinite in a narrow output.
[[nodiscard]] constexpr bool is_shown_by(Format output, double factor) {
  const double size = factor < 0 ? -factor : factor;
  return size == 0 || !is_narrow(output) ||
         (size >= facts(output).smallest_normal && size <= facts(output).largest);
}

namespace detail {
constexpr bool dtypes_are_in_order() {
  int row = 0;
  for (const DtypeFacts& d : kDtypes) {
    if (static_cast<int>(d.dtype) != row++) return false;
  }
  return true;
}
static_assert(dtypes_are_in_order(), "kDtypes has one row per Dtype, in the order of the enumeration");

// The row of these formats; to ask for one that no row has does not compile.
constexpr Dtype dtype_of(Format in, Format out) {
  for (const DtypeFacts& d : kDtypes) {
    if (d.in == in && d.out == out) return d.dtype;
  }
  throw "no row of kDtypes has these formats";
}
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
