// Matrices that nobody holds: each is made, or read, when it is asked for. For data larger than memory.
#pragma once
#include <cstdint>

#include "reference/core/matrix.hpp"

namespace plumb {

class CsrSource {
 public:
  CsrSource() = default;
  CsrSource(const CsrSource&) = delete;
  CsrSource& operator=(const CsrSource&) = delete;
  virtual ~CsrSource() = default;

  [[nodiscard]] virtual std::int64_t size() const = 0;
  /// Entries of matrix k, without making it.
  [[nodiscard]] virtual std::int64_t entries(std::int64_t k) const = 0;
  /// Matrix k, each time anew. Several threads may call it at once.
  [[nodiscard]] virtual Csr<float> make(std::int64_t k) const = 0;
  /// Bytes of memory that the source itself takes.
  [[nodiscard]] virtual std::int64_t held_bytes() const = 0;
};

}  // namespace plumb
