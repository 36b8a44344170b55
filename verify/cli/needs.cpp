#include "verify/cli/needs.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "verify/engine/operator/entry.hpp"
#include "verify/engine/process/user_files.hpp"
#include "verify/selection/built.hpp"

namespace plumb {

bool rungs_wanted(const std::vector<std::string>& variants) {
  return variants.empty() || !std::all_of(variants.begin(), variants.end(),
                                          [](const std::string& g) { return g.rfind("user/", 0) == 0; });
}

namespace {

// Whether the command judges anything, where it does not only list, describe or explain.
bool judges(const VerifyOptions& o) {
  const bool tells = !o.list.empty() || !o.describe.empty() || !o.explain.empty();
  return !tells &&
         (o.mutants || !o.cases.empty() || !o.matrices.empty() || !o.plugins.empty() || !o.python.empty());
}

}  // namespace

std::string choose_device_of_folder(VerifyOptions& o) {
  if (!o.devices.empty() || o.mutants || o.run.stress != 0 || !o.tools.empty()) return "";
  const std::vector<std::string> files = files_without_gpu();
  if (files.empty()) return "";
  if (!only_files_without_gpu())
    return fmt::format("{}: not judged, since there is no GPU here; --device cpu,simt judges it on the CPU",
                       fmt::join(files, ", "));
  o.devices = {"simt"};
  return "there is no GPU here: kernels in .cu files are judged on the CPU executor, as by --device simt";
}

std::vector<std::string> workers_wanted(const VerifyOptions& o) {
  if (!o.schemata.empty())
    return {"plumb_user_simt_worker"};  // which holds the schemata of kernels, where there are some
  if (!judges(o)) return {};
  const auto named = [&](Device d) {
    return std::find(o.devices.begin(), o.devices.end(), name(d)) != o.devices.end();
  };
  const bool in_folder = !user_files().empty() && !o.mutants;
  const bool folder_alone = (in_folder || !o.python.empty()) && o.variants.empty();
  const bool rungs = o.mutants || (!folder_alone && rungs_wanted(o.variants));
  std::vector<std::string> workers;
  const auto add = [&](bool wanted, const char* of_rungs, const char* of_folder) {
    if (wanted && rungs) workers.emplace_back(of_rungs);
    if (wanted && in_folder) workers.emplace_back(of_folder);
  };
  const bool any = o.devices.empty();  // which means the CPU executor too for mutants alone
  add(named(Device::simt) || (any && o.mutants), "plumb_simt_worker", "plumb_user_simt_worker");
  if (!o.python.empty()) workers.emplace_back("libplumbline.so");
  if (!o.python.empty() && named(Device::simt)) workers.emplace_back("libplumb_simt_ptx.so");
  add(o.run.stress != 0 && (any || named(Device::gpu)), "plumb_stress_worker", "plumb_user_stress_worker");
  return workers;
}

int print_needs(int argc, char** argv) {
  VerifyOptions options;
  if (parse_options(argc, argv, options)) return 0;
  choose_device_of_folder(options);
  for (const std::string& worker : workers_wanted(options)) fmt::print("needs: {}\n", worker);
  return 0;
}

}  // namespace plumb
