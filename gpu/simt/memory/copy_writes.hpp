// Global memory as copies out of shared memory write it: by the asynchronous proxy, beside the thread that started them. Whoever uses
// what they write must come after a cp.async.bulk.wait_group of that thread; with .read it says only that shared memory was read.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/simt/memory/memory.hpp"

namespace plumb::simt {

/// An array's latest writes by such copies.
struct WritesByCopies {
  struct Write {
    std::size_t offset, bytes;
    Mark mark;
    bool reduces;  // each number in an atomic operation
  };
  std::vector<Write> writes;
  std::size_t next = 0;  // which of them goes when there are too many
};

/// The thread's copy of the group with that number will write those bytes, of the array that is returned; null: of none.
Array* write_by_copy(Thread& t, unsigned char* to, std::size_t bytes, std::uint32_t group, Location location,
                     bool reduces);
/// The thread has waited until its groups up to that one have written.
void settle_writes(const Thread& t, Array& array, std::uint32_t group);
/// An access by the thread, or the host: no copy may still write there.
void check_copy_writes(const Thread& t, Array& array, std::size_t offset, std::size_t bytes, const Mark& now);

}  // namespace plumb::simt
