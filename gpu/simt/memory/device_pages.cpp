#include "gpu/simt/memory/device_pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace plumb::simt {

namespace {

constexpr unsigned char kPattern = 0xa5;
// A file in memory that holds the pattern stands behind each piece of a large array, and is copied page by page. A process may have some
// 65,000 pieces.
constexpr std::size_t kPiece = std::size_t{4} << 20;
constexpr std::size_t kLarge = std::size_t{1} << 20;  // from here on an array has pages of its own
constexpr std::size_t kMostPieces = 16384;
std::size_t pieces_in_use = 0;

std::size_t with_gap(std::size_t bytes) { return (bytes + 511) / 256 * 256; }
std::size_t in_pages(std::size_t bytes) { return (with_gap(bytes) + kPiece - 1) / kPiece * kPiece; }

// -1: there is none.
int pattern_file() {
  static const int file = [] {
    const int fd = memfd_create("plumb_simt_pattern", MFD_CLOEXEC);
    const std::vector<unsigned char> all(kPiece, kPattern);
    const bool done = fd >= 0 && write(fd, all.data(), all.size()) == static_cast<ssize_t>(all.size());
    if (fd >= 0 && !done) close(fd);
    return done ? fd : -1;
  }();
  return file;
}

// Lays the pattern over the pages; beyond what a process may have they hold zeros.
void lay_pattern(unsigned char* p, std::size_t bytes) {
  if (pattern_file() < 0) return;
  for (std::size_t at = 0; at < bytes && pieces_in_use < kMostPieces; at += kPiece) {
    void* const piece = mmap(p + at, kPiece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE,
                             pattern_file(), 0);
    if (piece == MAP_FAILED) return;
    ++pieces_in_use;
  }
}

}  // namespace

void* take_device_memory(std::size_t bytes) {
  if (bytes < kLarge) {
    void* const p = std::aligned_alloc(256, with_gap(bytes));
    if (p != nullptr) std::memset(p, kPattern, with_gap(bytes));
    return p;
  }
  void* const p = mmap(nullptr, in_pages(bytes), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  lay_pattern(static_cast<unsigned char*>(p), in_pages(bytes));
  return p;
}

void empty_device_memory(void* p, std::size_t bytes) {
  if (bytes >= kLarge) madvise(p, in_pages(bytes), MADV_DONTNEED);
}

void give_back_device_memory(void* p, std::size_t bytes) {
  if (bytes < kLarge) return std::free(p);
  munmap(p, in_pages(bytes));
  pieces_in_use -= std::min(pieces_in_use, in_pages(bytes) / kPiece);
}

}  // namespace plumb::simt
