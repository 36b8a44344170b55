// Modules of PTX by the driver's API: loaded, asked for kernels and variables, launched. Machine code cannot be had: a program that loads
// some ends with exit code 3.
#pragma once
#include <cstddef>

#include "gpu/simt/host/api/driver/driver.hpp"
#include "gpu/simt/host/api/runtime/kernels.hpp"

using CUlibrary = struct CUlib_st*;
using CUkernel = struct CUkern_st*;
enum CUlibraryOption {
  CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE = 0,
  CU_LIBRARY_BINARY_IS_PRESERVED = 1
};
using CUlaunchAttributeID = cudaLaunchAttributeID;
using CUlaunchAttributeValue = cudaLaunchAttributeValue;
constexpr CUlaunchAttributeID CU_LAUNCH_ATTRIBUTE_IGNORE = cudaLaunchAttributeIgnore,
                              CU_LAUNCH_ATTRIBUTE_COOPERATIVE = cudaLaunchAttributeCooperative,
                              CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = cudaLaunchAttributeClusterDimension,
                              CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE =
                                  cudaLaunchAttributeClusterSchedulingPolicyPreference,
                              CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION =
                                  cudaLaunchAttributeProgrammaticStreamSerialization;
struct CUlaunchConfig {
  unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
  CUstream hStream;
  CUlaunchAttribute* attrs;
  unsigned numAttrs;
};

/// Errors: CUDA_ERROR_INVALID_PTX where the text is none, CUDA_ERROR_FILE_NOT_FOUND.
CUresult cuModuleLoad(CUmodule* module, const char* file, PLUMB_SIMT_HERE);
CUresult cuModuleLoadData(CUmodule* module, const void* image, PLUMB_SIMT_HERE);
CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned options, CUjit_option* names,
                            void** values, PLUMB_SIMT_HERE);
inline CUresult cuModuleUnload(CUmodule) { return CUDA_SUCCESS; }
/// Errors: CUDA_ERROR_NOT_FOUND.
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name);
CUresult cuModuleGetGlobal(CUdeviceptr* p, std::size_t* bytes, CUmodule module, const char* name);
CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule module);

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option* names, void** values,
                           unsigned options, CUlibraryOption* library_names, void** library_values,
                           unsigned library_options, PLUMB_SIMT_HERE);
CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* file, CUjit_option* names, void** values,
                               unsigned options, CUlibraryOption* library_names, void** library_values,
                               unsigned library_options, PLUMB_SIMT_HERE);
inline CUresult cuLibraryUnload(CUlibrary) { return CUDA_SUCCESS; }
CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name);
CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library);
CUresult cuLibraryGetGlobal(CUdeviceptr* p, std::size_t* bytes, CUlibrary library, const char* name);
CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel);

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value);
CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function);
CUresult cuFuncGetName(const char** name, CUfunction function);
inline CUresult cuFuncSetCacheConfig(CUfunction, CUfunc_cache) { return CUDA_SUCCESS; }
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads,
                                                     std::size_t shared_bytes);

/// Errors: CUDA_ERROR_INVALID_VALUE where `arguments` and `extra` are both null and the kernel has parameters; else as cudaLaunchKernel.
CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared_bytes, CUstream stream, void** arguments, void** extra,
                        PLUMB_SIMT_HERE);
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** arguments, void** extra,
                          PLUMB_SIMT_HERE);
CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                   unsigned by, unsigned bz, unsigned shared_bytes, CUstream stream,
                                   void** arguments, PLUMB_SIMT_HERE);
