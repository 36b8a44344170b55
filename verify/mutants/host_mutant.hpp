// One planted fault of a host operator, in both types at once. Apart from mutant.hpp, which device files
// include as well.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>

#include "verify/mutants/mutant.hpp"

namespace plumb {

namespace detail {
template <int Bytes>
struct UnsignedOf;
template <>
struct UnsignedOf<2> {
  using Type = std::uint16_t;
};
template <>
struct UnsignedOf<4> {
  using Type = std::uint32_t;
};
template <>
struct UnsignedOf<8> {
  using Type = std::uint64_t;
};
}  // namespace detail
/// The integer of a number's size.
template <class T>
using BitsOf = typename detail::UnsignedOf<sizeof(T)>::Type;

/// What arithmetic that flushes subnormals makes of a value.
template <class T>
T flushed(T value) {
  return std::fabs(value) < std::numeric_limits<T>::min() ? T(0) : value;
}

/// const HostMutant<Spmv> cut{"rows_cut_at_32", rows_cut<float>, rows_cut<double>, {35, "fault", "incident",
/// kNumeric}};
template <class Op>
class HostMutant {
 public:
  HostMutant(const char* name, typename Variant<Op, float, Space::host>::Run run32,
             typename Variant<Op, double, Space::host>::Run run64, MutantInfo info, Traits traits = {},
             typename Variant<Op, float, Space::host>::Supports supports32 = nullptr,
             typename Variant<Op, double, Space::host>::Supports supports64 = nullptr,
             typename Variant<Op, float, Space::host>::Prepare prepare32 = nullptr,
             typename Variant<Op, double, Space::host>::Prepare prepare64 = nullptr)
      : f32_(name, run32, info, traits, supports32, prepare32),
        f64_(name, run64, info, traits, supports64, prepare64) {}

 private:
  RegisterMutant<Op, float, Space::host> f32_;
  RegisterMutant<Op, double, Space::host> f64_;
};

}  // namespace plumb
