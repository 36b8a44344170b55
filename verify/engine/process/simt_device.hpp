// The CPU executor as a device of verify. GPU kernels that are compiled for the host are in a program beside this one; the functions
// here find that program and ask it for its variants.
#pragma once
#include <string>
#include <vector>

#include "verify/engine/operator/entry.hpp"

namespace plumb {

/// Shown behind a variant's name where the CPU executor ran it.
inline constexpr const char* kOnSimt = " (simt)";

/// Operations and 4-byte words moved (Cost) of one run; larger cases are skipped. An access that is checked costs about
/// 60 ns, and each case is run by every rung several times over.
inline constexpr double kMaxSimtWork = 6e6, kMaxSimtRaceWork = 2e6;
/// The same for kernels that are not rungs, where a case has more elements than a float counts.
inline constexpr double kMaxSimtWorkBeyondFloat = 5e7;

/// Simulated threads of the few runs that may ask for many: a warp for each of 70,001 rows. With blocks of 128 such a run takes up to 20 s.
inline constexpr std::int64_t kManySimtThreads = std::int64_t{40} << 16;
/// Of fewer yet, once each: 65,539 blocks of 256, of which most threads have nothing to do.
inline constexpr std::int64_t kGridOfSimtThreads = std::int64_t{257} << 16;

/// The path of a worker of that name beside this program, or "".
[[nodiscard]] std::string worker_beside(const std::string& name);

/// The worker beside this program, or "".
[[nodiscard]] std::string simt_program();

/// Variants and mutants that `program` holds, with Device::simt. Throws Error where it does not answer, and adds to `defects` what was
/// compiled for it and did not register itself.
[[nodiscard]] std::vector<VariantInfo> list_simt(const std::string& program,
                                                 std::vector<std::string>& defects);

/// The variants of a user's .cu files (tools/plumb --extra), which a worker of their own holds: VariantInfo::program names it. Empty where
/// there is none. Adds to `defects` as list_simt() does.
[[nodiscard]] std::vector<VariantInfo> list_user_simt(std::vector<std::string>& defects);

/// Rungs that the CPU executor cannot run, one VariantInfo per type, with VariantInfo::why_not saying why.
[[nodiscard]] std::vector<VariantInfo> absent_from_simt();

/// Names of the rungs that the CPU executor's worker holds once it is built, whether it is or not; no plug-in's and no user's.
[[nodiscard]] std::vector<std::string> names_on_simt();
/// Those of one operator.
[[nodiscard]] std::vector<std::string> names_on_simt(const std::string& op);

/// In the worker: the lines of its list.
[[nodiscard]] std::vector<std::string> describe_variants();

}  // namespace plumb
