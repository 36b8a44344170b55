// Images of the sparse-DNN challenge: the Fourier resizing that makes sparse inputs of MNIST's images. A file of its own,
// because neighbouring images influence each other: the inputs are a property of the whole set, not of an image.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "datasets/formats/idx_images.hpp"
#include "reference/core/matrix.hpp"

namespace plumb {

/// Sparse 0/1 rows as bits: feature f of row m is bit f % 64 of bits[m * words + f / 64].
struct PixelMask {
  std::int64_t rows = 0;            // images
  std::int64_t features = 0;        // pixels of an image = neurons of a layer
  std::int64_t words = 0;           // 64-bit words per row
  double maximum = 0;               // of the resized images, before the threshold at half of it
  std::vector<std::uint64_t> bits;  // (rows, words)

  [[nodiscard]] std::int64_t nnz() const;
  [[nodiscard]] bool test(std::int64_t row, std::int64_t feature) const {
    return (bits[static_cast<std::size_t>(row * words + feature / 64)] >> (feature % 64) & 1U) != 0;
  }
};

/// The inputs of the challenge: images side by side in one wide picture (rows x count * cols), its 2-D
/// Fourier transform padded with zeros (or cut) to side x count * side with the Nyquist terms on the negative
/// side, transformed back, absolute values, 1 where they reach half the maximum over all pixels. Feature of
/// pixel (y down, x right) is x * side + y.
///
/// MNIST's 60,000 training images give the official files exactly: 6,374,505 / 25,019,051 / 98,858,913 /
/// 392,191,985 non-zeros at side 32 / 64 / 128 / 256. Images must be square with even sides; `side` is
/// even, 2..1024. Memory is resizing_bytes() and the mask.
[[nodiscard]] PixelMask fourier_inputs(const GreyImages& images, std::int64_t side);

/// Bytes that fourier_inputs() works with, beside images and mask, for `count` images of `cols` x `cols`: their spectra
/// take 8 * cols^2 * count bytes (0.38 GB for MNIST's, at any side from 28 on), the rest is small beside them.
[[nodiscard]] std::int64_t resizing_bytes(std::int64_t count, std::int64_t cols, std::int64_t side);

/// Rows [first, first + count) of the mask as a CSR matrix of ones, columns sorted. Throws Error when the
/// entries do not fit 32-bit offsets.
[[nodiscard]] Csr<float> to_csr(const PixelMask& mask, std::int64_t first, std::int64_t count);
[[nodiscard]] Csr<float> to_csr(const PixelMask& mask);

}  // namespace plumb
