// From addresses to sentences: findings are noted with program addresses while kernels run, and given their
// source lines at the end of a run, by one call of addr2line. Binutils is there wherever a compiler is, so no
// library is needed for it.
#include <dlfcn.h>
#include <fmt/core.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>

#include "gpu/simt/engine.hpp"

namespace plumb::simt {

const char* name_of(FindingKind kind) {
  switch (kind) {
    case FindingKind::race:
      return "race";
    case FindingKind::out_of_bounds:
      return "out of bounds";
    case FindingKind::read_only_written:
      return "input written";
    case FindingKind::uninitialised:
      return "uninitialised read";
    case FindingKind::misaligned:
      return "misaligned access";
    case FindingKind::divergent_barrier:
      return "divergent barrier";
    case FindingKind::lane_outside_mask:
      return "warp mask";
    case FindingKind::deadlock:
      return "deadlock";
    case FindingKind::async_copy_not_waited_for:
      return "asynchronous copy not waited for";
    case FindingKind::trap:
      return "trap";
    case FindingKind::bad_launch:
      return "bad launch";
  }
  return "finding";
}

namespace {

std::vector<Here> g_heres;  // what Locations with the top bit stand for

std::string show(uint3 v) { return fmt::format("({},{},{})", v.x, v.y, v.z); }

// Code of our own that stands between a kernel and what it does.
bool is_ours(const std::string& file) {
  static const char* const kOurs[] = {
      "gpu/simt/shim.hpp",          "gpu/simt/device_api.hpp", "gpu/simt/groups.hpp",   "gpu/simt/ptx.hpp",
      "gpu/simt/rounding.hpp",      "gpu/simt/half.hpp",         "gpu/simt/half_bits.hpp",  "gpu/simt/small_float.inc",
      "gpu/simt/wmma.hpp",
      "gpu/runtime/async_copy.hpp", "gpu/runtime/bulk_copy.hpp", "gpu/runtime/mma.hpp",    "gpu/runtime/launch.hpp"};
  for (const char* own : kOurs) {
    const std::size_t n = std::strlen(own);
    if (file.size() >= n && file.compare(file.size() - n, n, own) == 0) return true;
  }
  return file.rfind("/usr/", 0) == 0;
}

struct Module {
  std::string path;
  std::uintptr_t base;
  std::uintptr_t low, high;  // of its code
};

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
  return out;
}

struct Frame {
  std::string function;
  Place place;
};

// Frames of each address, innermost first.
std::map<std::uintptr_t, std::vector<Frame>> symbolise(const std::vector<std::uintptr_t>& addresses) {
  std::map<std::uintptr_t, std::vector<Frame>> out;
  std::map<std::string, std::vector<std::uintptr_t>> by_module;
  std::map<std::string, std::uintptr_t> bases;
  const std::vector<Module> all = modules();
  for (const std::uintptr_t a : addresses) {
    for (const Module& m : all) {
      if (a < m.low || a >= m.high) continue;
      by_module[m.path].push_back(a);
      bases[m.path] = m.base;
    }
  }
  for (const auto& [path, list] : by_module) {
    std::string file = path;
    if (file == "/proc/self/exe") {
      char buffer[4096];
      const ssize_t n = readlink("/proc/self/exe", buffer, sizeof buffer);
      if (n > 0) file.assign(buffer, static_cast<std::size_t>(n));
    }
    std::string quoted = "'";
    for (const char c : file) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    std::string command = "addr2line -a -i -f -C -e " + quoted + "'";
    for (const std::uintptr_t a : list) command += fmt::format(" {:#x}", a - bases[path]);
    command += " 2>/dev/null";
    std::FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) continue;
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
    std::uintptr_t at = 0;
    for (std::size_t i = 0; i < lines.size();) {
      if (lines[i].rfind("0x", 0) == 0) {
        at = std::strtoull(lines[i].c_str(), nullptr, 16) + bases[path];
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
  return out;
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

}  // namespace

Location locate(Here here) {
  struct Entry {
    const char* file;
    int line;
    Location location;
  };
  static Entry cache[256];
  const std::size_t slot =
      (reinterpret_cast<std::uintptr_t>(here.file) / 8 + static_cast<std::size_t>(here.line) * 31) % 256;
  Entry& e = cache[slot];
  if (e.file == here.file && e.line == here.line && e.location != 0) return e.location;
  for (std::size_t i = 0; i < g_heres.size(); ++i) {
    if (g_heres[i].file == here.file && g_heres[i].line == here.line)
      return (e = {here.file, here.line, static_cast<Location>(i) | kHereBit}).location;
  }
  g_heres.push_back(here);
  return (e = {here.file, here.line, static_cast<Location>(g_heres.size() - 1) | kHereBit}).location;
}

RawFinding* note(FindingKind kind, const std::string& text, const Thread* thread, Location location,
                 Location other) {
  for (RawFinding& f : engine.findings) {
    if (f.finding.kind != kind) continue;
    if ((f.location == location && f.other_location == other) ||
        (f.location == other && f.other_location == location)) {
      ++f.finding.repeats;
      return nullptr;
    }
  }
  if (engine.findings.size() >= static_cast<std::size_t>(std::max(1, engine.options.max_findings))) {
    ++engine.further_findings;
    return nullptr;
  }
  RawFinding f;
  f.finding.kind = kind;
  f.finding.text = text;
  if (thread != nullptr) f.finding.thread = {thread->block->index, thread->index};
  f.location = location;
  f.other_location = other;
  f.launch = f.other_launch = static_cast<int>(engine.launches.size()) - 1;
  engine.findings.push_back(std::move(f));
  return &engine.findings.back();
}

std::vector<Finding> end_run() {
  std::vector<Finding> out = take_findings();
  engine.arrays.clear();
  engine.last_array = nullptr;
  return out;
}

std::vector<Finding> take_findings() {
  settle();
  const std::vector<Module> all = modules();
  std::vector<std::uintptr_t> wanted;
  const auto want = [&](Location l) {
    if (l != 0 && (l & kHereBit) == 0) wanted.push_back(whole_address(l, all));
  };
  for (const RawFinding& f : engine.findings) {
    want(f.location);
    want(f.other_location);
    if (f.launch >= 0) {
      const void* kernel = engine.launches[static_cast<std::size_t>(f.launch)].kernel_address;
      if (kernel != nullptr) wanted.push_back(reinterpret_cast<std::uintptr_t>(kernel));
    }
  }
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  const auto frames = wanted.empty() ? std::map<std::uintptr_t, std::vector<Frame>>{} : symbolise(wanted);
  const auto place_of = [&](Location l) -> Place {
    if (l == 0) return {};
    if ((l & kHereBit) != 0) {
      const Here& here = g_heres[l & ~kHereBit];
      return {here.file, here.line};
    }
    const auto it = frames.find(whole_address(l, all));
    if (it == frames.end()) return {};
    for (const Frame& f : it->second) {
      if (f.place.line != 0 && !is_ours(f.place.file) && f.function.rfind("plumb_", 0) != 0) return f.place;
    }
    return it->second.empty() ? Place{} : it->second.front().place;
  };
  std::vector<Finding> out;
  for (RawFinding& f : engine.findings) {
    f.finding.place = place_of(f.location);
    f.finding.other_place = place_of(f.other_location);
    if (f.launch >= 0) {
      const Launch& launch = engine.launches[static_cast<std::size_t>(f.launch)];
      f.finding.kernel = launch.kernel;
      const auto it = frames.find(reinterpret_cast<std::uintptr_t>(launch.kernel_address));
      if (launch.kernel.empty() && it != frames.end() && !it->second.empty()) {
        std::string name = it->second.back().function;
        constexpr const char* kUnnamed = "(anonymous namespace)::";
        for (std::size_t at; (at = name.find(kUnnamed)) != std::string::npos;)
          name.erase(at, std::strlen(kUnnamed));
        int depth =
            0;  // the parameters say nothing here; a parenthesis among the template's arguments opens none
        for (std::size_t at = 0; at < name.size(); ++at) {
          if (name[at] == '<') ++depth;
          if (name[at] == '>') --depth;
          if (name[at] == '(' && depth == 0 && at > 0) name.erase(at);
        }
        if (name.rfind("void ", 0) == 0) name.erase(0, 5);
        f.finding.kernel = name;
      }
    }
    // One source line may have been many instructions (an unrolled loop): one finding is enough.
    bool merged = false;
    for (Finding& known : out) {
      if (known.kind == f.finding.kind && known.kernel == f.finding.kernel &&
          known.array == f.finding.array && known.place.line == f.finding.place.line &&
          known.place.file == f.finding.place.file && known.other_place.line == f.finding.other_place.line &&
          known.other_place.file == f.finding.other_place.file) {
        known.repeats += f.finding.repeats;
        merged = true;
        break;
      }
    }
    if (!merged) out.push_back(f.finding);
  }
  engine.findings.clear();
  return out;
}

std::string Finding::describe() const {
  const auto at = [](const Place& p) {
    return p.line == 0 ? std::string("an unknown line") : fmt::format("{}:{}", p.file, p.line);
  };
  std::string out = fmt::format("{} in {}: {}\n", name_of(kind), kernel.empty() ? "a kernel" : kernel, text);
  out += fmt::format("  at {}, block {} thread {}\n", at(place), show(thread.block), show(thread.thread));
  if (has_other)
    out += fmt::format("  and {}, block {} thread {}\n", at(other_place), show(other_thread.block),
                       show(other_thread.thread));
  if (repeats > 1) out += fmt::format("  seen {} times\n", repeats);
  if (!hint.empty()) out += "  " + hint + "\n";
  return out;
}

}  // namespace plumb::simt
