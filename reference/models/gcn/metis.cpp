#include "reference/models/gcn/metis.hpp"

#include <metis.h>

#include <array>
#include <type_traits>

#include <fmt/format.h>

#include "reference/core/error.hpp"

namespace plumb {

static_assert(std::is_same_v<idx_t, std::int32_t>, "a METIS of 64-bit indices");

std::string metis_version() {
  return fmt::format("{}.{}.{}", METIS_VER_MAJOR, METIS_VER_MINOR, METIS_VER_SUBMINOR);
}

std::vector<std::int32_t> metis_parts(std::vector<std::int32_t> begin, std::vector<std::int32_t> neighbours,
                                      std::vector<std::int32_t> weights, int parts) {
  constexpr idx_t kSeed = 1;
  idx_t vertices = static_cast<idx_t>(weights.size()), constraints = 1, wanted = parts, cut = 0;
  std::vector<std::int32_t> part(weights.size());
  if (vertices == 0) return part;
  std::array<idx_t, METIS_NOPTIONS> options{};
  METIS_SetDefaultOptions(options.data());
  options[METIS_OPTION_NUMBERING] = 0;
  options[METIS_OPTION_SEED] = kSeed;
  const int status =
      METIS_PartGraphKway(&vertices, &constraints, begin.data(), neighbours.data(), weights.data(), nullptr,
                          nullptr, &wanted, nullptr, nullptr, options.data(), &cut, part.data());
  if (status != METIS_OK)
    throw Error(
        fmt::format("METIS failed with status {} for {} vertices in {} parts", status, vertices, parts));
  return part;
}

}  // namespace plumb
