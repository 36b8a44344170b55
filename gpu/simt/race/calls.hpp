// Where the program called the executor: kept as addresses, and shown by their lines.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace plumb::simt {

/// Return addresses of a thread of the host, the innermost first; 0 behind the last.
struct Calls {
  static constexpr std::size_t kMost = 10;
  std::array<std::uintptr_t, kMost> at{};
};
/// Of the caller.
Calls calls_here();
/// "a.cu:31" or, through a function of the program's, "a.cu:31, called at a.cu:50"; "an unknown line".
std::string show_calls(const Calls& calls);

}  // namespace plumb::simt
