#include "datasets/formats/binary_cache.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string_view>

#include "datasets/io/fuzzing.hpp"
#include "datasets/io/output_file.hpp"
#include "reference/core/csr.hpp"
#include "reference/core/error.hpp"

namespace plumb {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the cache is mapped as it stands: little-endian machines only");

constexpr char kMagic[8] = {'P', 'L', 'U', 'M', 'B', 'C', 'S', 'R'};
constexpr std::uint32_t kVersion = 1, kByteOrder = 0x01020304, kFp32 = 4;
constexpr std::int64_t kAlign = 64;

struct Header {
  char magic[8];
  std::uint32_t version, byte_order, kind, table_crc;
  std::int64_t matrices, file_bytes;
  char zeros[24];
};
static_assert(sizeof(Header) == 64);

struct Entry {
  std::int64_t rows, cols, nnz;
  std::int64_t row_ptr_at, col_at, val_at;
  std::uint32_t row_ptr_crc, col_crc, val_crc, value_type;
};
static_assert(sizeof(Entry) == 64);

using Read = std::function<void(const void* begin, std::int64_t bytes)>;

// `read` is told what has been read, piece by piece.
std::uint32_t crc(const void* data, std::int64_t bytes, const Read& read = {}) {
  constexpr std::int64_t kPiece = std::int64_t{1} << 24;
  uLong value = ::crc32(0, nullptr, 0);
  for (std::int64_t at = 0; at < bytes; at += kPiece) {
    const auto* const piece = static_cast<const Bytef*>(data) + at;
    const std::int64_t count = std::min(kPiece, bytes - at);
    value = ::crc32_z(value, piece, static_cast<z_size_t>(count));
    if (read) read(piece, count);
  }
  return static_cast<std::uint32_t>(value);
}

std::int64_t aligned(std::int64_t at) { return (at + kAlign - 1) / kAlign * kAlign; }

}  // namespace

