#include "gpu/simt/host/ptx_kernels.hpp"

#include <cxxabi.h>
#include <fmt/core.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <string>

#include "gpu/simt/host/ptx_cache.hpp"
#include "gpu/simt/host/ptx_modules.hpp"
#include "gpu/simt/race/symbols.hpp"
#include "gpu/simt/state.hpp"
#include "reference/core/error.hpp"

namespace plumb::simt {

namespace {

constexpr const char* kList = "kernels";  // lines "FILE<TAB>NAME", the name as a linker has it

// A kernel's name in the source, which is one and the same in the program and in the module: a compiler names an unnamed namespace as it
// likes, and files that are compiled together have a namespace each (PlumbJoin.cmake).
std::string name_in_source(const std::string& linked) {
  int status = 0;
  char* const said = abi::__cxa_demangle(linked.c_str(), nullptr, nullptr, &status);
  std::string name = status == 0 ? said : linked;
  std::free(said);
  static const std::regex kOfFile(R"(\bof_\w+::)");
  return std::regex_replace(name, kOfFile, "");
}

struct Entry {
  std::string file, linked;
};
// What the folder has, by names in the source.
std::map<std::string, Entry> entries_of(const std::string& folder) {
  const std::string path = folder + "/" + kList;
  std::ifstream in(path);
  if (!in) throw input_error(path, 0, "no list of kernels (PLUMB_SIMT_PTX)", "split_modules.py writes one");
  std::map<std::string, Entry> all;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const std::size_t tab = line.find('\t');
    if (tab == std::string::npos) throw input_error(path, number, "not FILE<TAB>KERNEL", line);
    const std::string linked = line.substr(tab + 1);
    all.try_emplace(name_in_source(linked), Entry{folder + "/" + line.substr(0, tab), linked});
  }
  return all;
}

class Folder {
 public:
  explicit Folder(std::string path) : path_(std::move(path)), entries_(entries_of(path_)) {}

  // A kernel of null where there is none; the run is then given up.
  KernelCode code_of(const void* written) {
    const auto known = codes_.find(written);
    if (known != codes_.end()) return known->second;
    const std::string name = name_in_source(linked_name(written));
    const auto it = entries_.find(name);
    if (it == entries_.end()) return give_up(fmt::format("{} has no kernel '{}'", path_, name));
    std::ifstream in(it->second.file);
    const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    const LoadedPtx loaded = load_ptx(text, it->second.file);
    const ptx::Kernel* const kernel =
        loaded.module != nullptr ? kernel_of(*loaded.module, it->second.linked) : nullptr;
    if (kernel == nullptr) return give_up(fmt::format("{}: {}", it->second.file, loaded.error));
    return codes_[written] = {kernel->address, kernel->invoke};
  }

 private:
  static KernelCode give_up(const std::string& why) {
    run_short(why, "PTX");
    return {nullptr, nullptr};
  }

  std::string path_;
  std::map<std::string, Entry> entries_;
  std::map<const void*, KernelCode> codes_;
};

}  // namespace

KernelCode code_of(const KernelCode& written) {
  static const std::string path = variable_or("PLUMB_SIMT_PTX", "");  // once: every launch comes here
  if (path.empty()) return written;
  const auto lock = enter_engine();
  static auto& folder = *new Folder(path);
  const KernelCode code = folder.code_of(written.kernel);
  return code.kernel != nullptr ? code : written;
}

}  // namespace plumb::simt
