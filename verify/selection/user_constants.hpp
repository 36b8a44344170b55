// The constants in the sources of the kernels that are judged: those of a user's own folder.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "verify/selection/selection.hpp"

namespace plumb {

struct UserConstants {
  std::map<std::string, std::vector<std::int64_t>> beside;  // by operator: sizes beside the constants
  std::vector<std::string> notes;                           // "64 (line 12)" and so on, a note to a file
};

/// Of the files of tools/plumb --extra whose variants `choice` takes, and of the headers beside them. A file that is gone has none.
[[nodiscard]] UserConstants user_constants(const VariantChoice& choice);

/// Of these files, and of the headers beside them, for every operator.
[[nodiscard]] UserConstants constants_of_files(const std::vector<std::string>& paths);

}  // namespace plumb
