// Modules of PTX that were compiled before: found without the translator, whose interpreter alone takes longer to start than a module to load.
#pragma once
#include <optional>
#include <string>

namespace plumb::simt {

/// What an environment variable holds; `otherwise` where it is not set, or empty.
std::string variable_or(const char* variable, std::string otherwise);
/// A library that a module became, and the name that its lines have.
struct CompiledPtx {
  std::string library, name;
};
/// The tree that the translator lies in: the one that PLUMB_SIMT_ROOT names, or that the program was linked with, or that its own file lies in.
std::string translator_root();
/// What was compiled of the same text under the same name; none where there is no such, or the translator or its flags have changed since.
std::optional<CompiledPtx> compiled_before(const std::string& text, const std::string& name);
/// Has compiled_before() know it. Where the build folder cannot be written to, nothing is kept.
void keep_compiled(const std::string& text, const std::string& name, const CompiledPtx& compiled);

}  // namespace plumb::simt
