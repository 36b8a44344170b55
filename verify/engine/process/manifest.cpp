#include "verify/engine/process/manifest.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "reference/arithmetic/fp.hpp"
#include "verify/engine/process/worker.hpp"

#include "verify/engine/operator/operators.hpp"

namespace plumb {

std::vector<UserFile>& user_files() {
  static std::vector<UserFile> all;
  return all;
}

bool is_built(const std::string& op) {
  return std::any_of(kManifest.begin(), kManifest.end(),
                     [&](const ManifestLine& line) { return line.built && op == line.op; });
}

bool is_built_for_simt(const std::string& op) {
  return std::none_of(kSimtManifest.begin(), kSimtManifest.end(),
                      [&](const SimtManifestLine& line) { return !line.built && op == line.op; });
}

std::vector<std::string> user_defects(bool UserFile::*in, const std::set<std::string>& registered) {
  std::vector<std::string> defects;
  std::set<std::string> expected, missing;
  for (const UserFile& f : user_files()) {
    if (!(f.*in)) continue;
    expected.insert(fmt::format("user/{}", f.stem));
    if (registered.count(fmt::format("user/{}", f.stem)) == 0) missing.insert(f.stem);
  }
  std::vector<std::string> strangers;
  std::set_difference(registered.begin(), registered.end(), expected.begin(), expected.end(),
                      std::back_inserter(strangers));
  const char* const space = in == &UserFile::here ? "host" : "device";
  for (const std::string& stem : missing) {
    defects.push_back(fmt::format(
        "{0} of --extra was compiled but registered no variant of that name; it needs, at namespace scope,\n"
        "    const plumb::Register<plumb::Spmv, float, plumb::Space::{2}> f32{{\"{0}\", run}};\n"
        "for an operator of verify/operators.hpp, the name equal to the file's{1}",
        stem,
        strangers.empty() ? "" : fmt::format(" (registered without a file: {})", fmt::join(strangers, ", ")),
        space));
  }
  for (const std::string& v : strangers) {
    defects.push_back(fmt::format(
        "{} registered itself, but the folder of --extra holds no file of that name: rename the variant or "
        "the file",
        v));
  }
  return defects;
}

std::vector<std::string> manifest_defects() {
  std::set<std::string> expected, registered, of_user;
  for (const ManifestLine& line : kManifest) {
    if (line.built) expected.insert(fmt::format("{}|{}", line.op, line.variant));
  }
  for (const auto& entry : operators()) {
    for (const VariantInfo& v : entry->variants(Device::gpu)) {
      if (v.mutant) continue;
      if (v.name.rfind("user/", 0) == 0)
        of_user.insert(v.name);
      else
        registered.insert(fmt::format("{}|{}", v.op, v.name));
    }
  }
  std::vector<std::string> defects;
  for (const std::string& e : expected) {
    if (registered.count(e) != 0) continue;
    defects.push_back(
        fmt::format("{} was compiled but did not register itself under its file's name (or its operator "
                    "is not in verify/operators.hpp)",
                    e));
  }
  for (const std::string& r : registered) {
    if (expected.count(r) != 0) continue;
    defects.push_back(fmt::format("{} registered itself, but no file of that name was compiled", r));
  }
  for (std::string& d : user_defects(&UserFile::here, of_user)) defects.push_back(std::move(d));
  return defects;
}

bool harness_is_broken() {
  std::vector<std::string> defects = manifest_defects();
  if (!arithmetic_self_test())
    defects.push_back(
        "this build's arithmetic fails the self-test: compensated sums or NaN comparisons are broken");
  for (const std::string& d : defects) fmt::print(stderr, "broken harness: {}\n", d);
  return !defects.empty();
}

}  // namespace plumb
