#include "verify/bench/machine.hpp"

#include <dlfcn.h>
#include <omp.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "verify/bench/host_roofs.hpp"
#include "verify/engine/backend/backend.hpp"

#if defined(PLUMB_WITH_CUDA)
#include "gpu/runtime/clocks.hpp"
#include "gpu/runtime/device_info.hpp"
#endif

namespace plumb {
namespace {

// The values of a field of /proc/cpuinfo, one per core.
std::vector<std::string> cpuinfo(const std::string& field) {
  std::vector<std::string> values;
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(field, 0) != 0) continue;
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos && colon + 2 <= line.size()) values.push_back(line.substr(colon + 2));
  }
  return values;
}

// Versions of libraries that are linked in or not, as the build has it: asked by name, so that nothing is linked for it.
void add_linked_libraries(MachineFacts& facts) {
  using Config = char* (*)();
  if (const auto config = reinterpret_cast<Config>(dlsym(RTLD_DEFAULT, "openblas_get_config")))
    facts.emplace_back("OpenBLAS", config());
#if defined(PLUMB_WITH_CUDA)
  using Property = int (*)(int, int*);
  for (const auto& [library, symbol] :
       {std::pair{"cuBLAS", "cublasGetProperty"}, {"cuSPARSE", "cusparseGetProperty"}}) {
    const auto property = reinterpret_cast<Property>(dlsym(RTLD_DEFAULT, symbol));
    int major = 0, minor = 0, patch = 0;
    if (property == nullptr || property(0, &major) != 0 || property(1, &minor) != 0 ||
        property(2, &patch) != 0)
      continue;
    facts.emplace_back(library, fmt::format("{}.{}.{}", major, minor, patch));
  }
#endif
}

}  // namespace

MachineFacts describe_machine(const std::vector<std::string>& libraries, bool with_gpu) {
  MachineFacts facts;
  const std::vector<std::string> models = cpuinfo("model name");
  facts.emplace_back("processor", models.empty() ? "unknown" : models.front());
  facts.emplace_back("cores", std::to_string(sysconf(_SC_NPROCESSORS_ONLN)));
  facts.emplace_back("threads", std::to_string(omp_get_max_threads()));
  facts.emplace_back("vectors", host_vector_unit());
  facts.emplace_back("last-level cache", fmt::format("{} KiB", last_level_cache_bytes() >> 10));
  if (with_gpu) {
#if defined(PLUMB_WITH_CUDA)
    facts.emplace_back("device", describe(device_info()));
    if (const std::string driver = driver_version(); !driver.empty()) facts.emplace_back("driver", driver);
#endif
  }
  utsname system{};
  uname(&system);
  facts.emplace_back("system", fmt::format("{} {} {}", system.sysname, system.release, system.machine));
#if defined(__clang__)
  facts.emplace_back("compiler", fmt::format("clang {}", __clang_version__));
#else
  facts.emplace_back("compiler", fmt::format("g++ {}", __VERSION__));
#endif
  for (const std::string& library : libraries) {
    const std::size_t space = library.find(' ');
    facts.emplace_back(library.substr(0, space), space == std::string::npos ? "" : library.substr(space + 1));
  }
  add_linked_libraries(facts);
  double load = 0;
  if (getloadavg(&load, 1) == 1) {
    const bool busy = load > 0.5 * static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
    facts.emplace_back(
        "load",
        fmt::format("{:.1f}{}", load,
                    busy ? " (others are working here: host times and host roofs are disturbed)" : ""));
  }
  const std::time_t now = std::time(nullptr);
  char date[32] = {};
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &utc);
  facts.emplace_back("date", date);
  return facts;
}

std::string clocks_now(bool with_gpu) {
  std::string text;
  double highest = 0;
  for (const std::string& mhz : cpuinfo("cpu MHz")) highest = std::max(highest, std::atof(mhz.c_str()));
  if (highest > 0) text = fmt::format("host {:.0f} MHz", highest);
  if (with_gpu) {
#if defined(PLUMB_WITH_CUDA)
    const DeviceClocks c = device_clocks();
    if (c.sm_mhz > 0) {
      text += fmt::format("{}device {} MHz, memory {} MHz, {} C, {:.0f} W", text.empty() ? "" : "; ",
                          c.sm_mhz, c.memory_mhz, c.temperature_c, c.watts);
    }
#endif
  }
  return text.empty() ? "unknown" : text;
}

void refuse_changed_arithmetic() {
  for (char** e = environ; *e != nullptr; ++e) {
    const std::string entry = *e;
    const std::string variable = entry.substr(0, entry.find('='));
    if (variable == "NVIDIA_TF32_OVERRIDE" || variable.rfind("CUBLAS_EMULAT", 0) == 0) {
      throw Error(fmt::format(
          "unset {}: it changes the vendor's arithmetic, and nothing could be compared with it", variable));
    }
  }
}

}  // namespace plumb
