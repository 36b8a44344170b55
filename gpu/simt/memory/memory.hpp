// The memory that kernels may touch: arrays, their shadow, and the checks of every access.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gpu/simt/race/cell.hpp"
#include "gpu/simt/race/race.hpp"

namespace plumb::simt {

/// Of a thread's stack. Stacks lie side by side: an odd number of pages, since the same places of all would share few sets of the caches,
/// and so would what the processor keeps of their pages. With 128 KiB a switch among 256 threads costs four times as much.
constexpr std::size_t kStackBytes = std::size_t{37} * 4096;
constexpr std::size_t kStackGuardBytes = 4096;   // the lowest of them, which nothing may touch
constexpr std::size_t kArenaBytes = 256 * 1024;  // shared memory with the gaps between its pieces

/// The shadow of a contiguous range of memory: a cell for each granule, which is 4 bytes, or 2 or 1 once it was accessed in such parts.
/// Pages come into being when touched.
class Shadow {
 public:
  explicit Shadow(std::size_t bytes);
  ~Shadow();
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;
  Cell* at(std::size_t offset) { return cells_ + (offset >> shift_); }
  [[nodiscard]] std::size_t granule() const { return std::size_t{1} << shift_; }
  [[nodiscard]] bool whole(std::size_t offset, std::size_t bytes) const {
    return ((offset | bytes) & (granule() - 1)) == 0;
  }
  /// Halves the granules until an access of that place and size is one of whole granules.
  void refine_for(std::size_t offset, std::size_t bytes) {
    while (!whole(offset, bytes)) halve();
  }
  /// The first `bytes` bytes as if nobody had touched them.
  void forget(std::size_t bytes);
  std::size_t bytes() const { return bytes_; }

 private:
  void halve();
  [[nodiscard]] std::size_t count() const { return (bytes_ >> shift_) + 2; }

  std::size_t bytes_;
  int shift_ = 2;
  Cell* cells_;
};

struct MapReads;
struct WritesByCopies;
struct Array {
  std::string name;
  unsigned char* base = nullptr;
  std::size_t bytes = 0;
  bool initialised = true;
  bool writable = true;
  bool device_only = false;        // the host may not touch it by itself
  bool of_host = false;            // the host may write it while a kernel runs
  bool constant = false;           // __constant__: the host writes it, kernels do not
  bool gap = false;                // kVariableGap bytes behind it belong to nothing
  std::unique_ptr<Shadow> shadow;  // made at the first access that needs it
  // Of memory that is allocated in the order of a stream: the block that stands for the allocation, and its place. 0: of other memory.
  std::uint32_t allocation = 0;
  Location allocated_at = 0;
  std::unique_ptr<MapReads> map_reads;  // copies that read it as a tensor map (map_proxy.hpp); null: none
  std::unique_ptr<WritesByCopies>
      copy_writes;        // of copies out of shared memory (copy_writes.hpp); null: none
  bool by_proxy = false;  // one of the two is there
  Array();
  ~Array();
  /// Whether threads that know all blocks below that number may still find more wrong with an access than its cells say.
  [[nodiscard]] bool needs_a_look(std::uint32_t known_below) const {
    return allocation >= known_below || by_proxy;
  }
};

/// A piece of a block's shared memory.
struct SharedPiece {
  const char* name;
  const void* slot;          // who asked for it
  std::uint32_t begin, end;  // bytes in the arena
};

// arrays.cpp
/// Where `p` lies beside the nearest array, as the end of a sentence.
std::string nearest_array(const unsigned char* p);
/// The array, variable or piece of shared memory that holds `p`, and the byte of it: "'flag' at byte 4".
std::string show_place(const Thread& thread, const unsigned char* p);
/// The array at `p` was allocated by an operation in the order of `stream`: whoever uses it must come after that.
void allocated_in_order(const char* what, const void* stream, Here here, const void* p);
/// A use of the array by the thread: reports it, once, where nothing orders the allocation before it.
void check_allocation(const Thread& thread, Array& array, std::size_t offset, const Mark& now);
void load_image();  // finds the program's segments and its variables of the device
/// The variable of the device that `p` lies in, or whose gap it lies in.
Array* find_variable(const unsigned char* p);

// access.cpp: what instrumented code and the executor's own operations do to memory
void access(void* p, std::size_t bytes, Access kind, Location location, Scope scope = Scope::device);
void async_started(void* to, const void* from, std::size_t bytes, std::size_t valid, Location location);
/// The copy has come: for whoever waited (`taken`) a write of the running thread, else still one of the thread that started it.
void async_landed(Block& block, void* to, std::size_t bytes, Location location, bool taken);
struct HostRange {
  const void* at;
  std::size_t bytes;
  bool writes;
  bool to_host = false;  // read for a copy that the host alone can look at
  bool judged = true;    // whether a read of what nothing wrote is told
};
/// An operation of the host's in stream order, by what it reads and writes: checks bounds and leaves its marks.
/// `pc`: where it was called, if `here` does not say it.
void host_ranges(const char* what, void* stream, Here here, const std::vector<HostRange>& ranges,
                 const void* pc = nullptr);
/// A fill (from null) or copy in stream order: checks bounds and leaves its mark.
void host_operation(const char* what, void* stream, Here here, void* to, const void* from, std::size_t bytes);
/// unset.cpp: notes a word of the array, which the host gets, that a kernel stored of a variable that nothing had set.
void look_for_unset(Array& array, std::size_t offset, std::size_t bytes);
/// The array that holds `p`; null where none does.
Array* array_of(const unsigned char* p);
/// Makes the shadow of the array at `p` now rather than at its first access. False: there is no room for it.
bool reserve_shadow(const void* p);
/// What instrumented code of the host does to memory that the device knows (host/host_code.cpp).
void host_access(unsigned char* at, std::size_t bytes, Access kind, Location location);
/// True where the executor should let others run: the thread polls.
bool polling(Thread& thread);

}  // namespace plumb::simt
