#include "verify/engine/operator/mutants_in_force.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include <fmt/format.h>

#include "reference/core/resource_error.hpp"
#include "verify/engine/operator/mutant_points.hpp"

namespace plumb {

struct BoardMemory {
  std::atomic<int> in_force;
  std::atomic<bool> touched;
  // Written by every thread of a variant: the same bits again and again, so their order is of no matter.
  std::atomic<std::uint8_t> seen[kMostMutants + 1];
};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<std::uint8_t>::is_always_lock_free,
              "processes share them");

namespace {

constexpr const char* kVariable = "PLUMB_MUTANT_BOARD";  // the number of its descriptor

BoardMemory nobodys;  // zeros: the original is in force
BoardMemory* board = &nobodys;

BoardMemory* map_board(int fd) {
  void* const at = mmap(nullptr, sizeof(BoardMemory), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return at == MAP_FAILED ? nullptr : static_cast<BoardMemory*>(at);  // zero pages
}

// Before main: the kernels' process may not do it once it is confined.
[[gnu::constructor]] void find_board() {
  const char* const number = std::getenv(kVariable);
  if (number == nullptr) return;
  if (BoardMemory* const found = map_board(std::atoi(number))) board = found;
}

void note(int first, int count, std::uint8_t bit) {
  const int end = std::min(first + count, kMostMutants + 1);
  for (int n = std::max(first, 1); n < end; ++n) {
    const std::uint8_t before = board->seen[n].load(std::memory_order_relaxed);
    if ((before & bit) == 0) board->seen[n].store(before | bit, std::memory_order_relaxed);
  }
  if (!board->touched.load(std::memory_order_relaxed)) board->touched.store(true, std::memory_order_relaxed);
}

}  // namespace

MutantBoard::MutantBoard() : fd_(memfd_create("mutants", 0)) {  // children inherit it
  if (fd_ >= 0 && ftruncate(fd_, sizeof(BoardMemory)) == 0) memory_ = map_board(fd_);
  if (memory_ != nullptr) return;
  if (fd_ >= 0) close(fd_);
  throw ResourceError("no memory or descriptor for the board of mutants");
}

MutantBoard::~MutantBoard() {
  if (board == memory_) board = &nobodys;
  munmap(memory_, sizeof(BoardMemory));
  close(fd_);
}

std::string MutantBoard::variable() const { return fmt::format("{}={}", kVariable, fd_); }

void MutantBoard::use_here() { board = memory_; }

void MutantBoard::put(int number) {
  memory_->in_force = number;
  if (!memory_->touched) return;
  for (std::atomic<std::uint8_t>& s : memory_->seen) s.store(0, std::memory_order_relaxed);
  memory_->touched = false;
}

std::vector<SeenMutant> MutantBoard::seen() const {
  std::vector<SeenMutant> all;
  if (!memory_->touched) return all;
  for (int n = 1; n <= kMostMutants; ++n) {
    if (const std::uint8_t s = memory_->seen[n]; s != 0) all.push_back({n, s});
  }
  return all;
}

}  // namespace plumb

extern "C" int plumb_mutant_at(int first, int count) noexcept {
  plumb::note(first, count, plumb::kPlaceReached | plumb::kPlaceFelt);
  const int which = plumb::board->in_force.load(std::memory_order_relaxed) - first;
  return which >= 0 && which < count ? which : -1;
}

extern "C" int plumb_mutant_asked(int first, int count) noexcept {
  plumb::note(first, count, plumb::kPlaceReached);
  const int number = plumb::board->in_force.load(std::memory_order_relaxed), which = number - first;
  if (number == 0) return plumb::mutate::kAsking;
  return which >= 0 && which < count ? which : -1;
}

extern "C" void plumb_mutant_felt(int number) noexcept { plumb::note(number, 1, plumb::kPlaceFelt); }

extern "C" void plumb_mutant_absent(int first, int count) noexcept {
  plumb::note(first, count, plumb::kPlaceAbsent);
}
