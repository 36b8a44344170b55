// The numbers that a kernel's source is made of: tile sizes, numbers of threads, limits in comparisons. What such a kernel gets wrong, it
// gets wrong beside them, so that drawn cases of a user's kernels take sizes there.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plumb {

struct SourceConstant {
  std::int64_t value = 0;
  int line = 0;  // of its first place
  friend bool operator==(const SourceConstant&, const SourceConstant&) = default;
};

/// The whole numbers from 3 to 200,000 in a C++ or CUDA source, ascending, each once: of definitions, macros, comparisons, array bounds
/// and launches. Not those of comments, texts, includes, names (float32) and fractions. `1 << 12` counts as 4096.
[[nodiscard]] std::vector<SourceConstant> constants_of(std::string_view source);

/// Sizes beside `constants`: one less, equal, one and two more than each of them and its multiples by 2, 3 and 4. Ascending, each once.
[[nodiscard]] std::vector<std::int64_t> sizes_beside(const std::vector<SourceConstant>& constants);

/// "spmv.cu: 64 (line 12), 256 (line 13)".
[[nodiscard]] std::string describe(const std::string& file, const std::vector<SourceConstant>& constants);

}  // namespace plumb
