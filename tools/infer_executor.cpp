// The device side of the program infer_simt: the CPU executor.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "gpu/simt/executor.hpp"
#include "tools/infer.hpp"
#include "tools/terminal.hpp"

namespace plumb {

bool has_executor() { return true; }

namespace {

// Ends the run and prints what was found. Whether any of it is more than a note.
bool tell_findings() {
  const std::vector<simt::Finding> findings = simt::end_run();
  for (const simt::Finding& finding : findings) std::fprintf(stderr, "%s\n", finding.describe().c_str());
  return std::any_of(findings.begin(), findings.end(), [](const auto& f) { return !f.is_note; });
}

}  // namespace

int watched(const std::function<int()>& run) {
  simt::begin_run({});
  int code = kOk;
  try {
    code = run();
  } catch (...) {  // a finding that stops the run is the reason of the error that follows
    tell_findings();
    throw;
  }
  return tell_findings() && code == kOk ? static_cast<int>(kFailed) : code;
}

}  // namespace plumb
