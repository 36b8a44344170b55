// Binutils is there wherever a compiler is, so no library is needed to find lines.
#include "gpu/simt/race/symbols.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string_view>

namespace plumb::simt {

namespace {

// The lines that addr2line prints for addresses of one module; none where it cannot be run.
std::vector<std::string> lines_of(const std::string& path, std::uintptr_t base,
                                  const std::vector<std::uintptr_t>& list) {
  std::string file = path;
  if (file == "/proc/self/exe") {
    char buffer[4096];
    const ssize_t n = readlink("/proc/self/exe", buffer, sizeof buffer);
    if (n > 0) file.assign(buffer, static_cast<std::size_t>(n));
  }
  std::string quoted = "'";
  for (const char c : file) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  std::string command = "addr2line -a -i -f -C -e " + quoted + "'";
  for (const std::uintptr_t a : list) command += fmt::format(" {:#x}", a - base);
  command += " 2>/dev/null";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  std::vector<std::string> lines;
  char* line = nullptr;
  std::size_t room = 0;
  ssize_t n = 0;
  while ((n = getline(&line, &room, pipe)) > 0) {
    if (line[n - 1] == '\n') --n;
    lines.emplace_back(line, static_cast<std::size_t>(n));
  }
  std::free(line);
  pclose(pipe);
  return lines;
}

}  // namespace

// Code of our own that stands between a kernel and what it does.
bool is_ours(const std::string& file) {
  if (file.find("gpu/simt/language/") != std::string::npos) return true;
  constexpr std::string_view kLaunch = "gpu/device/launch.hpp";
  if (file.size() >= kLaunch.size() &&
      file.compare(file.size() - kLaunch.size(), kLaunch.size(), kLaunch) == 0)
    return true;
  return file.rfind("/usr/", 0) == 0;
}

bool is_of_cccl(const std::string& file) {
  const auto lies_in = [&](const char* folder) { return file.find(folder) != std::string::npos; };
  const bool installed =
      file.rfind("/usr/", 0) == 0 || file.rfind("/opt/", 0) == 0;  // no user's folder of such a name
  return installed && (lies_in("/cub/") || lies_in("/thrust/") || lies_in("/cccl/"));
}

namespace {

std::set<std::uintptr_t>& bases_of_kernels() {
  static auto& all = *new std::set<std::uintptr_t>;
  return all;
}

}  // namespace

void holds_kernels(const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) != 0)
    bases_of_kernels().insert(reinterpret_cast<std::uintptr_t>(info.dli_fbase));
}

std::vector<Module> modules() {
  std::vector<Module> out;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* list) {
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& h = info->dlpi_phdr[i];
          if (h.p_type != PT_LOAD || (h.p_flags & PF_X) == 0) continue;
          const std::uintptr_t low = info->dlpi_addr + h.p_vaddr;
          const char* name = info->dlpi_name;
          static_cast<std::vector<Module>*>(list)->push_back(
              {name != nullptr && *name != 0 ? name : "/proc/self/exe", info->dlpi_addr, low,
               low + h.p_memsz});
        }
        return 0;
      },
      &out);
  std::stable_partition(out.begin(), out.end(),
                        [](const Module& m) { return bases_of_kernels().count(m.base) != 0; });
  return out;
}

namespace {

using FramesAt = std::map<std::uintptr_t, std::vector<Frame>>;

// What addr2line says of addresses of one module.
void find_frames(const Module& module, const std::vector<std::uintptr_t>& list, FramesAt& out) {
  const std::vector<std::string> lines = lines_of(module.path, module.base, list);
  std::uintptr_t at = 0;
  for (std::size_t i = 0; i < lines.size();) {
    if (lines[i].rfind("0x", 0) == 0) {
      at = std::strtoull(lines[i].c_str(), nullptr, 16) + module.base;
      ++i;
      continue;
    }
    if (i + 1 >= lines.size()) break;
    Frame frame;
    frame.function = lines[i];
    const std::string& where = lines[i + 1];
    const std::size_t colon = where.rfind(':');
    if (colon != std::string::npos && where.compare(0, 2, "??") != 0) {
      frame.place.file = where.substr(0, colon);
      frame.place.line = std::atoi(where.c_str() + colon + 1);
    }
    out[at].push_back(std::move(frame));
    i += 2;
  }
}

}  // namespace

// Each address is looked up once in a process, whose runs find the same again: addr2line reads all of a module each time.
FramesAt symbolise(const std::vector<std::uintptr_t>& addresses) {
  static std::map<std::pair<std::string, std::uintptr_t>, FramesAt> known;  // by a module's file and place
  FramesAt out;
  for (const Module& m : modules()) {
    FramesAt& frames = known[{m.path, m.base}];
    const auto within = [&](std::uintptr_t a) { return a >= m.low && a < m.high; };
    std::vector<std::uintptr_t> wanted;
    for (const std::uintptr_t a : addresses)
      if (within(a) && frames.try_emplace(a).second) wanted.push_back(a);
    if (!wanted.empty()) find_frames(m, wanted, frames);
    for (const std::uintptr_t a : addresses)
      if (within(a)) out[a] = frames[a];
  }
  return out;
}

namespace {

// A file's bytes in memory; none where it cannot be read.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat info {};
    if (file >= 0 && fstat(file, &info) == 0) {
      bytes_ = static_cast<std::size_t>(info.st_size);
      void* const at = mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file, 0);
      if (at != MAP_FAILED) data_ = static_cast<const char*>(at);
    }
    if (file >= 0) close(file);
  }
  ~MappedFile() {
    if (data_ != nullptr) munmap(const_cast<char*>(data_), bytes_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  template <class T>
  const T* at(std::size_t offset) const {
    return reinterpret_cast<const T*>(data_ + offset);
  }
  bool is_there() const { return data_ != nullptr; }

 private:
  const char* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// The name of the function that an ELF file has at `value`.
std::string function_at(const MappedFile& file, std::uintptr_t value) {
  if (!file.is_there() || std::memcmp(file.at<char>(0), ELFMAG, SELFMAG) != 0) return "";
  const auto* const head = file.at<ElfW(Ehdr)>(0);
  const auto* const sections = file.at<ElfW(Shdr)>(head->e_shoff);
  for (int s = 0; s < head->e_shnum; ++s) {
    if (sections[s].sh_type != SHT_SYMTAB && sections[s].sh_type != SHT_DYNSYM) continue;
    const auto* const symbols = file.at<ElfW(Sym)>(sections[s].sh_offset);
    const char* const names = file.at<char>(sections[sections[s].sh_link].sh_offset);
    for (std::size_t i = 0; i < sections[s].sh_size / sizeof *symbols; ++i)
      if (symbols[i].st_value == value && (symbols[i].st_info & 0xf) == STT_FUNC)
        return names + symbols[i].st_name;
  }
  return "";
}

}  // namespace

std::string linked_name(const void* function) {
  const auto address = reinterpret_cast<std::uintptr_t>(function);
  for (const Module& m : modules())
    if (address >= m.low && address < m.high) return function_at(MappedFile(m.path), address - m.base);
  return "";
}

// A return address in full: the one in some module whose low 31 bits fit.
std::uintptr_t whole_address(Location location, const std::vector<Module>& all) {
  for (const Module& m : all) {
    std::uintptr_t a = (m.low & ~std::uintptr_t{0x7fffffff}) | location;
    if (a < m.low) a += std::uintptr_t{1} << 31;
    if (a < m.high) return a - 1;  // inside the call
  }
  return 0;
}

}  // namespace plumb::simt
