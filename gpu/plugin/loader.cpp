#include "gpu/plugin/loader.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <set>

#include "reference/core/error.hpp"

namespace plumb {
namespace {

bool valid_name(const char* name) {
  if (name == nullptr || name[0] == '\0') return false;
  for (const char* c = name; *c != '\0'; ++c) {
    if (std::isalnum(static_cast<unsigned char>(*c)) == 0 && *c != '_' && *c != '-' && *c != '.')
      return false;
  }
  return true;
}

// The library's function that lists its variants.
plumb_plugin_function plugin_function(const std::string& path) {
  char* whole = realpath(path.c_str(), nullptr);  // a bare name would be searched for where libraries lie
  if (whole == nullptr) throw input_error(path, 0, "cannot open the plug-in", std::strerror(errno));
  void* library = dlopen(whole, RTLD_NOW | RTLD_LOCAL);
  std::free(whole);
  if (library == nullptr) {
    const char* why = dlerror();
    throw input_error(
        path, 0,
        fmt::format("cannot open the plug-in: {}", printable(why != nullptr ? why : "no reason given", 300)));
  }
  void* symbol = dlsym(library, PLUMB_PLUGIN_SYMBOL);
  if (symbol == nullptr) {
    throw input_error(path, 0,
                      "is no plug-in: it does not export " PLUMB_PLUGIN_SYMBOL
                      "() (gpu/plugin/plugin_abi.h; in C++ inside extern \"C\")");
  }
  return reinterpret_cast<plumb_plugin_function>(symbol);
}

// Whether a number is of a type as version 1 or 2 has them.
bool is_type(std::int32_t dtype, std::uint32_t version) {
  if (version == 1) return dtype == PLUMB_F32 || dtype == PLUMB_F64;
  const auto of_values = [](std::int32_t format) {
    return format >= PLUMB_F32 && format <= PLUMB_TYPE_E5M2 && format != PLUMB_I32;
  };
  return of_values(dtype & 255) && (dtype >> 8 == 0 || of_values((dtype >> 8) - 1));
}

// Whether the list is one of a version of the interface. Errors: throws Error with what differs.
void check_list(const std::string& path, const plumb_plugin* plugin) {
  if (plugin == nullptr) throw input_error(path, 0, PLUMB_PLUGIN_SYMBOL "() returned NULL");
  if (plugin->version < 1 || plugin->version > PLUMB_PLUGIN_VERSION) {
    throw input_error(
        path, 0,
        fmt::format(
            "was built for version {} of the plug-in interface, this is version {}: build it against the "
            "gpu/plugin/plugin_abi.h at hand",
            plugin->version, PLUMB_PLUGIN_VERSION));
  }
  if (plugin->variant_size != sizeof(plumb_variant)) {
    throw input_error(
        path, 0,
        fmt::format("its plumb_variant has {} bytes, here it has {}: another plugin_abi.h, or other packing",
                    plugin->variant_size, sizeof(plumb_variant)));
  }
  if (plugin->count < 0 || plugin->count > 100000 || (plugin->count > 0 && plugin->variants == nullptr)) {
    throw input_error(path, 0, fmt::format("lists {} variants", plugin->count));
  }
}

// What is wrong with one variant's description, in words; empty: nothing.
std::string fault_of(const plumb_variant& v, std::uint32_t version) {
  if (v.size != sizeof(plumb_variant))
    return fmt::format("size is {}, not sizeof(plumb_variant) = {}", v.size, sizeof(plumb_variant));
  if (!valid_name(v.name)) return "its name must be of letters, digits, '_', '-' and '.'";
  if (v.op == nullptr || v.run == nullptr) return v.op == nullptr ? "op is NULL" : "run is NULL";
  if (!is_type(v.dtype, version))
    return fmt::format("dtype {} is no type of version {} of the plug-in interface", v.dtype, version);
  if (version > 1 && (v.accumulate < 0 || v.accumulate > PLUMB_SUMS_IN(PLUMB_TYPE_BF16) ||
                      v.accumulate == PLUMB_SUMS_IN(PLUMB_I32)))
    return fmt::format("accumulate is {}, not 0 or PLUMB_SUMS_IN a format of 16 bits or more", v.accumulate);
  if (v.device != PLUMB_HOST && v.device != PLUMB_CUDA)
    return fmt::format("device {} is neither PLUMB_HOST nor PLUMB_CUDA", v.device);
  if (v.arithmetic < PLUMB_NATIVE || v.arithmetic > PLUMB_FP8_FAST)
    return fmt::format("arithmetic {} is not known", v.arithmetic);
  if ((v.flags & ~static_cast<std::uint32_t>(PLUMB_NOT_REPRODUCIBLE | PLUMB_FINITE_ONLY)) != 0)
    return fmt::format("flags {:#x} are not known", v.flags);
  if (v.alignment < 0 || v.alignment > 256 || (v.alignment & (v.alignment - 1)) != 0)
    return fmt::format("alignment {} is not 0 or a power of two up to 256", v.alignment);
  return "";
}

}  // namespace

Plugin::Plugin(const std::string& path) : Plugin(path, plugin_function(path)()) {}

Plugin::Plugin(const std::string& path, const plumb_plugin* plugin) {
  check_list(path, plugin);
  version_ = plugin->version;
  std::set<std::string> listed;
  for (std::int32_t i = 0; i < plugin->count; ++i) {
    const plumb_variant& v = plugin->variants[i];
    std::string wrong = fault_of(v, version_);
    if (wrong.empty() && !listed.insert(fmt::format("{}|{}|{}", v.op, v.name, v.dtype)).second)
      wrong = fmt::format("is listed twice for {} in this type", printable(v.op));
    if (!wrong.empty()) {
      throw input_error(
          path, 0,
          fmt::format("variant {} ({}): {}", i, v.name != nullptr ? printable(v.name) : "no name", wrong));
    }
    variants_.push_back(&v);
  }
  if (variants_.empty()) throw input_error(path, 0, "lists no variant");
}

const plumb_variant* Plugin::find(const std::string& op, const std::string& name, int dtype) const {
  for (const plumb_variant* v : variants_) {
    if (op == v->op && name == v->name && v->dtype == dtype) return v;
  }
  return nullptr;
}

}  // namespace plumb
