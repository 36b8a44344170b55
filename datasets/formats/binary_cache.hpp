// A binary cache of CSR matrices: sparse-DNN layers and images without text parsing. Memory-mapped,
// checksummed, versioned.
//
// Layout, little-endian, every section at a multiple of 64 bytes:
//   header   64 bytes   "PLUMBCSR"; u32 version = 1; u32 byte order mark 0x01020304; u32 kind (0 matrices,
//                       1 weights, 2 images); u32 CRC-32 of the table; i64 number of matrices; i64 bytes of
//                       the file; zeros
//   table    64 bytes   per matrix: i64 rows, cols, nnz; i64 offset of row_ptr, of col, of val; u32 CRC-32 of
//                       row_ptr, of col, of val (zlib's crc32); u32 value type (4: fp32)
//   sections            row_ptr i32 (rows + 1), col i32 (nnz), val f32 (nnz)
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "datasets/io/byte_source.hpp"
#include "reference/core/matrix.hpp"

namespace plumb {

enum class CacheKind : std::uint32_t { matrices = 0, weights = 1, images = 2 };

/// Writes all matrices; atomically: the file appears whole or not at all.
/// Errors: cannot write (the folder, the disk is full); what was there before stays.
void write_cache(const std::string& path, CacheKind kind, const std::vector<Csr<float>>& matrices);
void write_cache(const std::string& path, CacheKind kind,
                 const std::vector<CsrView<const float, Space::host>>& matrices);

/// True where the source begins with the cache's magic; takes nothing.
[[nodiscard]] bool is_cache(ByteSource& source);

/// What becomes of the pages of a mapped file that were read: they stay in the process's memory until the system wants them, or
/// go at once, for caches larger than the memory that a process may take.
enum class CachePages : std::uint8_t { keep, drop };

/// A mapped cache. Views live as long as the object does. The file must not be cut while it is mapped;
/// write_cache never cuts one (it renames a new file over the old name, and the old content stays mapped).
class BinaryCache {
 public:
  /// Maps the file, and checks every checksum and every row_ptr and column index, on all threads.
  /// Errors: not a cache; another version or byte order; cut short; a checksum that differs (the section is
  /// named); a malformed CSR.
  explicit BinaryCache(const std::string& path);
  /// The same from a source: a regular file is mapped, anything else (a pipe, gzip) is read into memory. With `drop` checks take
  /// the memory of the columns of a matrix at a time, on each thread.
  explicit BinaryCache(ByteSource& source, CachePages pages = CachePages::keep);
  ~BinaryCache();
  BinaryCache(BinaryCache&&) noexcept;
  BinaryCache& operator=(BinaryCache&&) noexcept;

  [[nodiscard]] CacheKind kind() const { return kind_; }
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(views_.size()); }
  [[nodiscard]] const CsrView<const float, Space::host>& matrix(std::int64_t k) const {
    return views_.at(static_cast<std::size_t>(k));
  }
  /// A copy that owns its memory.
  [[nodiscard]] Csr<float> copy(std::int64_t k) const;
  /// The same of rows [first, last).
  [[nodiscard]] Csr<float> copy_rows(std::int64_t k, std::int64_t first, std::int64_t last) const;

 private:
  struct Mapping;
  std::unique_ptr<Mapping> mapping_;
  CachePages pages_ = CachePages::keep;
  CacheKind kind_ = CacheKind::matrices;
  std::vector<CsrView<const float, Space::host>> views_;
};

}  // namespace plumb
