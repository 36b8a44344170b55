#include "gpu/simt/race/source_places.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "gpu/simt/language/ptx_table.hpp"

namespace plumb::simt {

namespace {

// By the name that its lines have.
std::unordered_map<std::string, const ptx::Table*>& tables() {
  static auto& all = *new std::unordered_map<std::string, const ptx::Table*>;
  return all;
}

const ptx::SourcePlace* place_at(const ptx::Table& table, int line) {
  const ptx::SourcePlace* const end = table.places + table.place_count;
  const auto* const found = std::lower_bound(
      table.places, end, line, [](const ptx::SourcePlace& p, int wanted) { return p.ptx_line < wanted; });
  return found != end && found->ptx_line == line ? found : nullptr;
}

}  // namespace

void know_source_places(const std::string& name, const ptx::Table& table) { tables()[name] = &table; }

Place in_source(Place place) {
  const auto it = tables().find(place.file);
  const ptx::SourcePlace* const from = it != tables().end() ? place_at(*it->second, place.line) : nullptr;
  if (from == nullptr || from->file < 0) return place;
  const char* const* const files = it->second->files;
  Place out{files[from->file], from->line};
  if (from->inner_file >= 0 && (from->inner_file != from->file || from->inner_line != from->line))
    out.by = fmt::format("{}:{}, ", files[from->inner_file], from->inner_line);
  out.by += fmt::format("{}:{}", place.file, place.line);
  return out;
}

}  // namespace plumb::simt
