// The shadow of an array: a cell for each granule of it, whose pages come into being when touched.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <vector>

#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

Cell* map_cells(std::size_t count) {
  void* p = mmap(nullptr, count * sizeof(Cell), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  return static_cast<Cell*>(p);  // zero pages: no access, not initialised
}

// A cell as two of half its granule; the second may lie beyond the end.
void split(const Cell& c, Cell* fine, bool both) {
  if (c.untouched()) return;
  fine[0] = c;
  if (!both) return;
  fine[1] = c;
  if (!c.many_warps()) fine[1].more = current().race.lists.copy(c.more);
}

constexpr std::size_t kPage = 4096;
static_assert(kPage % sizeof(Cell) == 0, "a page's cells lie in it");

/// Which pages of mapped memory have ever been touched: to read the others would bring them into being.
class TouchedPages {
 public:
  explicit TouchedPages(const void* base) : first_(reinterpret_cast<std::uintptr_t>(base) / kPage) {
    if (sysconf(_SC_PAGESIZE) == static_cast<long>(kPage))
      fd_ = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  }
  ~TouchedPages() {
    if (fd_ >= 0) close(fd_);
  }
  TouchedPages(const TouchedPages&) = delete;
  TouchedPages& operator=(const TouchedPages&) = delete;
  /// Ask in ascending order. True also where the system does not say it.
  bool has(std::size_t page) {
    if (page >= begin_ + count_) load(page);
    return count_ == 0 || page < begin_ || (entries_[page - begin_] >> 62) != 0;  // in memory, or swapped out
  }

 private:
  void load(std::size_t page) {
    begin_ = page;
    const ssize_t n = fd_ < 0 ? -1
                              : pread(fd_, entries_.data(), entries_.size() * sizeof entries_[0],
                                      static_cast<off_t>((first_ + page) * sizeof entries_[0]));
    count_ = n > 0 ? static_cast<std::size_t>(n) / sizeof entries_[0] : 0;
  }
  std::uintptr_t first_;
  int fd_ = -1;
  std::vector<std::uint64_t> entries_ =
      std::vector<std::uint64_t>(4096);  // a kernel's thread has a small stack
  std::size_t begin_ = 0, count_ = 0;
};

}  // namespace

Shadow::Shadow(std::size_t bytes) : bytes_(bytes), cells_(map_cells(count())) {}

Shadow::~Shadow() { munmap(cells_, count() * sizeof(Cell)); }

void Shadow::halve() {
  const std::size_t coarse = count();
  Cell* const fine = map_cells((bytes_ >> (shift_ - 1)) + 2);
  constexpr std::size_t kCellsOfPage = kPage / sizeof(Cell);
  TouchedPages pages(cells_);
  for (std::size_t page = 0; page * kCellsOfPage < coarse; ++page) {
    if (!pages.has(page)) continue;
    const std::size_t end = std::min(coarse, (page + 1) * kCellsOfPage);
    for (std::size_t i = page * kCellsOfPage; i < end; ++i)
      split(cells_[i], fine + 2 * i, (2 * i + 1) << (shift_ - 1) < bytes_);
  }
  munmap(cells_, coarse * sizeof(Cell));
  cells_ = fine;
  --shift_;
}

void Shadow::forget(std::size_t bytes) {
  const std::size_t end = std::min(count(), (bytes >> shift_) + 1);
  for (std::size_t i = 0; i < end; ++i) {
    Cell& c = cells_[i];
    if (c.untouched()) continue;  // its page may not be there yet
    if (!c.many_warps()) current().race.lists.release(c.more);
    c = Cell{};
  }
}

}  // namespace plumb::simt
