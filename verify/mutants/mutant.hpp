// A mutant: a variant that is wrong on purpose, beside what was changed, where it happened, and which instrument must kill it.
// Registered apart from the variants, so that no list of implementations ever holds one.
#pragma once
#include "reference/core/abi.hpp"

namespace plumb {

/// Bits: the instruments that can kill a mutant.
enum Instrument : unsigned {
  kNumeric = 1,  // judged against the oracle, with poison, guards and input checks
  kRepeat = 2,   // runs differ
  kSimt = 4,     // the CPU executor's traps
  kRace =
      8,  // race detection: by the CPU executor; of a host mutant, by ThreadSanitizer with Archer (--race --device cpu)
  kSanitizer = 16,  // compute-sanitizer
};

struct MutantInfo {
  int number;            // of the catalogue; 0 for one met while building
  const char* fault;     // what was changed
  const char* incident;  // where it happens in the wild
  unsigned killed_by;    // Instrument bits: any one of them suffices
};

/// A mutant with its types erased.
struct AnyMutant {
  AnyVariant variant;
  MutantInfo info;
  const AnyMutant* next;
};

template <class Op>
inline const AnyMutant* any_mutants = nullptr;

/// const RegisterMutant<Gemm, float, Space::host> m14{"k_tail_dropped", run_k_tail<float>, {14, "...", "...", kNumeric}};
template <class Op, class T, Space S>
class RegisterMutant {
 public:
  using V = Variant<Op, T, S>;
  RegisterMutant(const char* name, typename V::Run run, MutantInfo info, Traits traits = {},
                 typename V::Supports supports = nullptr, typename V::Prepare prepare = nullptr)
      : variant_{name, run, traits, supports, prepare}, any_{erased(variant_), info, any_mutants<Op>} {
    any_mutants<Op> = &any_;
  }
  RegisterMutant(const RegisterMutant&) = delete;
  RegisterMutant& operator=(const RegisterMutant&) = delete;

 private:
  V variant_;
  AnyMutant any_;
};

}  // namespace plumb

/// In an anonymous namespace: the operator of the faults that follow, and its types in a space, host or device.
#define PLUMB_FAULTS_IN(SPACE, OP)    \
  using Faulty = OP;                  \
  template <class T>                  \
  using P = OP::Problem<T>;           \
  template <class T>                  \
  using In = OP::In<T, Space::SPACE>; \
  template <class T>                  \
  using Out = OP::Out<T, Space::SPACE>
