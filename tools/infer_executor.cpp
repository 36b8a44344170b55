// The device side of the program infer_simt: the CPU executor.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "gpu/simt/executor.hpp"
#include "tools/infer.hpp"
#include "tools/terminal.hpp"

namespace plumb {

bool has_executor() { return true; }

int watched(const std::function<int()>& run) {
  simt::begin_run({});
  const int code = run();
  const std::vector<simt::Finding> findings = simt::end_run();
  for (const simt::Finding& finding : findings) std::fprintf(stderr, "%s\n", finding.describe().c_str());
  const bool any = std::any_of(findings.begin(), findings.end(), [](const auto& f) { return !f.is_note; });
  return code == kOk && any ? static_cast<int>(kFailed) : code;
}

}  // namespace plumb
