// Inputs of the Sparse DNN Graph Challenge a few rows at a time, for those who cannot hold all as a matrix: as a mask of bits, or out
// of a mapped binary cache.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "datasets/generators/mnist.hpp"
#include "reference/core/row_source.hpp"

namespace plumb {

/// The first `inputs` rows of a mask, of ones: a bit for each pixel is held, in place of 8 bytes for each that is set.
[[nodiscard]] std::shared_ptr<const RowSource> rows_of_mask(PixelMask mask, std::int64_t inputs);

/// All inputs in `path`, a binary cache that can be mapped; null where it is something else, which can only be read
/// whole. Errors: as BinaryCache and read_sdnn_images().
[[nodiscard]] std::shared_ptr<const RowSource> rows_of_cache(const std::string& path, std::int64_t neurons);

/// The first `count` rows of `all`.
[[nodiscard]] std::shared_ptr<const RowSource> first_rows(std::shared_ptr<const RowSource> all,
                                                          std::int64_t count);

}  // namespace plumb
