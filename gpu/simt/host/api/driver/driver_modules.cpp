#include "gpu/simt/host/api/driver/driver_modules.hpp"

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "gpu/simt/host/api/driver/driver_calls.hpp"
#include "gpu/simt/host/api/runtime/operations.hpp"
#include "gpu/simt/host/ptx_modules.hpp"

using plumb::simt::Here;
using plumb::simt::pointer;
using plumb::simt::PtxModule;
using plumb::simt::result_of;
using plumb::simt::ptx::Global;
using plumb::simt::ptx::Kernel;

namespace {

const PtxModule& module_of(CUmodule m) { return *reinterpret_cast<const PtxModule*>(m); }
const Kernel& kernel_of(CUfunction f) { return *reinterpret_cast<const Kernel*>(f); }
CUmodule handle_of(const PtxModule* m) { return reinterpret_cast<CUmodule>(const_cast<PtxModule*>(m)); }
CUfunction handle_of(const Kernel* k) { return reinterpret_cast<CUfunction>(const_cast<Kernel*>(k)); }

CUresult load(CUmodule* module, const std::string& text, const std::string& name) {
  plumb::simt::begin_by_itself();
  const plumb::simt::LoadedPtx loaded = plumb::simt::load_ptx(text, name);
  if (loaded.module == nullptr) {
    std::fprintf(stderr, "%s\n", loaded.error.c_str());
    return CUDA_ERROR_INVALID_PTX;
  }
  *module = handle_of(loaded.module);
  return CUDA_SUCCESS;
}

CUresult load_image(CUmodule* module, const void* image, const std::string& name, Here here) {
  if (module == nullptr || image == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!plumb::simt::is_ptx(image)) {
    plumb::simt::call_not_offered("a module of machine code (cubin or fatbin); PTX is offered", here);
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  return load(module, static_cast<const char*>(image), name);
}

// Pointers to the arguments in a buffer that has them as the kernel's parameters lie.
std::vector<void*> in_buffer(const Kernel& kernel, void** extra) {
  std::vector<void*> out;
  for (; extra != nullptr && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra != CU_LAUNCH_PARAM_BUFFER_POINTER) continue;
    for (std::size_t i = 0; i < kernel.count; ++i)
      out.push_back(static_cast<unsigned char*>(extra[1]) + kernel.parameters[i].offset);
  }
  return out;
}

CUresult launch(CUfunction function, const cudaLaunchConfig_t& config, void** arguments, void** extra,
                Here here) {
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const Kernel& kernel = kernel_of(function);
  std::vector<void*> buffer;
  if (arguments == nullptr) {
    buffer = in_buffer(kernel, extra);
    if (buffer.size() != kernel.count) return CUDA_ERROR_INVALID_VALUE;
    arguments = buffer.data();
  }
  return result_of(plumb::simt::launch_configured(kernel.address, {&config, here}, arguments));
}

}  // namespace

CUresult cuModuleLoad(CUmodule* module, const char* file, Here here) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return CUDA_ERROR_FILE_NOT_FOUND;
  std::ostringstream text;
  text << in.rdbuf();
  return load_image(module, text.str().c_str(), file, here);
}
CUresult cuModuleLoadData(CUmodule* module, const void* image, Here here) {
  return load_image(module, image, "", here);
}
CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned, CUjit_option*, void**, Here here) {
  return load_image(module, image, "", here);
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  if (function == nullptr || module == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Kernel* const k = plumb::simt::kernel_of(module_of(module), name);
  if (k == nullptr) return CUDA_ERROR_NOT_FOUND;
  *function = handle_of(k);
  return CUDA_SUCCESS;
}
CUresult cuModuleGetGlobal(CUdeviceptr* p, std::size_t* bytes, CUmodule module, const char* name) {
  if (module == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Global* const g = plumb::simt::global_of(module_of(module), name);
  if (g == nullptr) return CUDA_ERROR_NOT_FOUND;
  if (p != nullptr) *p = reinterpret_cast<CUdeviceptr>(g->data);
  if (bytes != nullptr) *bytes = g->bytes;
  return CUDA_SUCCESS;
}
CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule module) {
  *count = static_cast<unsigned>(module_of(module).table->kernel_count);
  return CUDA_SUCCESS;
}

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option*, void**, unsigned,
                           CUlibraryOption*, void**, unsigned, Here here) {
  return load_image(reinterpret_cast<CUmodule*>(library), code, "", here);
}
CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* file, CUjit_option*, void**, unsigned,
                               CUlibraryOption*, void**, unsigned, Here here) {
  return cuModuleLoad(reinterpret_cast<CUmodule*>(library), file, here);
}
CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return cuModuleGetFunction(reinterpret_cast<CUfunction*>(kernel), reinterpret_cast<CUmodule>(library),
                             name);
}
CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  *module = reinterpret_cast<CUmodule>(library);
  return CUDA_SUCCESS;
}
CUresult cuLibraryGetGlobal(CUdeviceptr* p, std::size_t* bytes, CUlibrary library, const char* name) {
  return cuModuleGetGlobal(p, bytes, reinterpret_cast<CUmodule>(library), name);
}
CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  *function = reinterpret_cast<CUfunction>(kernel);
  return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) return CUDA_SUCCESS;
  return result_of(plumb::simt::allow_dynamic_shared(kernel_of(function).address, value));
}
CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const Kernel& k = kernel_of(function);
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = k.threads > 0 ? k.threads : 1024;
      break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = 32;
      break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = 90;
      break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = plumb::simt::dynamic_shared_of(k.address);
      break;
    default:
      *value = 0;
  }
  return CUDA_SUCCESS;
}
CUresult cuFuncGetName(const char** name, CUfunction function) {
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *name = kernel_of(function).name;
  return CUDA_SUCCESS;
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction, int threads,
                                                     std::size_t shared_bytes) {
  return result_of(plumb::simt::resident_blocks_of(blocks, threads, shared_bytes));
}

CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared_bytes, CUstream stream, void** arguments, void** extra,
                        Here here) {
  return launch(function, {dim3(gx, gy, gz), dim3(bx, by, bz), shared_bytes, stream, nullptr, 0}, arguments,
                extra, here);
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* c, CUfunction function, void** arguments, void** extra,
                          Here here) {
  std::vector<cudaLaunchAttribute> attributes;
  for (unsigned i = 0; i < c->numAttrs; ++i) attributes.push_back({c->attrs[i].id, c->attrs[i].value});
  return launch(function,
                {dim3(c->gridDimX, c->gridDimY, c->gridDimZ), dim3(c->blockDimX, c->blockDimY, c->blockDimZ),
                 c->sharedMemBytes, c->hStream, attributes.data(), c->numAttrs},
                arguments, extra, here);
}
CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                   unsigned by, unsigned bz, unsigned shared_bytes, CUstream stream,
                                   void** arguments, Here here) {
  cudaLaunchAttribute cooperative{cudaLaunchAttributeCooperative, {}};
  cooperative.val.cooperative = 1;
  return launch(function, {dim3(gx, gy, gz), dim3(bx, by, bz), shared_bytes, stream, &cooperative, 1},
                arguments, nullptr, here);
}
