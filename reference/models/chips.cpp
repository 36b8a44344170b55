#include "reference/models/chips.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reference/core/error.hpp"
#include "reference/core/text.hpp"

namespace plumb {

namespace {

constexpr std::int64_t kKibi = 1 << 10, kGibi = 1 << 30;
constexpr Chip kChips[] = {{"H200", 90, 139 * kGibi, 227 * kKibi}, {"H100", 90, 78 * kGibi, 227 * kKibi}};

}  // namespace

const Chip& find_chip(std::string_view name) {
  std::vector<std::string> known;
  for (const Chip& chip : kChips) {
    if (chip.name == name) return chip;
    known.emplace_back(chip.name);
  }
  throw Error(fmt::format("chip '{}' is none of {}{}", printable(std::string(name)), fmt::join(known, ", "),
                          did_you_mean(std::string(name), known)));
}

}  // namespace plumb
