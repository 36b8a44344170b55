// requires: cublas
// cuBLAS for the vendor rungs: a checked call, and a handle on the run's stream that computes in the operator's type.
// Apart from check.hpp because only files numbered 80 and up may include a library's headers.
#pragma once
#include <cublas_v2.h>

#include <cstdlib>

#include "gpu/runtime/cuda_type.hpp"
#include "reference/core/abi.hpp"
#include "reference/core/error.hpp"

namespace plumb {

inline void check_cublas(cublasStatus_t status, const char* call, const char* file, int line) {
  if (status != CUBLAS_STATUS_SUCCESS) throw input_error(file, line, call, cublasGetStatusString(status));
}
#define PLUMB_CUBLAS(call) ::plumb::check_cublas((call), #call, __FILE__, __LINE__)

/// The operator's own arithmetic. fp32 is pedantic: no TF32. fp64 is not: its default is whole fp64 too, and the
/// library's fast kernels are only there (H200, 4088: 61 TFLOP/s; pedantic 44). Narrow types: parts of a sum are added in fp32, too.
template <class T>
inline constexpr cublasMath_t kOwnMath = CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
template <>
inline constexpr cublasMath_t kOwnMath<double> = CUBLAS_DEFAULT_MATH;
template <>
inline constexpr cublasMath_t kOwnMath<float> = CUBLAS_PEDANTIC_MATH;

/// Owns a cuBLAS handle. `math`: kOwnMath of the operator's type. No emulation. Errors: throws Error where the
/// environment forces another arithmetic on the library, or it does not start.
class Cublas {
 public:
  Cublas(Context& context, cublasMath_t math) {
    for (const char* name : {"NVIDIA_TF32_OVERRIDE", "CUBLAS_EMULATE_SINGLE_PRECISION",
                             "CUBLAS_EMULATE_DOUBLE_PRECISION", "CUBLAS_EMULATION_STRATEGY"}) {
      if (std::getenv(name) != nullptr)
        throw Error(std::string("unset ") + name + ": it changes the vendor's arithmetic");
    }
    PLUMB_CUBLAS(cublasCreate(&handle_));
    try {
      PLUMB_CUBLAS(cublasSetStream(handle_, static_cast<cudaStream_t>(context.stream)));
      PLUMB_CUBLAS(cublasSetMathMode(handle_, math));
    } catch (...) {
      (void)cublasDestroy(handle_);
      throw;
    }
  }
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;
  ~Cublas() { (void)cublasDestroy(handle_); }
  [[nodiscard]] cublasHandle_t get() const { return handle_; }

 private:
  cublasHandle_t handle_ = nullptr;
};

/// For Register: a plan that is a Cublas handle, made before the run is timed.
inline void release_cublas(void* plan) { delete static_cast<Cublas*>(plan); }

}  // namespace plumb
