#include "gpu/simt/host/ptx_cache.hpp"

#include <dlfcn.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

// Of tools/simt-nvcc; weak: other programs have none.
extern "C" __attribute__((weak)) const char plumb_simt_root[];

namespace plumb::simt {

namespace {

namespace fs = std::filesystem;

// The file that this code is in: the program, or a shared library.
std::string own_file() {
  Dl_info info{};
  const bool known =
      dladdr(reinterpret_cast<const void*>(&compiled_before), &info) != 0 && info.dli_fname != nullptr;
  const char* const name = known && info.dli_fname[0] == '/' ? info.dli_fname : "/proc/self/exe";
  const std::unique_ptr<char, decltype(&std::free)> path(realpath(name, nullptr), &std::free);
  return path != nullptr ? path.get() : name;
}

std::string build_folder() { return variable_or("PLUMB_SIMT_BUILD", translator_root() + "/build/simt"); }

// FNV-1a.
std::uint64_t hash(const std::string& text) {
  std::uint64_t h = 0xcbf29ce484222325ull;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return h;
}

// What changes where the translator, the headers of what it writes, or the compiler's flags do: their sizes and times.
std::string stamp() {
  std::vector<std::string> lines;
  const auto add = [&](const fs::path& path) {
    std::error_code none;
    lines.push_back(fmt::format("{} {} {}", path.string(), fs::file_size(path, none),
                                fs::last_write_time(path, none).time_since_epoch().count()));
  };
  add(build_folder() + "/simt_nvcc.json");
  for (const char* folder : {"ptx", "rewrite", "language", "language/include"}) {
    std::error_code none;
    for (const fs::directory_entry& entry :
         fs::directory_iterator(translator_root() + "/gpu/simt/" + folder, none))
      if (entry.is_regular_file(none)) add(entry.path());
  }
  std::sort(lines.begin(), lines.end());
  std::string all;
  for (const std::string& line : lines) all += line + '\n';
  return fmt::format("{:016x}", hash(all));
}

// The file that tells what a text became: the stamp, the name asked for, library and name of its lines, each a line; and the text.
std::string file_of(const std::string& text, const std::string& name) {
  return fmt::format("{}/modules/{:016x}.known", build_folder(), hash(text + '\n' + name));
}

bool is_one_line(const std::string& word) { return word.find('\n') == std::string::npos; }

}  // namespace

std::string variable_or(const char* variable, std::string otherwise) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != 0 ? value : otherwise;
}

std::string translator_root() {
  const std::string named = variable_or("PLUMB_SIMT_ROOT", plumb_simt_root != nullptr ? plumb_simt_root : "");
  if (!named.empty()) return named;
  std::string folder = own_file();
  while (folder.rfind('/') != std::string::npos) {
    folder.resize(folder.rfind('/'));
    if (::access((folder + "/gpu/simt/ptx/compile_module.py").c_str(), R_OK) == 0) return folder;
  }
  return ".";
}

std::optional<CompiledPtx> compiled_before(const std::string& text, const std::string& name) {
  std::ifstream in(file_of(text, name), std::ios::binary);
  std::string stamped, named;
  CompiledPtx found;
  if (!std::getline(in, stamped) || !std::getline(in, named) || !std::getline(in, found.library) ||
      !std::getline(in, found.name))
    return std::nullopt;
  const std::string kept{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const bool is_same = kept == text && named == name && stamped == stamp();
  if (!is_same || ::access(found.library.c_str(), R_OK) != 0) return std::nullopt;
  return found;
}

void keep_compiled(const std::string& text, const std::string& name, const CompiledPtx& compiled) {
  if (!is_one_line(name) || !is_one_line(compiled.library) || !is_one_line(compiled.name)) return;
  const std::string path = file_of(text, name), own = fmt::format("{}.{}", path, getpid());
  std::ofstream out(own, std::ios::binary);
  out << stamp() << '\n' << name << '\n' << compiled.library << '\n' << compiled.name << '\n' << text;
  out.close();
  if (!out || std::rename(own.c_str(), path.c_str()) != 0) unlink(own.c_str());
}

}  // namespace plumb::simt
