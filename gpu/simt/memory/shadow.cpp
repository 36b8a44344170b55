// The shadow of an array: a cell for each granule of it, whose pages come into being when touched.
#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

Cell* map_cells(std::size_t count) {
  void* p = mmap(nullptr, count * sizeof(Cell), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  return static_cast<Cell*>(p);  // zero pages: no access, not initialised
}

}  // namespace

Shadow::Shadow(std::size_t bytes) : bytes_(bytes), cells_(map_cells(count())) {}

Shadow::~Shadow() { munmap(cells_, count() * sizeof(Cell)); }

void Shadow::halve() {
  const std::size_t coarse = count();
  Cell* const fine = map_cells((bytes_ >> (shift_ - 1)) + 2);
  for (std::size_t i = 0; i < coarse; ++i) {
    const Cell& c = cells_[i];
    if (c.untouched()) continue;
    fine[2 * i] = c;
    if ((2 * i + 1) << (shift_ - 1) >= bytes_) continue;
    fine[2 * i + 1] = c;
    if (!c.many_warps()) fine[2 * i + 1].more = current().race.lists.copy(c.more);
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
