// The shadow of an array: a cell for each granule of it, whose pages come into being when touched.
#include <sys/mman.h>

#include <new>

#include "gpu/simt/state.hpp"

namespace plumb::simt {

Shadow::Shadow(std::size_t bytes) : bytes_(bytes) {
  const std::size_t need = (bytes / 4 + 2) * sizeof(Cell);
  void* p = mmap(nullptr, need, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  cells_ = static_cast<Cell*>(p);  // zero pages: no access, not initialised
}

Shadow::~Shadow() { munmap(cells_, (bytes_ / (std::size_t{1} << shift_) + 2) * sizeof(Cell)); }

void Shadow::refine() {
  Cell* const old = cells_;
  const std::size_t count = bytes_ / 4 + 2;
  void* p = mmap(nullptr, (bytes_ + 2) * sizeof(Cell), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  cells_ = static_cast<Cell*>(p);
  shift_ = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Cell& c = old[i];
    if (c.write.block == 0 && c.other.block == 0 && c.initialised == 0 && c.async_pending == 0) continue;
    for (std::size_t j = 0; j < 4 && i * 4 + j < bytes_; ++j) {
      Cell& fine = cells_[i * 4 + j];
      fine = c;
      if (c.more != 0) {  // each byte owns its set
        const MarkSet copy = current().race.mark_sets[c.more];
        current().race.mark_sets.push_back(copy);
        fine.more = static_cast<std::uint32_t>(current().race.mark_sets.size() - 1);
      }
    }
  }
  munmap(old, count * sizeof(Cell));
}

}  // namespace plumb::simt
