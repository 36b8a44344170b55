// The seed that a person gives, or asks for.
#pragma once
#include <cstdint>
#include <string>

namespace plumb {

/// A number, or 'fresh': one from the system's entropy. Throws Error naming `what`, the option.
[[nodiscard]] std::uint64_t parse_seed(const std::string& text, const std::string& what);

}  // namespace plumb
