#include "reference/core/seed.hpp"

#include <unistd.h>

#include "reference/core/error.hpp"
#include "reference/core/text.hpp"

namespace plumb {

std::uint64_t parse_seed(const std::string& text, const std::string& what) {
  if (text != "fresh") return static_cast<std::uint64_t>(parse_size(text, what));
  std::uint64_t drawn = 0;
  if (getentropy(&drawn, sizeof drawn) != 0) throw Error(what + " fresh: getentropy failed");
  return drawn >> 16;
}

}  // namespace plumb
