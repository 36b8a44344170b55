// Matrices whose rows lie so far apart that a row's number times the leading dimension is beyond 32 bits, without the memory between them.
#pragma once
#include <cstddef>
#include <cstdint>

#include "verify/engine/operator/entry.hpp"

namespace plumb {

/// Address space in which the rows of an image's matrices are mapped again, each kFarElements elements and more behind the one before.
/// What lies between them, and before the first, cannot be touched: an offset that wrapped in 32 bits ends the process. The rows
/// themselves are the image's own pages, which the judge looks at as in any other run; so there are no guards to compare between them.
/// Each row must begin at a page of the image and have its pages alone (WideArrays::far).
class FarRows {
 public:
  /// `image`: a descriptor of the shared image.
  explicit FarRows(int image) : image_(image) {}
  ~FarRows();
  FarRows(const FarRows&) = delete;
  FarRows& operator=(const FarRows&) = delete;

  /// Maps the rows of a matrix that lies at `offset` in the image; changes its leading dimension, and returns its first element. Throws
  /// ResourceError where there is no address space for it.
  [[nodiscard]] void* place(ArrayInfo& array, std::int64_t offset);

 private:
  static constexpr int kMost = 8;  // matrices of an operator
  struct Region {
    void* at = nullptr;
    std::size_t bytes = 0;
  };
  int image_;
  int count_ = 0;
  Region regions_[kMost];
};

}  // namespace plumb
