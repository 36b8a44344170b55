#include "gpu/simt/host/api/runtime/numbers.hpp"

#include <cstring>

#include "gpu/simt/language/half_bits.hpp"

namespace plumb::simt {

std::size_t bytes_of(cudaDataType_t type) {
  switch (type) {
    case CUDA_R_64F:
      return 8;
    case CUDA_R_32F:
    case CUDA_R_32I:
      return 4;
    case CUDA_R_16F:
    case CUDA_R_16BF:
      return 2;
    case CUDA_R_8I:
    case CUDA_R_8U:
      return 1;
    default:
      return 0;  // not offered
  }
}

namespace {

template <class T>
T at(const void* p, long long i) {
  T value;
  std::memcpy(&value, static_cast<const unsigned char*>(p) + static_cast<std::size_t>(i) * sizeof(T),
              sizeof(T));
  return value;
}
template <class T>
void put(void* p, long long i, T value) {
  std::memcpy(static_cast<unsigned char*>(p) + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof(T));
}

}  // namespace

double load(const void* p, cudaDataType_t type, long long i) {
  switch (type) {
    case CUDA_R_64F:
      return at<double>(p, i);
    case CUDA_R_32F:
      return static_cast<double>(at<float>(p, i));
    case CUDA_R_16F:
      return static_cast<double>(widen<Half>(at<unsigned short>(p, i)));
    case CUDA_R_16BF:
      return static_cast<double>(widen<Brain>(at<unsigned short>(p, i)));
    case CUDA_R_8I:
      return at<signed char>(p, i);
    case CUDA_R_8U:
      return at<unsigned char>(p, i);
    default:
      return at<int>(p, i);
  }
}

void store(void* p, cudaDataType_t type, long long i, double value) {
  switch (type) {
    case CUDA_R_64F:
      return put(p, i, value);
    case CUDA_R_32F:
      return put(p, i, static_cast<float>(value));
    case CUDA_R_16F:
      return put(p, i, narrow<Half>(value));
    case CUDA_R_16BF:
      return put(p, i, narrow<Brain>(value));
    case CUDA_R_8I:
      return put(p, i, static_cast<signed char>(value));
    case CUDA_R_8U:
      return put(p, i, static_cast<unsigned char>(value));
    default:
      return put(p, i, static_cast<int>(value));
  }
}

}  // namespace plumb::simt
