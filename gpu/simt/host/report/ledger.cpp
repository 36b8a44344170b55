#include "gpu/simt/host/report/ledger.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace plumb::simt {

namespace {

using nlohmann::json;

constexpr const char* kVariable =
    "PLUMB_SIMT_LEDGER";  // FILE DESCRIPTOR:INODE:SELF, for programs that this one starts

struct Ledger {
  int fd = -1;
  std::string self;  // the names of the processes that led to this one, from the first
};
Ledger& ledger() {
  static auto& it = *new Ledger;  // outlives the program's own statics
  return it;
}

// A process, and what it has become by exec.
std::string new_name() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  return fmt::format("{}-{}", getpid(), static_cast<long long>(now));
}

// Takes part in the ledger that the process was started with. False: there is none.
bool inherit() {
  const char* const word = std::getenv(kVariable);
  int fd = -1, length = 0;
  unsigned long long inode = 0;
  if (word == nullptr || std::sscanf(word, "%d:%llu:%n", &fd, &inode, &length) != 2 || length == 0)
    return false;
  struct stat s {};
  if (fstat(fd, &s) != 0 || s.st_ino != inode) return false;
  ledger() = {fd, word + length + ("/" + new_name())};
  return true;
}

json words(const Place& p) { return {p.file, p.line}; }
json words(const ThreadId& id) {
  return {id.block.x, id.block.y, id.block.z, id.thread.x, id.thread.y, id.thread.z, id.host};
}
json words(const std::vector<TrailStep>& trail) {
  json out = json::array();
  for (const TrailStep& s : trail) out.push_back({s.what, words(s.place), s.generation, s.before});
  return out;
}
Place place_of(const json& j) { return {j.at(0), j.at(1)}; }
ThreadId thread_of(const json& j) {
  return {{j.at(0), j.at(1), j.at(2)}, {j.at(3), j.at(4), j.at(5)}, j.at(6)};
}
std::vector<TrailStep> trail_of(const json& j) {
  std::vector<TrailStep> out;
  for (const json& s : j) out.push_back({s.at(0), place_of(s.at(1)), s.at(2), s.at(3)});
  return out;
}

json words(const Finding& f) {
  return {{"kind", static_cast<int>(f.kind)},
          {"kernel", f.kernel},
          {"text", f.text},
          {"hint", f.hint},
          {"place", words(f.place)},
          {"thread", words(f.thread)},
          {"is_note", f.is_note},
          {"has_other", f.has_other},
          {"other_place", words(f.other_place)},
          {"other_thread", words(f.other_thread)},
          {"other_kernel", f.other_kernel},
          {"array", f.array},
          {"offset", f.offset},
          {"trail", words(f.trail)},
          {"other_trail", words(f.other_trail)},
          {"suppressed", f.suppressed},
          {"repeats", f.repeats}};
}

Finding finding_of(const json& j) {
  Finding f;
  f.kind = static_cast<FindingKind>(j.at("kind").get<int>());
  f.kernel = j.at("kernel"), f.text = j.at("text"), f.hint = j.at("hint");
  f.place = place_of(j.at("place")), f.thread = thread_of(j.at("thread"));
  f.is_note = j.at("is_note"), f.has_other = j.at("has_other");
  f.other_place = place_of(j.at("other_place")), f.other_thread = thread_of(j.at("other_thread"));
  f.other_kernel = j.at("other_kernel"), f.array = j.at("array"), f.offset = j.at("offset");
  f.trail = trail_of(j.at("trail")), f.other_trail = trail_of(j.at("other_trail"));
  f.suppressed = j.at("suppressed"), f.repeats = j.at("repeats");
  return f;
}

void append(json line) {
  if (ledger().fd < 0) return;
  line["process"] = ledger().self;
  const std::string text = line.dump(-1, ' ', true, json::error_handler_t::replace) + "\n";
  const LedgerLock lock;
  // of memory, whole; where there is none the others do not learn of it
  if (pwrite(ledger().fd, text.data(), text.size(), lseek(ledger().fd, 0, SEEK_END)) < 0) return;
}

std::string contents() {
  struct stat s {};
  if (ledger().fd < 0 || fstat(ledger().fd, &s) != 0) return "";
  std::string text(static_cast<std::size_t>(s.st_size), '\0');
  const ssize_t n = pread(ledger().fd, text.data(), text.size(), 0);
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return text;
}

void lock_ledger(short how) {
  struct flock what {};
  what.l_type = how;
  what.l_whence = SEEK_SET;
  if (ledger().fd >= 0) fcntl(ledger().fd, F_SETLKW, &what);
}

}  // namespace

LedgerLock::LedgerLock() { lock_ledger(F_WRLCK); }
LedgerLock::~LedgerLock() { lock_ledger(F_UNLCK); }

void open_ledger() {
  if (!ledger().self.empty()) return;
  pthread_atfork(nullptr, nullptr, [] { ledger().self += "/" + new_name(); });
  if (inherit()) return;
  ledger().self = new_name();
  const int low = memfd_create("plumb_simt_findings", 0);  // programs that are started inherit it
  if (low < 0) return;
  constexpr int kAbove = 200;  // a program may count on the numbers of the files that it opens
  const int high = fcntl(low, F_DUPFD, kAbove);
  ledger().fd = high >= 0 ? high : low;
  if (high >= 0) close(low);
  struct stat s {};
  fstat(ledger().fd, &s);
  setenv(kVariable, fmt::format("{}:{}:{}", ledger().fd, s.st_ino, ledger().self).c_str(), 1);
}

void add_to_ledger(const Finding& finding) { append({{"finding", words(finding)}}); }

void add_begin_to_ledger() { append({{"begun", true}}); }

void add_end_to_ledger(bool cut) { append({{"cut", cut}}); }

OfOthers of_others() {
  OfOthers out;
  std::set<std::string> open;
  const std::string text = contents();
  for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    const json line = json::parse(text.begin() + static_cast<std::ptrdiff_t>(at),
                                  text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    if (!line.is_object() || line.at("process") == ledger().self) continue;
    const std::string by = line.at("process");
    if (line.contains("begun")) open.insert(by);
    if (line.contains("cut")) open.erase(by), out.any_cut = out.any_cut || line.at("cut").get<bool>();
    if (!line.contains("finding")) continue;
    out.findings.push_back(finding_of(line.at("finding")));
    const Finding& f = out.findings.back();
    if (by.rfind(ledger().self + "/", 0) == 0 && !f.is_note && f.suppressed.empty()) ++out.of_descendants;
  }
  out.any_open = !open.empty();
  return out;
}

}  // namespace plumb::simt
