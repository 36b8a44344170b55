// What every time must be reported with: chip, clocks, driver, library versions, compiler, threads.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace plumb {

using MachineFacts = std::vector<std::pair<std::string, std::string>>;

/// `libraries`: what the program was built with and cannot be asked when run ("Eigen 3.4.0").
[[nodiscard]] MachineFacts describe_machine(const std::vector<std::string>& libraries, bool with_gpu);
/// The clocks of this moment, one line: taken before and after.
[[nodiscard]] std::string clocks_now(bool with_gpu);

/// Throws Error where the environment changes a vendor's arithmetic: NVIDIA_TF32_OVERRIDE, CUBLAS_EMULATE_*, CUBLAS_EMULATION_*.
void refuse_changed_arithmetic();

}  // namespace plumb
