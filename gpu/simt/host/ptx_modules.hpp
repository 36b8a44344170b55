// Modules of PTX: compiled to libraries by gpu/simt/ptx/compile_module.py, and loaded.
#pragma once
#include <cstddef>
#include <string>

#include "gpu/simt/language/ptx_table.hpp"

namespace plumb::simt {

/// A module under its name, which findings call its lines by.
struct PtxModule {
  std::string name;
  const ptx::Table* table = nullptr;
};
/// A module that was loaded, or why it was not.
struct LoadedPtx {
  const PtxModule* module = nullptr;
  std::string error;
};

/// Whether what a program hands to the driver is text of PTX; else it is machine code.
bool is_ptx(const void* image);
/// Loads the text of a module. `name`: its file; empty: the text is kept in a file of the build folder, which becomes its name. A module stays
/// loaded to the program's end.
LoadedPtx load_ptx(const std::string& text, const std::string& name);
/// Null where the module has none of that name.
const ptx::Kernel* kernel_of(const PtxModule& module, const std::string& name);
const ptx::Global* global_of(const PtxModule& module, const std::string& name);

}  // namespace plumb::simt
