// The libraries' word for how elements of type E are stored.
#pragma once
#include <library_types.h>

#include "reference/core/abi.hpp"

namespace plumb {

namespace detail {
constexpr cudaDataType_t cuda_type_of(Format format) {
  switch (format) {
    case Format::f64:
      return CUDA_R_64F;
    case Format::f16:
      return CUDA_R_16F;
    case Format::bf16:
      return CUDA_R_16BF;
    case Format::e4m3:
      return CUDA_R_8F_E4M3;
    case Format::e5m2:
      return CUDA_R_8F_E5M2;
    case Format::i32:
      return CUDA_R_32I;
    default:
      return CUDA_R_32F;
  }
}
}  // namespace detail

template <class E>
inline constexpr cudaDataType_t kCudaType = detail::cuda_type_of(kFormat<E>);

}  // namespace plumb
