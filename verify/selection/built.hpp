// What this program was built with, of what a command asks for: kernels of operators (CMake's PLUMB_OPERATORS), a user's own files.
#pragma once
#include <string>
#include <vector>

namespace plumb {

/// Throws Error where --case names an operator whose kernels were not compiled into this program, or with `simt` into the CPU executor's
/// worker: tools/plumb builds those that a command names, and a program that was started by hand may have others.
void require_kernels(const std::string& cases, bool simt);

/// The same of their mutants.
void require_mutants(const std::string& cases, bool simt);

/// Files of a user's folder (tools/plumb --extra) that need a GPU, as "NAME.cu", where there is none.
[[nodiscard]] std::vector<std::string> files_without_gpu();

/// Whether a user's folder holds nothing else.
[[nodiscard]] bool only_files_without_gpu();

}  // namespace plumb
