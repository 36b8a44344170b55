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
  std::set<std::string> strangers;
  for (const std::string& v : user_registered) {
    if (user_expected.count(v) == 0) strangers.insert(v);
  }
  for (const std::string& w : user_expected) {
    if (user_registered.count(w) != 0) continue;
    const std::string stem = w.substr(w.find('/') + 1);
    defects.push_back(fmt::format(
        "{0} of PLUMB_EXTRA_KERNELS was compiled but registered no variant of that name; it needs, at namespace scope,\n"
        "    const plumb::Register<plumb::Spmv, float, plumb::Space::host> f32{{\"{0}\", run}};\n"
        "for an operator of verify/operators.hpp, the name equal to the file's{1}",
        stem, strangers.empty() ? "" : fmt::format(" (registered without a file: {})", fmt::join(strangers, ", "))));
  }
  for (const std::string& v : strangers) {
    defects.push_back(fmt::format("{} registered itself, but PLUMB_EXTRA_KERNELS holds no file of that name: rename the variant or the file", v));
  }
  return defects;
}

}  // namespace plumb
