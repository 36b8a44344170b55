// The arrays that a kernel may touch, and the program's own segments.
#include <fmt/core.h>
#include <link.h>

#include <algorithm>

#include "gpu/simt/memory/freed.hpp"
#include "gpu/simt/state.hpp"

namespace plumb::simt {

void add_array(const std::string& name, const void* data, std::size_t bytes, bool initialised, bool writable,
               bool device_only) {
  const auto lock = enter_engine();
  auto a = std::make_unique<Array>();
  a->name = name;
  a->base = static_cast<unsigned char*>(const_cast<void*>(data));
  a->bytes = bytes;
  a->initialised = initialised;
  a->writable = writable;
  a->device_only = device_only;
  auto& memory = current().memory;
  memory.lowest = std::min<std::uintptr_t>(memory.lowest, reinterpret_cast<std::uintptr_t>(a->base));
  memory.highest =
      std::max<std::uintptr_t>(memory.highest, reinterpret_cast<std::uintptr_t>(a->base + bytes));
  const auto after =
      std::upper_bound(current().memory.arrays.begin(), current().memory.arrays.end(), a->base,
                       [](const unsigned char* base, const auto& b) { return base < b->base; });
  current().memory.arrays.insert(after, std::move(a));
}

void remove_array(const void* data) {
  const auto lock = enter_engine();
  current().memory.last_array = nullptr;
  auto& all = current().memory.arrays;
  all.erase(std::remove_if(all.begin(), all.end(), [&](const auto& a) { return a->base == data; }),
            all.end());
}

bool reserve_shadow(const void* p) {
  Array* a = array_of(static_cast<const unsigned char*>(p));
  if (a == nullptr || a->shadow != nullptr || !checking()) return true;
  try {
    a->shadow = std::make_unique<Shadow>(a->bytes);
    return true;
  } catch (const std::bad_alloc&) { return false; }
}

void allocated_in_order(const char* what, const void* stream, Here here, const void* p) {
  Array* const a = array_of(static_cast<const unsigned char*>(p));
  if (a == nullptr || !checking()) return;
  host_ranges(what, const_cast<void*>(stream), here, {});
  a->allocation = current().schedule.launches.back().first_block;
  a->allocated_at = locate(here);
}

void check_allocation(const Thread& t, Array& a, std::size_t offset, const Mark& now) {
  Mark then;
  then.block = a.allocation, then.lanes = 1, then.location = a.allocated_at;
  if (known(t, then)) return;
  report_before_allocation(t, now, then, {a.name.c_str(), static_cast<std::int64_t>(offset), nullptr});
  a.allocation = 0;
}

std::string nearest_array(const unsigned char* p) {
  if (const FreedArray* freed = freed_at(p)) return show_freed(*freed, p);
  const Array* best = nullptr;
  std::uint64_t best_distance = ~std::uint64_t{0};
  bool before = false;
  for (const auto& a : current().memory.arrays) {
    const bool left = p < a->base;
    const std::uint64_t distance =
        left ? static_cast<std::uint64_t>(a->base - p) : static_cast<std::uint64_t>(p - a->base - a->bytes);
    if (distance < best_distance) {
      best = a.get();
      best_distance = distance;
      before = left;
    }
  }
  if (best == nullptr) return ": no array is known";
  if (best_distance > (std::uint64_t{1} << 32)) return " near no array";
  if (before) return fmt::format(" {} bytes before the start of '{}'", best_distance, best->name);
  return fmt::format(" at byte {} of '{}', which has {}", best->bytes + best_distance, best->name,
                     best->bytes);
}

namespace {

struct Declared {
  const char* name;
  const volatile void* data;
  std::size_t bytes;
  bool constant, gap;
};
// Filled before main() begins: not part of the executor's state, whose constructor may run later.
std::vector<Declared>& declared_variables() {
  static auto& all = *new std::vector<Declared>;
  return all;
}

void load_variables() {
  auto& variables = current().memory.variables;
  const auto& declared = declared_variables();
  for (std::size_t i = variables.size(); i < declared.size(); ++i) {  // known ones have a shadow
    const Declared& d = declared[i];
    auto a = std::make_unique<Array>();
    a->name = d.name;
    a->base = static_cast<unsigned char*>(const_cast<void*>(d.data));
    a->bytes = d.bytes;
    a->writable = !d.constant;
    a->constant = d.constant;
    a->gap = d.gap;
    variables.push_back(std::move(a));
  }
  std::sort(variables.begin(), variables.end(),
            [](const auto& a, const auto& b) { return a->base < b->base; });
}

}  // namespace

DeviceVariable::DeviceVariable(const char* name, const volatile void* data, std::size_t bytes, bool constant,
                               bool gap) {
  declared_variables().push_back({name, data, bytes, constant, gap});
}

Array* find_variable(const unsigned char* p) {
  const auto& all = current().memory.variables;
  const auto after = std::upper_bound(all.begin(), all.end(), p,
                                      [](const unsigned char* at, const auto& a) { return at < a->base; });
  if (after == all.begin()) return nullptr;
  Array* a = std::prev(after)->get();
  const auto offset = static_cast<std::size_t>(p - a->base);
  return offset < a->bytes + (a->gap ? kVariableGap : 0) ? a : nullptr;
}

std::string show_place(const Thread& t, const unsigned char* p) {
  if (const Block* home = holder_of(t, p)) {
    const std::uint16_t id = home->piece_of[static_cast<std::size_t>(p - home->arena) / 4];
    if (id == 0) return "shared memory that nobody asked for";
    const SharedPiece& piece = home->pieces[id - 1u];
    return fmt::format("shared '{}' at byte {}", piece.name, p - home->arena - piece.begin);
  }
  const Array* a = array_of(p);
  if (a == nullptr) a = find_variable(p);
  return a != nullptr ? fmt::format("'{}' at byte {}", a->name, p - a->base) : "memory without a name";
}

namespace {

bool is_in_image(const unsigned char* base) {
  const auto& memory = current().memory;
  return std::any_of(memory.image.begin(), memory.image.end(),
                     [&](const auto& a) { return a->base == base; }) ||
         std::any_of(memory.constants.begin(), memory.constants.end(),
                     [&](const auto& c) { return c.first == base; });
}

}  // namespace

void load_image() {
  load_variables();
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void*) {
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& h = info->dlpi_phdr[i];
          if (h.p_type != PT_LOAD) continue;
          auto* base = reinterpret_cast<unsigned char*>(info->dlpi_addr + h.p_vaddr);
          if (is_in_image(base))
            continue;  // a library that is loaded while the program runs is looked for anew
          if ((h.p_flags & PF_W) != 0) {
            auto a = std::make_unique<Array>();
            a->name = "program variable";
            a->base = base;
            a->bytes = h.p_memsz;
            current().memory.image.push_back(std::move(a));
          } else {
            current().memory.constants.emplace_back(base, base + h.p_memsz);
          }
        }
        return 0;
      },
      nullptr);
}

}  // namespace plumb::simt
