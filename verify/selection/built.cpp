#include "verify/selection/built.hpp"

#include <fmt/format.h>

#include "reference/core/case_id.hpp"
#include "reference/core/error.hpp"
#include "verify/engine/backend.hpp"
#include "verify/engine/manifest.hpp"
#include "verify/engine/operators.hpp"
#include "verify/selection/selection.hpp"

namespace plumb {

void require_kernels(const std::string& cases) {
  const CaseFilter filter(cases);
  std::vector<std::string> missing, built;
  for (const auto& entry : operators()) {
    const bool named = matches_any(filter.operator_globs(), entry->name());
    if (is_built(entry->name()))
      built.push_back(entry->name());
    else if (named)
      missing.push_back(entry->name());
  }
  if (missing.empty()) return;
  throw Error(
      fmt::format("--case names {}, and this program was built with the kernels of {} alone: tools/plumb "
                  "verify builds them, tools/plumb build those of all operators",
                  fmt::join(missing, ", "), fmt::join(built, ", ")));
}

void require_mutants(const std::string& cases) {
  require_kernels(cases);
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
