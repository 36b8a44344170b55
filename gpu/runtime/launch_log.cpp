// The log of launches and the runtime's answers about kernels.
#include "gpu/runtime/launch_log.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "gpu/runtime/check.hpp"

namespace plumb {
namespace {

bool g_on = false;

std::vector<LaunchedKernel>& log() {
  static std::vector<LaunchedKernel> kernels;
  return kernels;
}

// "plumb::(anonymous namespace)::spmv_merge<float, 256>(...)" as "spmv_merge<float, 256>".
std::string short_name(const char* mangled) {
  int status = 0;
  char* plain = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  std::string name = status == 0 ? plain : mangled;
  std::free(plain);
  static constexpr const char kUnnamed[] = "(anonymous namespace)::";
  for (std::size_t at; (at = name.find(kUnnamed)) != std::string::npos;) name.erase(at, sizeof kUnnamed - 1);
  if (const std::size_t arguments = name.find('('); arguments != std::string::npos) name.erase(arguments);
  const std::size_t templates = name.find('<');
  if (const std::size_t space = name.rfind(' ', templates); space != std::string::npos)
    name.erase(0, space + 1);
  if (const std::size_t scope = name.rfind("::", name.find('<')); scope != std::string::npos)
    name.erase(0, scope + 2);
  return name;
}

}  // namespace

void start_launch_log() {
  log().clear();
  g_on = true;
}

std::vector<LaunchedKernel> take_launch_log() {
  g_on = false;
  return std::exchange(log(), {});
}

bool launch_log_on() { return g_on; }

void log_launch(const void* kernel, dim3 grid, dim3 block, std::size_t dynamic_shared_bytes) {
  const auto known = [&](const LaunchedKernel& k) { return k.function == kernel; };
  if (std::any_of(log().begin(), log().end(), known)) return;
  cudaFuncAttributes attributes{};
  // a log must not fail what it watches: unknown is 0, or no name
  if (cudaFuncGetAttributes(&attributes, kernel) != cudaSuccess) ignore_cuda(cudaGetLastError());
  LaunchedKernel& k = log().emplace_back();
  k.function = kernel;
#if CUDART_VERSION >= 12030
  const char* mangled = nullptr;
  if (cudaFuncGetName(&mangled, kernel) == cudaSuccess) {
    k.name = short_name(mangled);
  } else {
    ignore_cuda(cudaGetLastError());
  }
#endif
  k.registers = attributes.numRegs;
  k.shared_bytes = static_cast<int>(attributes.sharedSizeBytes + dynamic_shared_bytes);
  k.local_bytes = static_cast<int>(attributes.localSizeBytes);
  k.threads = static_cast<int>(block.x * block.y * block.z);
  k.blocks = static_cast<std::int64_t>(grid.x) * grid.y * grid.z;
}

}  // namespace plumb
