#include "verify/engine/backend/workspaces.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <charconv>
#include <system_error>

#include "reference/core/exhaustion.hpp"

namespace plumb {
namespace {

struct StaleWorkspace {
  std::byte* first = nullptr;
  std::size_t size = 0;
  const std::byte* data = nullptr;
  std::int64_t bytes = 0;
};

// The last ones, in turn. The handler reads them: another thread may be in close_workspace() then, and what it says may be wrong.
constexpr std::size_t kMostStale = 256, kMostAddresses = std::size_t{64} << 30;
struct StaleWorkspaces {
  std::array<StaleWorkspace, kMostStale> kept;
  std::size_t taken = 0, dropped = 0, addresses = 0;
  std::atomic<std::size_t> mapped{0};  // bytes, live ones too
  struct sigaction owner_before {};
  bool is_watched = false;
} stale_workspaces;

// A line for stderr, made without what a signal handler may not call.
class Line {
 public:
  Line& operator<<(const char* text) {
    while (*text != 0 && length_ < sizeof text_) text_[length_++] = *text++;
    return *this;
  }
  Line& operator<<(std::int64_t number) {
    const std::to_chars_result end = std::to_chars(text_ + length_, text_ + sizeof text_, number);
    if (end.ec == std::errc()) length_ = static_cast<std::size_t>(end.ptr - text_);
    return *this;
  }
  void write_out() const { (void)!write(STDERR_FILENO, text_, length_); }

 private:
  char text_[200];
  std::size_t length_ = 0;
};

// Whether it was one, which stderr is told.
bool tell_stale_access(const std::byte* at) {
  for (const StaleWorkspace& w : stale_workspaces.kept) {
    if (at < w.first || at >= w.first + w.size) continue;
    (Line() << "used a workspace of " << w.bytes << " bytes after its run had ended, at byte " << at - w.data
            << "\n")
        .write_out();
    return true;
  }
  return false;
}

// The access comes again, to whoever had the signal before; where that one gives it back, it ends the process.
void on_stale_access(int signal, siginfo_t* info, void*) {
  static const void* last = nullptr;
  const bool again = last == info->si_addr;
  last = info->si_addr;
  struct sigaction end {};
  end.sa_handler = SIG_DFL;
  const bool ends = again || tell_stale_access(static_cast<const std::byte*>(info->si_addr));
  sigaction(signal, ends ? &end : &stale_workspaces.owner_before, nullptr);
  if (info->si_code <= 0) raise(signal);  // it was sent, and no instruction would do it again
}

void watch_stale_workspaces() {
  if (stale_workspaces.is_watched) return;
  stale_workspaces.is_watched = true;
  struct sigaction action {};
  action.sa_sigaction = on_stale_access;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &action, &stale_workspaces.owner_before);
}

void unmap_workspace(std::byte* first, std::size_t size) {
  munmap(first, size);
  stale_workspaces.mapped -= size;
}

void drop_oldest_workspace() {
  StaleWorkspace& w = stale_workspaces.kept[stale_workspaces.dropped++ % kMostStale];
  unmap_workspace(w.first, w.size);
  stale_workspaces.addresses -= w.size;
  w = {};
}

}  // namespace

std::byte* map_workspace(std::size_t size) {
  // every byte will be poisoned: pages that come at once cost less than those that are asked for one by one
  constexpr int kAtOnce = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE;
  void* const at = mmap(nullptr, size, PROT_READ | PROT_WRITE, kAtOnce, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  stale_workspaces.mapped += size;
  return static_cast<std::byte*>(at);
}

std::int64_t pages_of_workspaces() {
  constexpr std::size_t kPage = 4096;
  return static_cast<std::int64_t>(stale_workspaces.mapped / kPage);
}

void close_workspace(std::byte* first, std::size_t size, const std::byte* data, std::int64_t bytes) {
  constexpr int kNobodys = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  if (memory_is_limited() || size > kMostAddresses ||
      mmap(first, size, PROT_NONE, kNobodys, -1, 0) == MAP_FAILED) {
    unmap_workspace(first, size);
    return;
  }
  watch_stale_workspaces();
  StaleWorkspaces& all = stale_workspaces;
  while (all.taken - all.dropped == kMostStale ||
         (all.taken > all.dropped && all.addresses + size > kMostAddresses))
    drop_oldest_workspace();
  all.kept[all.taken++ % kMostStale] = {first, size, data, bytes};
  all.addresses += size;
}

}  // namespace plumb
