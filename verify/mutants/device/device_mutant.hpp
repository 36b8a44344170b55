// One planted fault of a kernel, in both types at once; its kernels run on a GPU and on the CPU executor. C++17: device files include
// it.
#pragma once
#include "gpu/device/kernel.hpp"
#include "verify/mutants/mutant.hpp"

namespace plumb {

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

#define PLUMB_DEVICE_FAULTS_OF(OP) \
  using Index = std::int64_t;      \
  PLUMB_FAULTS_IN(device, OP)

/// A fault of `run<T, Fault>` in both types: an enumerator of Fault, a name, and the four facts of MutantInfo.
#define PLUMB_DEVICE_FAULT(FAULT, NAME, ...)                                   \
  const DeviceMutant<Faulty> FAULT##_m {                                       \
    NAME, run<float, Fault::FAULT>, run<double, Fault::FAULT>, { __VA_ARGS__ } \
  }
/// The same of a kernel of its own.
#define PLUMB_DEVICE_FAULT_BY(RUN, NAME, ...)      \
  const DeviceMutant<Faulty> RUN##_m {             \
    NAME, RUN<float>, RUN<double>, { __VA_ARGS__ } \
  }
