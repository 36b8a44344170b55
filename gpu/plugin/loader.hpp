// Opens a plug-in (plugin_abi.h) and checks what it says of itself. Only ever called in a child process: opening a library runs its
// code, and a library that crashes when opened must not take the judge along.
#pragma once
#include <string>
#include <vector>

#include "gpu/plugin/plugin_abi.h"

namespace plumb {

class Plugin {
 public:
  /// Errors, each one line that names the file: cannot be opened, misses the symbol, another version, a variant that is not
  /// understood.
  explicit Plugin(const std::string& path);
  /// The same of a list that another loader has made from `path`.
  Plugin(const std::string& path, const plumb_plugin* list);
  [[nodiscard]] const std::vector<const plumb_variant*>& variants() const { return variants_; }
  /// Of the interface for which the library was built: 1 to PLUMB_PLUGIN_VERSION.
  [[nodiscard]] std::uint32_t version() const { return version_; }
  /// Null where there is none.
  [[nodiscard]] const plumb_variant* find(const std::string& op, const std::string& name, int dtype) const;

 private:
  std::uint32_t version_ = 0;
  std::vector<const plumb_variant*> variants_;  // in the library, which stays open
};

}  // namespace plumb
