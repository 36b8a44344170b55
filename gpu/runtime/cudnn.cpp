#include "gpu/runtime/cudnn.hpp"

#include <dlfcn.h>

#include <cstdlib>

namespace plumb {
namespace cudnn {
namespace {

template <class F>
void find(Library& of, const char* name, F*& function) {
  function = reinterpret_cast<F*>(dlsym(of.loaded, name));
  if (function == nullptr && of.why_not.empty()) of.why_not = std::string("cuDNN has no ") + name;
}

void find_all(Library& of) {
#define PLUMB_FIND(name) find(of, #name, of.name)
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

Library open_installed() {
  const char* const named = std::getenv("PLUMB_CUDNN");
  if (named != nullptr && *named != '\0') return open(named);
  Library found = open("libcudnn.so.9");
#ifdef PLUMB_CUDNN_LIBRARY
  if (found.loaded == nullptr) found = open(PLUMB_CUDNN_LIBRARY);
#endif
  return found;
}

}  // namespace

Library open(const char* file) {
  Library of;
  of.loaded = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (of.loaded != nullptr)
    find_all(of);
  else
    of.why_not = std::string("no cuDNN (PLUMB_CUDNN names its file): ") + dlerror();
  return of;
}

const Library& library() {
  static const Library* const opened = new Library(open_installed());
  return *opened;
}

}  // namespace cudnn
}  // namespace plumb
