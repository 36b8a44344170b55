// idx3-ubyte, MNIST's file format: greyscale images of one size.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace plumb {

/// Greyscale images of one size, 0..255, pixel (m, r, c) at pixels[(m * rows + r) * cols + c].
struct GreyImages {
  std::int64_t count = 0, rows = 0, cols = 0;
  std::vector<std::uint8_t> pixels;  // (count, rows, cols)
};

/// Reads an idx3-ubyte file (MNIST's), plain or gzip. Throws Error when the header is not that of images of
/// bytes, when sizes are absurd, or when the pixels are fewer or more than the header says.
[[nodiscard]] GreyImages read_idx_images(const std::string& path);

/// Writes them; gzipped where the name ends in .gz.
void save_idx_images(const std::string& path, const GreyImages& images);

}  // namespace plumb
