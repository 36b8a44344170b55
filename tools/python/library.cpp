// libplumbline.so: what the Python package loads. The worker of the engine, and the tables that a worker in another language needs; the
// judge is the program verify, which owns its process: signals, children, limits.
#include <string>

#include <fmt/format.h>

#include "gpu/plugin/plugin_abi.h"
#include "reference/core/error.hpp"
#include "verify/engine/child.hpp"
#include "verify/engine/operators.hpp"
#include "verify/engine/plugin_host.hpp"

namespace {

using namespace plumb;

// A device whose kernels this library cannot run.
class NoDevice final : public Backend {
 public:
  Reason why_not() const override { return describe(); }
  std::string describe() const override { return "no driver: this package runs kernels on the CPU"; }
  std::byte* upload(std::byte*, std::int64_t) override { throw Error(describe()); }
  void download(std::byte*, std::int64_t) override { throw Error(describe()); }
  void* workspace(std::int64_t, Poison) override { throw Error(describe()); }
  std::string release_workspace() override { return {}; }
};

// The text of the last call, for a caller that copies it.
const char* kept(std::string text) {
  static std::string last;
  last = std::move(text);
  return last.c_str();
}

std::string quoted(const std::string& word) { return '"' + word + '"'; }

// {"inputs": [...], "outputs": [...], "scalars": [...], "dtypes": [...]}: the names by which an operator's arguments reach a kernel.
std::string signature_of(const OperatorEntry& entry) {
  std::vector<std::byte> empty(1 << 12);  // views of nothing: names do not depend on them
  const CallInfo call = entry.relocate(entry.dtypes().front(), empty.data(),
                                       [](const ArrayInfo&, std::int64_t) { return nullptr; });
  std::vector<std::string> inputs, outputs, scalars, dtypes;
  for (const ArrayInfo& a : call.arrays) (a.output ? outputs : inputs).push_back(quoted(a.name));
  for (const auto& [name, value] : call.scalars) scalars.push_back(quoted(name));
  for (const Dtype d : entry.dtypes()) dtypes.push_back(quoted(facts(d).name));
  return fmt::format("{{\"inputs\": [{}], \"outputs\": [{}], \"scalars\": [{}], \"dtypes\": [{}]}}",
                     fmt::join(inputs, ", "), fmt::join(outputs, ", "), fmt::join(scalars, ", "),
                     fmt::join(dtypes, ", "));
}

}  // namespace

extern "C" {

/// The loop of a worker: answers the judge on the descriptors that it was started with. `open` makes the list of variants of a path, or
/// returns null and says why. Returns the process's exit code.
PLUMB_EXPORT int plumb_worker_main(const plumb_plugin* (*open)(const char* path, const char** trouble)) {
  open_plugin = open;
  make_gpu_backend = [] { return std::unique_ptr<Backend>(new NoDevice); };
  return worker_main();
}

/// JSON: how structures and types are numbered (plugin_tables()). Valid until the next call.
PLUMB_EXPORT const char* plumb_tables() { return kept(plugin_tables()); }

/// JSON: the names of an operator's arrays, numbers and types, or {"error": "..."}. Valid until the next call.
PLUMB_EXPORT const char* plumb_signature(const char* op) {
  try {
    return kept(signature_of(find_operator(op)));
  } catch (const std::exception& e) { return kept(fmt::format("{{\"error\": \"{}\"}}", e.what())); }
}

/// JSON: the names of all operators, in the order of reports.
PLUMB_EXPORT const char* plumb_operators() {
  std::string names;
  for (const auto& entry : operators()) names += (names.empty() ? "" : ", ") + quoted(entry->name());
  return kept("[" + names + "]");
}
}
