// The device side of the program infer_simt: the CPU executor.
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
  return code == kOk && !findings.empty() ? static_cast<int>(kFailed) : code;
}

}  // namespace plumb
