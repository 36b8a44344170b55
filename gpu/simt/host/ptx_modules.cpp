#include "gpu/simt/host/ptx_modules.hpp"

#include <dlfcn.h>
#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>
#include <vector>

#include "gpu/simt/host/api/runtime/kernels.hpp"
#include "gpu/simt/host/api/runtime/operations.hpp"
#include "gpu/simt/host/ptx_cache.hpp"
#include "gpu/simt/race/source_places.hpp"
#include "gpu/simt/race/symbols.hpp"
#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

constexpr const char* kCompiler = "gpu/simt/ptx/compile_module.py";

std::string quoted(const std::string& word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

struct Said {
  std::string text;
  bool done = false;
};
// What a command prints on stdout; its messages go where the program's go.
Said said_by(const std::string& command) {
  Said out;
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return out;
  char buffer[4096];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.text.append(buffer, n);
  const int status = pclose(pipe);
  out.done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return out;
}

class ScratchFile {
 public:
  explicit ScratchFile(const std::string& text) {
    path_ = variable_or("TMPDIR", "/tmp") + "/plumb-ptx-XXXXXX";
    const int file = mkstemp(path_.data());
    if (file < 0) return;
    std::size_t written = 0;
    for (ssize_t n = 0;
         written < text.size() && (n = write(file, text.data() + written, text.size() - written)) > 0;)
      written += static_cast<std::size_t>(n);
    good_ = close(file) == 0 && written == text.size();
  }
  ~ScratchFile() { unlink(path_.c_str()); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  const std::string& path() const { return path_; }
  bool good() const { return good_; }

 private:
  std::string path_;
  bool good_ = false;
};

// By the translator, which says which instructions are not offered. An empty library: it cannot be done.
CompiledPtx translated(const std::string& text, const std::string& name) {
  const ScratchFile file(text);
  if (!file.good()) return {};
  const std::string named = name.empty() ? "--keep" : "--name " + quoted(name);
  const std::string compiler = translator_root() + '/' + kCompiler;
  const Said said = said_by(fmt::format("{} -S -E {} {} {}", quoted(variable_or("PLUMB_PYTHON", "python3")),
                                        quoted(compiler), named, quoted(file.path())));
  const std::size_t end = said.text.find('\n');
  if (!said.done || end == std::string::npos) return {};
  return {said.text.substr(0, end), said.text.substr(end + 1, said.text.find('\n', end + 1) - end - 1)};
}

CompiledPtx compiled(const std::string& text, const std::string& name) {
  if (const auto before = compiled_before(text, name)) {
    std::ifstream notes(before->library + ".notes");
    for (std::string line; std::getline(notes, line);) std::fprintf(stderr, "%s\n", line.c_str());
    return *before;
  }
  CompiledPtx made = translated(text, name);
  if (!made.library.empty()) keep_compiled(text, name, made);
  return made;
}

void know(const PtxModule& module) {
  for (std::size_t i = 0; i < module.table->kernel_count; ++i) {
    const ptx::Kernel& k = module.table->kernels[i];
    know_kernel(k.address, {k.invoke, k.sizes, k.count});
  }
  know_source_places(module.name, *module.table);
  holds_kernels(module.table);
  if (current().run.begun && checking()) load_image();
}

// A module's library refers to functions of the executor, which lies in the program, or in a library that a program has loaded for itself alone.
void show_executor() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&load_ptx), &info) != 0 && info.dli_fname != nullptr)
    dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

std::vector<std::unique_ptr<PtxModule>>& loaded_modules() {
  static auto& all = *new std::vector<std::unique_ptr<PtxModule>>;
  return all;
}

}  // namespace

bool is_ptx(const void* image) {
  const auto* text = static_cast<const char*>(image);
  if (static_cast<unsigned char>(*text) == 0x7f) return false;  // ELF
  while (*text == ' ' || *text == '\t' || *text == '\n' || *text == '\r') ++text;
  return *text == '.' || std::strncmp(text, "//", 2) == 0 || std::strncmp(text, "/*", 2) == 0;
}

LoadedPtx load_ptx(const std::string& text, const std::string& name) {
  const auto lock = enter_engine();
  const std::string file = name.empty() ? name : std::filesystem::absolute(name).lexically_normal().string();
  const auto [library, called] = compiled(text, file);
  if (library.empty()) return {nullptr, fmt::format("the module of PTX '{}' cannot be compiled", name)};
  show_executor();
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return {nullptr, dlerror()};
  auto module = std::make_unique<PtxModule>();
  module->name = called;
  module->table = static_cast<const ptx::Table*>(dlsym(handle, "plumb_ptx_module"));
  if (module->table == nullptr) return {nullptr, library + " is no module"};
  know(*module);
  loaded_modules().push_back(std::move(module));
  return {loaded_modules().back().get(), ""};
}

const ptx::Kernel* kernel_of(const PtxModule& module, const std::string& name) {
  const ptx::Kernel* const end = module.table->kernels + module.table->kernel_count;
  const auto* const found =
      std::find_if(module.table->kernels, end, [&](const ptx::Kernel& k) { return name == k.name; });
  return found != end ? found : nullptr;
}

const ptx::Global* global_of(const PtxModule& module, const std::string& name) {
  const ptx::Global* const end = module.table->globals + module.table->global_count;
  const auto* const found =
      std::find_if(module.table->globals, end, [&](const ptx::Global& g) { return name == g.name; });
  return found != end ? found : nullptr;
}

}  // namespace plumb::simt
