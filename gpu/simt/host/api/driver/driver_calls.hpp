// What the driver's calls share: its results and addresses beside the runtime's.
#pragma once
#include "gpu/simt/host/api/driver/driver.hpp"

namespace plumb::simt {

inline CUresult result_of(cudaError_t e) { return static_cast<CUresult>(e); }
inline void* pointer(CUdeviceptr p) { return reinterpret_cast<void*>(p); }

}  // namespace plumb::simt
