#include "verify/judge/repro.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include <fmt/format.h>

namespace plumb {
namespace {

constexpr double kTimeoutUnderSanitizer = 300;  // where --timeout is not given

std::string& called() {
  static std::string command = "verify";
  return command;
}

std::string judged(const Case& c, const VariantInfo& variant) {
  std::string line =
      fmt::format("{} --case {} --variant {}", called_as(), shell_word(c.id()), shell_word(variant.name));
  if (variant.mutant) line += " --mutants";
  // our names say on which device a variant runs; a user's name may exist on several devices
  const bool named = variant.name.rfind("cpu/", 0) == 0 || variant.name.rfind("gpu/", 0) == 0;
  if (!named || variant.device == Device::simt) line += fmt::format(" --device {}", name(variant.device));
  if (!variant.plugin.empty())
    line += (variant.program.empty() ? " --plugin " : " --python ") + shell_word(variant.plugin);
  return line;
}

}  // namespace

std::string shell_word(std::string_view text) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_-./=:+@%").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return std::string(text);
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

void set_called_as(const char* argv0) {
  const char* const front = std::getenv("PLUMB_COMMAND");
  called() = front != nullptr && *front != '\0' ? std::string(front) + " verify" : shell_word(argv0);
}

const std::string& called_as() { return called(); }

std::string repro_line(const Case& c, const VariantInfo& variant, const RunOptions& options, int repeat) {
  static const RunOptions kDefaults;
  const bool on_host = variant.device == Device::cpu;
  std::string line = judged(c, variant);
  if (options.race && on_host) {
    line += fmt::format("{} --race", line.find(" --device ") == std::string::npos ? " --device cpu" : "");
  } else if (options.race && variant.device == Device::simt && !variant.mutant) {
    line += " --race";
  }
  if (options.stress != 0) {
    const bool unsaid = on_host && line.find(" --device ") == std::string::npos;
    line += fmt::format("{} --stress={}", unsaid ? " --device cpu" : "", options.stress);
  }
  const bool on_simt = variant.device == Device::simt;
  if (on_simt && options.schedule) line += fmt::format(" --schedule {}", *options.schedule);
  if (on_simt && options.seeds != 0) line += fmt::format(" --seeds {}", options.seeds);
  const bool by_seeds = on_simt && repeat == options.seeds;
  if (options.stress != 0 || (!by_seeds && repeat != kDefaults.repeat))
    line += fmt::format(" --repeat {}", repeat);
  if (options.isolation == Isolation::none) line += " --isolate none";
  if (options.isolation == Isolation::run) line += " --isolate case";
  if (options.timeout != kDefaults.timeout) line += fmt::format(" --timeout {}", options.timeout);
  return line;
}

std::string repro_line_sanitized(const Case& c, const VariantInfo& variant, std::string_view tool,
                                 double timeout) {
  std::string line = judged(c, variant) + fmt::format(" --sanitize {}", tool);
  if (timeout != kTimeoutUnderSanitizer) line += fmt::format(" --timeout {}", timeout);
  return line;
}

}  // namespace plumb
