// The device's heap: malloc and free, new and delete in a kernel give memory that is watched like any other.
#include <fmt/core.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <unordered_map>

#include "gpu/simt/host/api/runtime/operations.hpp"
#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

struct Heap {
  std::unordered_map<const void*, std::size_t> pieces;  // bytes of each
  std::size_t used = 0;
  std::size_t limit = std::size_t{8} << 20;
};
Heap& heap() {
  static auto& all = *new Heap;  // outlives the program's own statics
  return all;
}

void* heap_allocate(std::size_t bytes) {
  if (heap().used + bytes > heap().limit) return nullptr;
  void* p = std::aligned_alloc(16, (bytes + 31) / 16 * 16);
  if (p == nullptr) return nullptr;
  for (std::size_t i = 0; i + 4 <= bytes; i += 4)
    std::memcpy(static_cast<unsigned char*>(p) + i, &current().run.options.poison, 4);
  heap().pieces[p] = bytes;
  heap().used += bytes;
  add_array(fmt::format("memory of {} bytes that a kernel allocated", bytes), p, bytes, false, true);
  return p;
}

bool heap_release(void* p) {
  const auto it = heap().pieces.find(p);
  if (it == heap().pieces.end()) return false;
  heap().used -= it->second;
  heap().pieces.erase(it);
  remove_array(p);
  std::free(p);
  return true;
}

}  // namespace

void set_heap_limit(std::size_t bytes) { heap().limit = bytes; }

}  // namespace plumb::simt

// What rewritten files call for malloc and free, new and delete: the device's heap in a kernel, else the host's.
extern "C" {
void* plumb_simt_malloc(std::size_t bytes) {
  return plumb::simt::current().schedule.thread != nullptr ? plumb::simt::heap_allocate(bytes)
                                                           : std::malloc(bytes);
}
void plumb_simt_free(void* p) {
  if (plumb::simt::current().schedule.thread == nullptr) return std::free(p);
  if (p != nullptr && !plumb::simt::heap_release(p))
    plumb::simt::trap("free of what no kernel allocated, or freed before", plumb::simt::Here{"", 0});
}
void* plumb_simt_new(std::size_t bytes) {
  return plumb::simt::current().schedule.thread != nullptr ? plumb::simt::heap_allocate(bytes)
                                                           : ::operator new(bytes);
}
void plumb_simt_delete(void* p) {
  if (plumb::simt::current().schedule.thread == nullptr) return ::operator delete(p);
  plumb_simt_free(p);
}
}
