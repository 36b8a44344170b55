#include "verify/selection/built.hpp"

#include <fmt/format.h>

#include "reference/cases/case_id.hpp"
#include "reference/core/error.hpp"
#include "verify/engine/backend/backend.hpp"
#include "verify/engine/operator/operators.hpp"
#include "verify/engine/process/manifest.hpp"
#include "verify/selection/selection.hpp"

namespace plumb {

void require_kernels(const std::string& cases, bool simt) {
  const CaseFilter filter(cases);
  std::vector<std::string> missing, built;
  for (const auto& entry : operators()) {
    const std::string op = entry->name();
    const bool here = is_built(op) && (!simt || is_built_for_simt(op));
    if (here)
      built.push_back(op);
    else if (matches_any(filter.operator_globs(), op))
      missing.push_back(op);
  }
  if (missing.empty()) return;
  throw Error(fmt::format(
      "--case names {}, and this program was built with the kernels of {} alone{}: tools/plumb verify builds "
      "what is named, tools/plumb build --all everything",
      fmt::join(missing, ", "), fmt::join(built, ", "), simt ? " for the CPU executor" : ""));
}

void require_mutants(const std::string& cases, bool simt) {
  require_kernels(cases, simt);
  if (!kMutantsBuilt)
    throw Error("this program was built without mutants: tools/plumb verify --mutants builds them");
}

std::vector<std::string> files_without_gpu() {
  std::vector<std::string> names;
  for (const UserFile& f : user_files()) {
    if (f.simt) names.push_back(fmt::format("{}.cu", f.stem));
  }
  if (names.empty() || make_backend(Device::gpu)->why_not().empty()) return {};
  return names;
}

bool only_files_without_gpu() {
  const std::vector<std::string> names = files_without_gpu();
  return !names.empty() && names.size() == user_files().size();
}

}  // namespace plumb
