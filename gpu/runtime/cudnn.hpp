// cuDNN for the vendor's rung of conv2d, found when it is first asked for: neither its headers nor the library need be there where this is
// compiled: the file that PLUMB_CUDNN names, the system's libcudnn.so.9, or what CMake found (PLUMB_CUDNN_LIBRARY: the toolkit's, or Python's
// package). The declarations are those of cudnn_ops.h and cudnn_cnn.h that have been the same since version 7.
#pragma once
#include <cstddef>
#include <string>

#include "reference/core/error.hpp"

namespace plumb {
namespace cudnn {

using Status = int;    // 0: success
using Object = void*;  // a handle or a descriptor

constexpr int kFloat = 0, kDouble = 1;           // cudnnDataType_t
constexpr int kNchw = 0, kCrossCorrelation = 1;  // cudnnTensorFormat_t, cudnnConvolutionMode_t
constexpr int kFmaMath = 3;                      // cudnnMathType_t: no tensor cores, no TF32
constexpr int kAlgorithms = 8;                   // cudnnConvolutionFwdAlgo_t
/// Those from here on transform the operands (FFT, Winograd): another arithmetic.
constexpr int kFirstOfTransforms = 4;

/// cudnnConvolutionFwdAlgoPerf_t.
struct Timed {
  int algorithm;
  Status status;
  float milliseconds;
  std::size_t workspace;
  int determinism, math, reserved[3];
};

/// The functions of the library that are called here, by their names.
struct Library {
  void* loaded = nullptr;
  std::string why_not;  // why there is none

  Status (*cudnnCreate)(Object*) = nullptr;
  Status (*cudnnDestroy)(Object) = nullptr;
  Status (*cudnnSetStream)(Object, void* stream) = nullptr;
  const char* (*cudnnGetErrorString)(Status) = nullptr;
  Status (*cudnnCreateTensorDescriptor)(Object*) = nullptr;
  Status (*cudnnSetTensor4dDescriptorEx)(Object, int type, int n, int c, int h, int w, int of_n, int of_c,
                                         int of_h, int of_w) = nullptr;
  Status (*cudnnDestroyTensorDescriptor)(Object) = nullptr;
  Status (*cudnnCreateFilterDescriptor)(Object*) = nullptr;
  Status (*cudnnSetFilter4dDescriptor)(Object, int type, int format, int k, int c, int r, int s) = nullptr;
  Status (*cudnnDestroyFilterDescriptor)(Object) = nullptr;
  Status (*cudnnCreateConvolutionDescriptor)(Object*) = nullptr;
  Status (*cudnnSetConvolution2dDescriptor)(Object, int pad_h, int pad_w, int stride_h, int stride_w,
                                            int dilation_h, int dilation_w, int mode, int type) = nullptr;
  Status (*cudnnSetConvolutionMathType)(Object, int math) = nullptr;
  Status (*cudnnDestroyConvolutionDescriptor)(Object) = nullptr;
  Status (*cudnnGetConvolutionForwardWorkspaceSize)(Object handle, Object of_x, Object of_f, Object of_sum,
                                                    Object of_y, int algorithm, std::size_t* bytes) = nullptr;
  Status (*cudnnFindConvolutionForwardAlgorithmEx)(Object handle, Object of_x, const void* x, Object of_f,
                                                   const void* f, Object of_sum, Object of_y, void* y,
                                                   int asked, int* given, Timed* timed, void* space,
                                                   std::size_t bytes) = nullptr;
  Status (*cudnnConvolutionForward)(Object handle, const void* alpha, Object of_x, const void* x, Object of_f,
                                    const void* f, Object of_sum, int algorithm, void* space,
                                    std::size_t bytes, const void* beta, Object of_y, void* y) = nullptr;
};

/// Opens the library of this file, and never closes it. What it is not, or lacks, stands in why_not.
[[nodiscard]] Library open(const char* file);
/// Opened when it is first asked for, and never closed: the file that PLUMB_CUDNN names in the environment, else the system's
/// libcudnn.so.9, else the one that was found when this was configured (CMake's PLUMB_CUDNN_LIBRARY).
[[nodiscard]] const Library& library();

inline void check(Status status, const char* call, const char* file, int line) {
  if (status != 0) throw input_error(file, line, call, library().cudnnGetErrorString(status));
}
#define PLUMB_CUDNN_CALL(function, ...) \
  ::plumb::cudnn::check(::plumb::cudnn::library().function(__VA_ARGS__), #function, __FILE__, __LINE__)

/// Owns an object of the library.
class Owned {
 public:
  using Create = Status (*Library::*)(Object*);
  using Destroy = Status (*Library::*)(Object);
  Owned(Create create, Destroy destroy, const char* what) : destroy_(destroy) {
    check((library().*create)(&object_), what, __FILE__, __LINE__);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { (void)(library().*destroy_)(object_); }
  [[nodiscard]] Object get() const { return object_; }

 private:
  Destroy destroy_;
  Object object_ = nullptr;
};
struct Handle : Owned {
  Handle() : Owned(&Library::cudnnCreate, &Library::cudnnDestroy, "cudnnCreate") {}
};
struct Tensor : Owned {
  Tensor()
      : Owned(&Library::cudnnCreateTensorDescriptor, &Library::cudnnDestroyTensorDescriptor,
              "cudnnCreateTensorDescriptor") {}
};
struct Filters : Owned {
  Filters()
      : Owned(&Library::cudnnCreateFilterDescriptor, &Library::cudnnDestroyFilterDescriptor,
              "cudnnCreateFilterDescriptor") {}
};
struct Convolution : Owned {
  Convolution()
      : Owned(&Library::cudnnCreateConvolutionDescriptor, &Library::cudnnDestroyConvolutionDescriptor,
              "cudnnCreateConvolutionDescriptor") {}
};

}  // namespace cudnn
}  // namespace plumb