struct BinaryCache::Mapping {
  void* base = nullptr;  // mapped, or the beginning of `read`
  std::size_t bytes = 0;
  std::string read;
  // Maps a regular file; reads anything else (a pipe, gzip) whole.
  explicit Mapping(ByteSource& source) {
    struct stat about {};
    if (const int fd = source.mappable(); fd < 0 || ::fstat(fd, &about) != 0) {
      read = read_all(source);
      base = read.data();
      bytes = read.size();
    } else if (about.st_size > 0) {
      void* mapped = ::mmap(nullptr, static_cast<std::size_t>(about.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
      if (mapped == MAP_FAILED)
        throw input_error(source.name(), 0, "cannot map into memory", std::strerror(errno));
      base = mapped;
      bytes = static_cast<std::size_t>(about.st_size);
    }
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (is_mapped()) ::munmap(base, bytes);
  }
  [[nodiscard]] bool is_mapped() const { return base != nullptr && base != read.data(); }

  /// Gives the whole pages of [begin, begin + count) back; they are read again where they are looked at again.
  void drop(const void* begin, std::int64_t count) const {
    if (!is_mapped()) return;
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto from = (reinterpret_cast<std::uintptr_t>(begin) + page - 1) / page * page;
    const auto to =
        (reinterpret_cast<std::uintptr_t>(begin) + static_cast<std::uintptr_t>(count)) / page * page;
    if (from < to) static_cast<void>(::madvise(reinterpret_cast<void*>(from), to - from, MADV_DONTNEED));
  }
  void drop(const CsrView<const float, Space::host>& a) const {
    drop(a.row_ptr, 4 * (a.rows + 1));
    drop(a.col, 4 * a.nnz);
    drop(a.val, 4 * a.nnz);
  }
};

void write_cache(const std::string& path, CacheKind kind,
                 const std::vector<CsrView<const float, Space::host>>& matrices) {
  const auto n = static_cast<std::int64_t>(matrices.size());
  std::vector<Entry> table(matrices.size());
  std::int64_t at = static_cast<std::int64_t>(sizeof(Header)) + n * static_cast<std::int64_t>(sizeof(Entry));
  for (std::int64_t m = 0; m < n; ++m) {
    const auto& a = matrices[static_cast<std::size_t>(m)];
    Entry& e = table[static_cast<std::size_t>(m)];
    e = Entry{a.rows, a.cols, a.nnz, 0, 0, 0, 0, 0, 0, kFp32};
    e.row_ptr_at = aligned(at);
    e.col_at = aligned(e.row_ptr_at + (a.rows + 1) * 4);
    e.val_at = aligned(e.col_at + a.nnz * 4);
    at = e.val_at + a.nnz * 4;
  }
#pragma omp parallel for schedule(dynamic, 1)
  for (std::int64_t m = 0; m < n; ++m) {
    const auto& a = matrices[static_cast<std::size_t>(m)];
    Entry& e = table[static_cast<std::size_t>(m)];
    e.row_ptr_crc = crc(a.row_ptr, (a.rows + 1) * 4);
    e.col_crc = crc(a.col, a.nnz * 4);
    e.val_crc = crc(a.val, a.nnz * 4);
  }
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.version = kVersion;
  header.byte_order = kByteOrder;
  header.kind = static_cast<std::uint32_t>(kind);
  header.matrices = n;
  header.file_bytes = at;
  header.table_crc = crc(table.data(), n * static_cast<std::int64_t>(sizeof(Entry)));

  OutputFile file(path);
  std::int64_t written = 0;
  const auto put = [&](std::int64_t where, const void* data, std::int64_t bytes) {
    constexpr char kZeros[kAlign] = {};
    file.write(kZeros, static_cast<std::size_t>(where - written));
    if (bytes > 0) file.write(data, static_cast<std::size_t>(bytes));
    written = where + bytes;
  };
  put(0, &header, sizeof(header));
  put(written, table.data(), n * static_cast<std::int64_t>(sizeof(Entry)));
  for (std::int64_t m = 0; m < n; ++m) {
    const auto& a = matrices[static_cast<std::size_t>(m)];
    const Entry& e = table[static_cast<std::size_t>(m)];
    put(e.row_ptr_at, a.row_ptr, (a.rows + 1) * 4);
    put(e.col_at, a.col, a.nnz * 4);
    put(e.val_at, a.val, a.nnz * 4);
  }
  file.commit();
}

void write_cache(const std::string& path, CacheKind kind, const std::vector<Csr<float>>& matrices) {
  std::vector<CsrView<const float, Space::host>> views;
  for (const Csr<float>& a : matrices) views.push_back(a.view());
  write_cache(path, kind, views);
}

bool is_cache(ByteSource& source) {
  return source.peek(sizeof(kMagic)) == std::string_view(kMagic, sizeof(kMagic));
}

BinaryCache::BinaryCache(const std::string& path) : BinaryCache(*open_source(path)) {}

namespace {

constexpr auto kHeaderBytes = static_cast<std::int64_t>(sizeof(Header));
constexpr auto kEntryBytes = static_cast<std::int64_t>(sizeof(Entry));

// The header of a cache of that many bytes. Throws where it is no header, or of another file.
Header checked_header(const std::string& path, const char* base, std::int64_t bytes) {
  if (bytes < kHeaderBytes) throw input_error(path, 0, "not a binary cache: too short");
  Header header{};
  std::memcpy(&header, base, sizeof(header));
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0) {
    throw input_error(path, 0, "not a binary cache: wrong magic",
                      std::string_view(header.magic, sizeof(kMagic)));
  }
  if (header.byte_order != kByteOrder) throw input_error(path, 0, "binary cache of another byte order");
  if (header.version != kVersion) {
    throw input_error(path, 0, "binary cache has another version than 1: write it again",
                      std::to_string(header.version));
  }
  if (header.file_bytes != bytes) {
    throw input_error(path, 0, "binary cache is cut short or has grown",
                      std::to_string(bytes) + " bytes, want " + std::to_string(header.file_bytes));
  }
  if (header.kind > 2)
    throw input_error(path, 0, "unknown kind in a binary cache", std::to_string(header.kind));
  if (header.matrices < 0 || header.matrices > (bytes - kHeaderBytes) / kEntryBytes) {
    throw input_error(path, 0, "impossible number of matrices in a binary cache",
                      std::to_string(header.matrices));
  }
  return header;
}

// The table of matrices; each entry has sizes that int32 can index, and sections that lie in the file.
std::vector<Entry> checked_table(const std::string& path, const Header& header, const char* base,
                                 std::int64_t bytes) {
  std::vector<Entry> table(static_cast<std::size_t>(header.matrices));
  if (!table.empty()) std::memcpy(table.data(), base + sizeof(Header), table.size() * sizeof(Entry));
  if (crc(table.data(), header.matrices * kEntryBytes) != header.table_crc && !kFuzzing) {
    throw input_error(path, 0, "checksum of the table differs: the binary cache is damaged");
  }
  const auto inside = [bytes](std::int64_t at, std::int64_t count) {  // of 4-byte elements
    return at >= kHeaderBytes && at % kAlign == 0 && at <= bytes && count >= 0 && count <= (bytes - at) / 4;
  };
  for (const Entry& e : table) {
    if (e.rows < 0 || e.cols < 0 || e.rows >= (std::int64_t{1} << 31) || e.cols >= (std::int64_t{1} << 31) ||
        e.value_type != kFp32 || !inside(e.row_ptr_at, e.rows + 1) || !inside(e.col_at, e.nnz) ||
        !inside(e.val_at, e.nnz)) {
      throw input_error(path, 0, "malformed table entry in a binary cache, matrix",
                        std::to_string(&e - table.data()));
    }
  }
  return table;
}

// What is wrong with the content of one matrix, in words; empty: nothing. `read` is told what has been read.
std::string fault_of(const Entry& e, const CsrView<const float, Space::host>& a, const Read& read) {
  if (!kFuzzing) {
    const char* differs = crc(a.row_ptr, (e.rows + 1) * 4, read) != e.row_ptr_crc ? "row_ptr"
                          : crc(a.col, e.nnz * 4, read) != e.col_crc              ? "col"
                          : crc(a.val, e.nnz * 4, read) != e.val_crc              ? "val"
                                                                                  : nullptr;
    if (differs != nullptr) return std::string("checksum of ") + differs + " differs";
  }
  return csr_fault(a);
}

}  // namespace

BinaryCache::BinaryCache(ByteSource& source, CachePages pages)
    : mapping_(std::make_unique<Mapping>(source)), pages_(pages) {
  const std::string& path = source.name();
  const auto bytes = static_cast<std::int64_t>(mapping_->bytes);
  const char* const base = static_cast<const char*>(mapping_->base);
  const Header header = checked_header(path, base, bytes);
  const std::vector<Entry> table = checked_table(path, header, base, bytes);
  kind_ = static_cast<CacheKind>(header.kind);
  for (const Entry& e : table) {
    views_.push_back({e.rows, e.cols, e.nnz, reinterpret_cast<const std::int32_t*>(base + e.row_ptr_at),
                      reinterpret_cast<const std::int32_t*>(base + e.col_at),
                      reinterpret_cast<const float*>(base + e.val_at)});
  }
  std::vector<std::string> faults(table.size());
#pragma omp parallel for schedule(dynamic, 1)
  for (std::int64_t m = 0; m < header.matrices; ++m) {
    const auto k = static_cast<std::size_t>(m);
    faults[k] = fault_of(table[k], views_[k], [&](const void* begin, std::int64_t count) {
      if (pages == CachePages::drop) mapping_->drop(begin, count);
    });
    if (pages == CachePages::drop) mapping_->drop(views_[k]);
  }
  for (std::size_t k = 0; k < faults.size(); ++k) {
    if (!faults[k].empty()) {
      throw input_error(path, 0, "binary cache is damaged, matrix " + std::to_string(k), faults[k]);
    }
  }
}

BinaryCache::~BinaryCache() = default;
BinaryCache::BinaryCache(BinaryCache&&) noexcept = default;
BinaryCache& BinaryCache::operator=(BinaryCache&&) noexcept = default;

Csr<float> BinaryCache::copy(std::int64_t k) const { return copy_rows(k, 0, matrix(k).rows); }

Csr<float> BinaryCache::copy_rows(std::int64_t k, std::int64_t first, std::int64_t last) const {
  const auto& a = matrix(k);
  const std::int32_t begin = a.row_ptr[first], end = a.row_ptr[last];
  Csr<float> out;
  out.rows = last - first;
  out.cols = a.cols;
  out.row_ptr.assign(a.row_ptr + first, a.row_ptr + last + 1);
  for (std::int32_t& at : out.row_ptr) at -= begin;
  out.col.assign(a.col + begin, a.col + end);
  out.val.assign(a.val + begin, a.val + end);
  if (pages_ == CachePages::drop)
    mapping_->drop({out.rows, a.cols, end - begin, a.row_ptr + first, a.col + begin, a.val + begin});
  return out;
}

}  // namespace plumb
