#include "gpu/simt/memory/freed.hpp"

#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

using Release = void (*)(void* p, std::size_t bytes);
struct Kept {
  FreedArray array;
  Release release;
};

// By where they lie, and in the order in which they were freed.
struct AllKept {
  std::map<const unsigned char*, Kept> by_base;
  std::deque<const unsigned char*> in_order;
  std::size_t bytes = 0, resident = 0;
};
AllKept& kept() {
  static auto& all = *new AllKept;  // outlives the program's own statics, whose destructors may free memory
  return all;
}

const Calls* graph_run = nullptr;  // where the graph was launched that runs; null: none does

// Of address space: large arrays have their pages taken when they are freed.
std::size_t most_bytes() {
  constexpr std::size_t kUsual = std::size_t{64} << 30;
  constexpr rlim_t kPart = 16;
  rlimit limit{};
  const bool limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return limited ? std::min<std::size_t>(kUsual, limit.rlim_cur / kPart) : kUsual;
}

void release(std::map<const unsigned char*, Kept>::iterator at) {
  const FreedArray& array = at->second.array;
  kept().bytes -= array.bytes, kept().resident -= array.resident;
  if (at->second.release != nullptr) at->second.release(array.base, array.bytes);
  kept().by_base.erase(at);
}

// One of those in order may have been forgotten.
void release_oldest() {
  const auto at = kept().by_base.find(kept().in_order.front());
  kept().in_order.pop_front();
  if (at != kept().by_base.end()) release(at);
}

}  // namespace

void keep_freed(FreedArray array, Release give_back) {
  constexpr std::size_t kMost = 4096, kMostResident = std::size_t{64} << 20;
  if (!runs_by_itself()) {
    if (give_back != nullptr) give_back(array.base, array.bytes);
    return;
  }
  AllKept& all = kept();
  all.bytes += array.bytes, all.resident += array.resident;
  all.in_order.push_back(array.base);
  unsigned char* const base = array.base;
  all.by_base[base] = {std::move(array), give_back};
  while (!all.in_order.empty() &&
         (all.in_order.size() > kMost || all.bytes > most_bytes() || all.resident > kMostResident))
    release_oldest();
}

void forget_freed(const void* base) {
  const auto at = kept().by_base.find(static_cast<const unsigned char*>(base));
  if (at != kept().by_base.end()) release(at);
}

const FreedArray* freed_at(const void* p) {
  const auto* const at = static_cast<const unsigned char*>(p);
  auto it = kept().by_base.upper_bound(at);
  if (it == kept().by_base.begin()) return nullptr;
  const FreedArray& array = (--it)->second.array;
  return at < array.base + array.bytes ? &array : nullptr;
}

std::string show_freed(const FreedArray& array, const void* p) {
  std::string out =
      fmt::format(": use after free, at byte {} of '{}' ({} bytes), freed by {} at {}, allocated at {}",
                  static_cast<const unsigned char*>(p) - array.base, array.name, array.bytes, array.by,
                  show_calls(array.freed), show_calls(array.made));
  if (graph_run != nullptr)
    out += fmt::format("; a replay of a graph uses the address that it was captured with, launched at {}",
                       show_calls(*graph_run));
  return out;
}

GraphRun::GraphRun(const Calls& launched) : before_(std::exchange(graph_run, &launched)) {}
GraphRun::~GraphRun() { graph_run = before_; }

}  // namespace plumb::simt
