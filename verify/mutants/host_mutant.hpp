// One planted fault of a host operator, in both types at once. Apart from mutant.hpp, which device files
// include as well.
#pragma once
#include <cmath>
#include <limits>

#include "verify/mutants/mutant.hpp"

namespace plumb {

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
