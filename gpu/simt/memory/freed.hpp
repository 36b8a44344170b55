// Memory that the program has given back, kept for a while so that no other array has its addresses: who still uses it is told what it was.
#pragma once
#include <cstddef>
#include <string>

#include "gpu/simt/race/calls.hpp"

namespace plumb::simt {

struct FreedArray {
  unsigned char* base = nullptr;
  std::size_t bytes = 0;
  std::size_t resident = 0;  // bytes of the machine's memory that it takes as long as it is kept
  std::string name;
  const char* by = "";  // "cudaFree"
  Calls made, freed;
};

/// The array is freed: its memory goes to `release` later, or at once where a program is not told of its findings. `release` is null for
/// memory that keeps its addresses.
void keep_freed(FreedArray array, void (*release)(void* p, std::size_t bytes));
/// The array is given to the program again.
void forget_freed(const void* base);
/// The array that held `p` before it was freed; null: none that is kept.
const FreedArray* freed_at(const void* p);
/// ": use after free, at byte 256 of 'x' (1024 bytes), freed by cudaFree at a.cu:12, allocated at a.cu:5".
std::string show_freed(const FreedArray& array, const void* p);

/// A graph's nodes run as long as this lives, by the program's call of cudaGraphLaunch().
class GraphRun {
 public:
  explicit GraphRun(const Calls& launched);
  ~GraphRun();
  GraphRun(const GraphRun&) = delete;
  GraphRun& operator=(const GraphRun&) = delete;

 private:
  const Calls* before_;
};

}  // namespace plumb::simt
