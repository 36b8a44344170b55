// Compares what registered itself with what CMake compiled.
#pragma once
#include <initializer_list>
#include <set>
#include <string>
#include <vector>

#include "verify/engine/process/user_files.hpp"

namespace plumb {

/// A variant of this tree.
struct ManifestLine {
  const char* op;
  const char* variant;
  bool built;  // compiled into this program: its operator is one of PLUMB_OPERATORS
};

/// A rung, for the CPU executor's worker.
struct SimtManifestLine {
  const char* op;
  const char* variant;
  const char* why_not;  // why the worker cannot hold it, or ""
  bool built;           // compiled into the worker, unless it cannot hold it
};

// Written by CMake (PlumbManifest.cmake, PlumbSimtWorker.cmake). Constants of static storage: read them after main() has begun.
extern const std::initializer_list<ManifestLine> kManifest;
extern const std::initializer_list<SimtManifestLine> kSimtManifest;
extern const bool kMutantsBuilt;  // those of the operators that are built

/// Whether the kernels of an operator were compiled into this program (CMake's PLUMB_OPERATORS).
[[nodiscard]] bool is_built(const std::string& op);
/// The same of the CPU executor's worker (PLUMB_SIMT_OPERATORS); true of an operator that has no kernels for it.
[[nodiscard]] bool is_built_for_simt(const std::string& op);

/// One line per defect among a user's files compiled `in` (&UserFile::here or &UserFile::simt), whose variants registered themselves
/// as `registered` ("user/NAME").
[[nodiscard]] std::vector<std::string> user_defects(bool UserFile::*in,
                                                    const std::set<std::string>& registered);

/// One line per defect: compiled but not registered, registered under another name. Empty: all is well.
[[nodiscard]] std::vector<std::string> manifest_defects();

/// True where there are such defects, or where the compiler broke compensated sums or NaN comparisons. Prints each on stderr.
[[nodiscard]] bool harness_is_broken();

}  // namespace plumb
