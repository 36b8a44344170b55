// The rows of a sparse matrix, for those who need some of them at a time: a matrix that is held, or one whose rows are made, or
// read, when they are asked for.
#pragma once
#include <cstdint>

#include "reference/core/csr.hpp"
#include "reference/core/matrix.hpp"

namespace plumb {

class RowSource {
 public:
  RowSource() = default;
  RowSource(const RowSource&) = delete;
  RowSource& operator=(const RowSource&) = delete;
  virtual ~RowSource() = default;

  [[nodiscard]] virtual std::int64_t rows() const = 0;
  [[nodiscard]] virtual std::int64_t cols() const = 0;
  /// Entries of rows [first, last), without making them.
  [[nodiscard]] virtual std::int64_t entries(std::int64_t first, std::int64_t last) const = 0;
  /// Rows [first, last), each time anew; at most 2^31 - 1 entries. Several threads may call it at once.
  [[nodiscard]] virtual Csr<float> make(std::int64_t first, std::int64_t last) const = 0;
  /// The whole matrix where it is held, else null.
  [[nodiscard]] virtual const Csr<float>* held() const { return nullptr; }
  /// Bytes of memory that the source itself takes.
  [[nodiscard]] virtual std::int64_t held_bytes() const = 0;
};

/// The rows of a matrix, which must outlive it.
class HeldRows : public RowSource {
 public:
  explicit HeldRows(const Csr<float>& matrix) : matrix_(matrix) {}
  [[nodiscard]] std::int64_t rows() const override { return matrix_.rows; }
  [[nodiscard]] std::int64_t cols() const override { return matrix_.cols; }
  [[nodiscard]] std::int64_t entries(std::int64_t first, std::int64_t last) const override {
    return matrix_.row_ptr[static_cast<std::size_t>(last)] - matrix_.row_ptr[static_cast<std::size_t>(first)];
  }
  [[nodiscard]] Csr<float> make(std::int64_t first, std::int64_t last) const override {
    return slice_rows(matrix_, first, last);
  }
  [[nodiscard]] const Csr<float>* held() const override { return &matrix_; }
  [[nodiscard]] std::int64_t held_bytes() const override { return bytes_of(matrix_); }

 private:
  const Csr<float>& matrix_;
};

}  // namespace plumb
