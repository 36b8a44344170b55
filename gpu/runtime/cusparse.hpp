// What every rung and pipeline that calls cuSPARSE needs: its errors as exceptions, and its names of our types.
#pragma once
#include <cusparse.h>

#include <string>

#include "reference/core/error.hpp"

namespace plumb {

inline void check_cusparse(cusparseStatus_t status, const char* call, const char* file, int line) {
  if (status != CUSPARSE_STATUS_SUCCESS) throw input_error(file, line, call, cusparseGetErrorString(status));
}
#define PLUMB_CUSPARSE(call) ::plumb::check_cusparse((call), #call, __FILE__, __LINE__)

template <class T>
constexpr cudaDataType kCudaType = sizeof(T) == 4 ? CUDA_R_32F : CUDA_R_64F;

}  // namespace plumb
