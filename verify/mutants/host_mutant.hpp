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

/// What PLUMB_FAULT makes, and alone where a kernel has other parameters:
/// const HostMutant<Spmv> cut{"rows_cut_at_32", cut<float, 32>, cut<double, 32>, {35, "fault", "incident", kNumeric}};
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

#define PLUMB_FAULTS_OF(OP) PLUMB_FAULTS_IN(host, OP)

/// A kernel with its fault, in float and double: a name for both, and the four facts of MutantInfo; further arguments as HostMutant's
/// behind them. Its body has the problem p, in, out and context, and the type T:
///   PLUMB_FAULT(cut, "rows_cut_at_32", 35, "rows longer than 32 entries are cut", "one warp per row", kNumeric) {
///     for (std::int64_t i = 0; i < in.A.rows; ++i) ...
///   }
#define PLUMB_FAULT(RUN, NAME, NUMBER, FAULT, INCIDENT, KILLED_BY, ...)                                \
  template <class T>                                                                                   \
  void RUN(const P<T>& p, const In<T>& in, const Out<T>& out, Context& context);                       \
  const HostMutant<Faulty> RUN##_m{                                                                    \
      NAME, RUN<float>, RUN<double>, {NUMBER, FAULT, INCIDENT, KILLED_BY} __VA_OPT__(, ) __VA_ARGS__}; \
  template <class T>                                                                                   \
  void RUN([[maybe_unused]] const P<T>& p, [[maybe_unused]] const In<T>& in,                           \
           [[maybe_unused]] const Out<T>& out, [[maybe_unused]] Context& context)
