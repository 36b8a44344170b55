#include "gpu/simt/race/calls.hpp"

#include <fmt/core.h>
#include <unwind.h>

#include <algorithm>
#include <vector>

#include "gpu/simt/race/symbols.hpp"

namespace plumb::simt {

namespace {

struct Unwound {
  Calls calls;
  std::size_t count = 0;
};

bool is_of_program(const Place& p) {
  return p.line != 0 && !is_ours(p.file) && p.file.find("gpu/simt/") == std::string::npos;
}

// A line for each function of the program's, the innermost first.
std::vector<std::string> lines_of(const Calls& calls) {
  std::vector<std::uintptr_t> inside;  // the calls themselves
  for (const std::uintptr_t a : calls.at)
    if (a != 0) inside.push_back(a - 1);
  auto frames = symbolise(inside);
  std::vector<std::string> lines;
  for (const std::uintptr_t a : inside) {
    for (const Frame& f : frames[a])
      if (is_of_program(f.place)) lines.push_back(fmt::format("{}:{}", f.place.file, f.place.line));
    if (!frames[a].empty() && frames[a].back().function == "main")
      break;  // what called that is the C library's
  }
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  return lines;
}

}  // namespace

Calls calls_here() {
  Unwound unwound;
  const auto keep = [](_Unwind_Context* frame, void* data) {
    auto& u = *static_cast<Unwound*>(data);
    u.calls.at[u.count] = _Unwind_GetIP(frame);
    return ++u.count < Calls::kMost ? _URC_NO_REASON : _URC_END_OF_STACK;
  };
  _Unwind_Backtrace(keep, &unwound);
  return unwound.calls;
}

std::string show_calls(const Calls& calls) {
  const std::vector<std::string> lines = lines_of(calls);
  if (lines.empty()) return "an unknown line";
  constexpr std::size_t kShown = 3;
  std::string out = lines[0];
  for (std::size_t i = 1; i < std::min(lines.size(), kShown); ++i) out += ", called at " + lines[i];
  return out;
}

}  // namespace plumb::simt
