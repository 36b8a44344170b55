#include "verify/engine/manifest.hpp"

#include <set>

#include <fmt/format.h>

#include "verify/engine/worker.hpp"

#include "manifest.inc"

namespace plumb {

std::vector<std::string> manifest_defects() {
  std::vector<std::string> defects;
  std::set<std::string> expected, user_expected, registered;
  for (const ManifestLine& line : kManifest) {
    if (line.op[0] == '\0') continue;
    (line.op[0] == '*' ? user_expected : expected).insert(line.op[0] == '*' ? line.variant : fmt::format("{}|{}", line.op, line.variant));
  }
  std::set<std::string> user_registered;
  for (const auto& entry : operators()) {
    for (const VariantInfo& v : entry->variants(Device::gpu)) {
      if (v.mutant) continue;
      if (v.name.rfind("user/", 0) == 0) {
        user_registered.insert(v.name);
      } else {
        registered.insert(fmt::format("{}|{}", v.op, v.name));
      }
    }
  }
  const auto report = [&](const std::set<std::string>& want, const std::set<std::string>& have) {
    for (const std::string& w : want) {
      if (have.count(w) == 0) {
        defects.push_back(fmt::format("{} was compiled but did not register itself under its file's name (or its operator is not in verify/operators.hpp)", w));
      }
    }
    for (const std::string& h : have) {
      if (want.count(h) == 0) defects.push_back(fmt::format("{} registered itself, but no file of that name was compiled", h));
    }
  };
  report(expected, registered);
  report(user_expected, user_registered);
  return defects;
}

}  // namespace plumb
