// A program that loads a module of PTX by the driver's API: kernels.ptx, by its text and by its file.
#include <cuda.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#define MUST(call)                                                \
  if (const CUresult e = call; e != CUDA_SUCCESS) {               \
    const char* name = nullptr;                                   \
    cuGetErrorName(e, &name);                                     \
    std::printf("%s: %s\n", #call, name != nullptr ? name : "?"); \
    return 1;                                                     \
  }

int main(int count, char** words) {
  if (count < 2) return 2;
  std::ifstream file(words[1]);
  std::ostringstream text;
  text << file.rdbuf();
  CUdevice device;
  CUcontext context;
  MUST(cuInit(0));
  MUST(cuDeviceGet(&device, 0));
  MUST(cuCtxCreate(&context, 0, device));
  CUmodule module;
  MUST(cuModuleLoadData(&module, text.str().c_str()));
  CUfunction reversed, none;
  MUST(cuModuleGetFunction(&reversed, module, "reversed"));
  if (cuModuleGetFunction(&none, module, "nothing") != CUDA_ERROR_NOT_FOUND) return 1;
  CUdeviceptr x, y;
  int host[64];
  for (int i = 0; i < 64; ++i) host[i] = i;
  MUST(cuMemAlloc(&x, sizeof host));
  MUST(cuMemAlloc(&y, sizeof host));
  MUST(cuMemcpyHtoD(x, host, sizeof host));
  void* arguments[] = {&x, &y};
  MUST(cuLaunchKernel(reversed, 1, 1, 1, 64, 1, 1, sizeof host, nullptr, arguments, nullptr));
  MUST(cuMemcpyDtoH(host, y, sizeof host));
  for (int i = 0; i < 64; ++i)
    if (host[i] != 63 - i) return 1;

  CUdeviceptr counter;
  std::size_t bytes = 0;
  MUST(cuModuleGetGlobal(&counter, &bytes, module, "counter"));
  const int start = 40;
  MUST(cuMemcpyHtoD(counter, &start, sizeof start));
  CUlibrary library;
  CUkernel kernel;
  CUfunction counts;
  MUST(cuLibraryLoadFromFile(&library, words[1], nullptr, nullptr, 0, nullptr, nullptr, 0));
  MUST(cuLibraryGetKernel(&kernel, library, "counts"));
  MUST(cuKernelGetFunction(&counts, kernel));
  MUST(cuModuleGetFunction(&counts, module, "counts"));
  struct {
    CUdeviceptr out;
  } packed{y};
  std::size_t size = sizeof packed;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  MUST(cuLaunchKernel(counts, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra));
  MUST(cuMemcpyDtoH(host, y, 32 * sizeof(int)));
  if (host[31] != 42) return 1;

  if (count > 2 && std::strcmp(words[2], "short") == 0) {
    CUdeviceptr z;
    MUST(cuMemAlloc(&z, 4));
    arguments[1] = &z;
    MUST(cuLaunchKernel(reversed, 1, 1, 1, 64, 1, 1, sizeof host, nullptr, arguments, nullptr));
  }
  if (count > 2 && std::strcmp(words[2], "cubin") == 0)
    MUST(cuModuleLoadData(&module,
                          "\x7f"
                          "ELF"));
  MUST(cuModuleUnload(module));
  std::printf("right\n");
  return 0;
}
