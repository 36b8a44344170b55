#include "gpu/simt/ptx/library/simt_ptx.h"

#include <exception>
#include <nlohmann/json.hpp>
#include <string>

#include "gpu/simt/executor.hpp"
#include "gpu/simt/host/api/runtime/kernels.hpp"
#include "gpu/simt/host/ptx_modules.hpp"
#include "gpu/simt/host/report/report_files.hpp"

using nlohmann::json;
using plumb::simt::PtxModule;

namespace {

std::string last_error, last_kernels, last_findings;

const PtxModule& module_of(void* m) { return *static_cast<const PtxModule*>(m); }

json described(const plumb::simt::ptx::Parameter& p) {
  return {{"name", p.name},     {"type", p.type},          {"bytes", p.bytes},
          {"offset", p.offset}, {"pointer", p.is_pointer}, {"read", p.is_read}};
}

}  // namespace

int plumb_ptx_begin(const char* options) {
  try {
    const json said = options != nullptr ? json::parse(options) : json::object();
    plumb::simt::Options o;
    o.seed = said.value("seed", std::uint64_t{0});
    o.chip = said.value("chip", 90);
    o.check = said.value("check", true);
    o.strict = said.value("strict", false);
    o.max_threads = said.value("max_threads", std::int64_t{0});
    plumb::simt::begin_run(o);
    return 0;
  } catch (const std::exception& e) {
    last_error = e.what();
    return 2;
  }
}

const char* plumb_ptx_error() { return last_error.c_str(); }

void* plumb_ptx_load(const char* text, const char* name) {
  const plumb::simt::LoadedPtx loaded = plumb::simt::load_ptx(text, name != nullptr ? name : "");
  last_error = loaded.error;
  return const_cast<PtxModule*>(loaded.module);
}

const char* plumb_ptx_kernels(void* module) {
  json all = json::array();
  const auto& table = *module_of(module).table;
  for (std::size_t i = 0; i < table.kernel_count; ++i) {
    const auto& k = table.kernels[i];
    json parameters = json::array();
    for (std::size_t p = 0; p < k.count; ++p) parameters.push_back(described(k.parameters[p]));
    all.push_back({{"name", k.name}, {"threads", k.threads}, {"parameters", std::move(parameters)}});
  }
  return (last_kernels = all.dump()).c_str();
}

void* plumb_ptx_global(void* module, const char* name, std::size_t* bytes) {
  const auto* const g = plumb::simt::global_of(module_of(module), name);
  if (g == nullptr) return nullptr;
  if (bytes != nullptr) *bytes = g->bytes;
  return g->data;
}

void plumb_ptx_array(const char* name, const void* data, std::size_t bytes, int initialised, int writable) {
  plumb::simt::add_array(name, data, bytes, initialised != 0, writable != 0);
}
void plumb_ptx_remove(const void* data) { plumb::simt::remove_array(data); }

int plumb_ptx_launch(void* module, const char* name, const plumb_ptx_shape* s, void** arguments) {
  const auto* const kernel = plumb::simt::kernel_of(module_of(module), name);
  if (kernel == nullptr) {
    last_error = std::string("the module has no kernel '") + name + "'";
    return 2;
  }
  if (s->shared_bytes > 0)
    (void)plumb::simt::allow_dynamic_shared(kernel->address, static_cast<int>(s->shared_bytes));
  const cudaError_t e = plumb::simt::launch_kernel(
      kernel->address, dim3(s->grid[0], s->grid[1], s->grid[2]), dim3(s->block[0], s->block[1], s->block[2]),
      arguments, s->shared_bytes, nullptr, s->cooperative != 0, {module_of(module).name.c_str(), 0},
      {s->cluster[0], s->cluster[1], s->cluster[2]});
  last_error = plumb::simt::shortage();
  if (const std::int64_t threads = plumb::simt::threads_refused(); threads > 0)
    last_error = "too large for the CPU executor: " + std::to_string(threads) + " threads";
  if (!last_error.empty()) return 3;
  return e != cudaSuccess || plumb::simt::stopped() ? 1 : 0;
}

const char* plumb_ptx_findings() {
  json all = json::array();
  for (const plumb::simt::Finding& f : plumb::simt::findings_so_far()) {
    all.push_back(plumb::simt::to_json(f));
    all.back()["described"] = f.describe();
  }
  return (last_findings = all.dump()).c_str();
}
