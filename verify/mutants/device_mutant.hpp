// One planted fault of a kernel, in both types at once; its kernels run on a GPU and on the CPU executor. C++17: device files include
// it.
#pragma once
#include "gpu/device/kernel.hpp"
#include "verify/mutants/mutant.hpp"

namespace plumb {

/// const DeviceMutant<Gemm> cut{"k_tail_dropped_in_tiles", run<float, Fault::k_tail>, run<double, Fault::k_tail>,
/// {14, "fault", "incident", kNumeric}};
template <class Op>
class DeviceMutant {
 public:
  DeviceMutant(const char* name, typename Variant<Op, float, Space::device>::Run run32,
               typename Variant<Op, double, Space::device>::Run run64, MutantInfo info,
               Traits traits = Traits{}.not_reproducible(),
               typename Variant<Op, float, Space::device>::Supports supports32 = nullptr,
               typename Variant<Op, double, Space::device>::Supports supports64 = nullptr)
      : f32_(name, run32, info, traits, supports32), f64_(name, run64, info, traits, supports64) {}

 private:
  RegisterMutant<Op, float, Space::device> f32_;
  RegisterMutant<Op, double, Space::device> f64_;
};

}  // namespace plumb
