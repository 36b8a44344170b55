#include "gpu/runtime/cudnn.hpp"

#include <dlfcn.h>

#include <cstdlib>

namespace plumb {
namespace cudnn {
namespace {

class Opened : public Library {
 public:
  Opened() {
    const char* const named = std::getenv("PLUMB_CUDNN");
    if (named != nullptr && *named != '\0') {
      open(named);
    } else {
      open("libcudnn.so.9");
#ifdef PLUMB_CUDNN_LIBRARY
      if (loaded == nullptr) open(PLUMB_CUDNN_LIBRARY);
#endif
    }
    if (loaded != nullptr) find_all();
  }

 private:
  void open(const char* file) {
    loaded = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    why_not = loaded != nullptr ? "" : std::string("no cuDNN (PLUMB_CUDNN names its file): ") + dlerror();
  }
  template <class F>
  void find(const char* name, F*& function) {
    function = reinterpret_cast<F*>(dlsym(loaded, name));
    if (function == nullptr) why_not = std::string("cuDNN has no ") + name;
  }
  void find_all() {
#define PLUMB_FIND(name) find(#name, name)
    PLUMB_FIND(cudnnCreate), PLUMB_FIND(cudnnDestroy), PLUMB_FIND(cudnnSetStream);
    PLUMB_FIND(cudnnGetErrorString);
    PLUMB_FIND(cudnnCreateTensorDescriptor), PLUMB_FIND(cudnnSetTensor4dDescriptorEx);
    PLUMB_FIND(cudnnDestroyTensorDescriptor), PLUMB_FIND(cudnnCreateFilterDescriptor);
    PLUMB_FIND(cudnnSetFilter4dDescriptor), PLUMB_FIND(cudnnDestroyFilterDescriptor);
    PLUMB_FIND(cudnnCreateConvolutionDescriptor), PLUMB_FIND(cudnnSetConvolution2dDescriptor);
    PLUMB_FIND(cudnnSetConvolutionMathType), PLUMB_FIND(cudnnDestroyConvolutionDescriptor);
    PLUMB_FIND(cudnnGetConvolutionForwardWorkspaceSize), PLUMB_FIND(cudnnFindConvolutionForwardAlgorithmEx);
    PLUMB_FIND(cudnnConvolutionForward);
#undef PLUMB_FIND
  }
};

}  // namespace

const Library& library() {
  static const Opened* const opened = new Opened;
  return *opened;
}

}  // namespace cudnn
}  // namespace plumb
