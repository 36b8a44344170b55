// compute-sanitizer as an instrument: one variant on one case runs in a process of its own under one tool, and the tool's findings
// become a verdict. That process judges the results as well.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "verify/engine/operator/entry.hpp"
#include "verify/judge/verdict.hpp"

namespace plumb {

enum class SanitizerTool : std::uint8_t { memcheck, racecheck, initcheck, synccheck };

inline constexpr SanitizerTool kAllTools[] = {SanitizerTool::memcheck, SanitizerTool::racecheck,
                                              SanitizerTool::initcheck, SanitizerTool::synccheck};

[[nodiscard]] std::string_view name(SanitizerTool);
/// "memcheck,racecheck" or "all". Throws Error with the nearest word.
[[nodiscard]] std::vector<SanitizerTool> parse_tools(const std::string& words);

/// compute-sanitizer's path: on PATH, or in CUDA_HOME, CUDA_PATH or /usr/local/cuda. "" where there is none.
[[nodiscard]] std::string find_compute_sanitizer();

/// What the tools see and what they do not, for --explain sanitize.
inline constexpr const char* kSanitizerBlindSpots =
    "compute-sanitizer's tools, each on every GPU variant's smallest case of several tiles (the smallest "
    "whose largest grid has more than one "
    "block and, where there is one, whose sizes all exceed 32), every array in an allocation of its own with "
    "nothing poisoned. What they do "
    "not see: racecheck sees races in shared memory only, none between blocks, and none that the compiler "
    "removed by keeping the value in a "
    "register (--race does, on the CPU executor); initcheck sees global memory only, and takes any earlier "
    "write for an initialisation; "
    "memcheck sees where an allocation ends, not where a row does (ld > cols) nor where one shared array "
    "ends and the next begins; synccheck "
    "sees barriers that are wrong in this run, not on another path, and lets a shuffle's short mask pass "
    "where the lanes happen to be "
    "together; none sees a race in global memory, a fence that is missing, or what larger shapes do. What "
    "the tools find in a library's own kernels (rungs from 80, kernels without lines) is told and not "
    "judged. "
    "Findings become race (racecheck), out_of_bounds (memcheck: an access where there is no memory) or error "
    "(all else).";

struct SanitizedRun {
  Record record;  // of the tool: its verdict is `race`, `out_of_bounds` or `error` where it found something
  int findings = 0;  // of the tool's; 0 with a failing record: the run itself failed
};

/// Runs `program --sanitized CASE VARIANT ...` under `sanitizer` (find_compute_sanitizer()).
[[nodiscard]] SanitizedRun run_sanitized(const std::string& sanitizer, const std::string& program,
                                         SanitizerTool, const Case&, const VariantInfo&, double timeout);

/// main() of such a process: `verify --sanitized CASE VARIANT ANSWER [PLUGIN]` judges once, with every array in an allocation of its
/// own, and writes its verdict to the file ANSWER.
int sanitized_main(int argc, char** argv);

}  // namespace plumb
