#include "datasets/formats/idx_images.hpp"

#include <algorithm>
#include <array>

#include "datasets/io/byte_source.hpp"
#include "datasets/io/output_text.hpp"
#include "reference/core/error.hpp"

namespace plumb {
namespace {

std::uint32_t big_endian(const unsigned char* b) {
  return std::uint32_t{b[0]} << 24 | std::uint32_t{b[1]} << 16 | std::uint32_t{b[2]} << 8 |
         std::uint32_t{b[3]};
}

}  // namespace

GreyImages read_idx_images(const std::string& path) {
  const auto source = open_source(path);
  const auto read = [&](void* to, std::size_t bytes) { return source->read(static_cast<char*>(to), bytes); };
  std::array<unsigned char, 16> header{};
  if (read(header.data(), header.size()) != header.size()) {
    throw input_error(path, 0, "shorter than an idx3 header of 16 bytes");
  }
  const std::uint32_t magic = big_endian(header.data());
  if (magic != 0x00000803U) {
    throw input_error(path, 0, "not an idx3-ubyte file: magic number must be 2051, is",
                      std::to_string(magic));
  }
  GreyImages images;
  images.count = big_endian(header.data() + 4);
  images.rows = big_endian(header.data() + 8);
  images.cols = big_endian(header.data() + 12);
  if (images.rows < 1 || images.rows > 4096 || images.cols < 1 || images.cols > 4096) {
    throw input_error(path, 0, "image sides must be 1..4096, are",
                      std::to_string(images.rows) + " x " + std::to_string(images.cols));
  }
  if (images.count > 100'000'000) {
    throw input_error(path, 0, "more than 100 million images", std::to_string(images.count));
  }
  // Memory grows as bytes are read: a header with a wrong count costs memory for the bytes of the file only.
  const auto want = static_cast<std::size_t>(images.count * images.rows * images.cols);
  std::size_t got = 0;
  while (got < want) {
    const std::size_t part = std::min<std::size_t>(want - got, std::size_t{1} << 24);
    images.pixels.resize(got + part);
    const std::size_t n = read(images.pixels.data() + got, part);
    got += n;
    if (n < part) {
      throw input_error(path, 0, "truncated: pixels expected, found",
                        std::to_string(want) + ", " + std::to_string(got));
    }
  }
  unsigned char extra = 0;
  if (read(&extra, 1) != 0)
    throw input_error(path, 0, "more pixels than the header says", std::to_string(want));
  return images;
}

void save_idx_images(const std::string& path, const GreyImages& images) {
  OutputText out(path, path.size() > 3 && path.substr(path.size() - 3) == ".gz");
  std::string header;
  for (const std::int64_t word : {std::int64_t{0x803}, images.count, images.rows, images.cols}) {
    for (int shift = 24; shift >= 0; shift -= 8) header += static_cast<char>(word >> shift & 0xff);
  }
  out.write(header);
  out.write({reinterpret_cast<const char*>(images.pixels.data()), images.pixels.size()});
  out.commit();
}

}  // namespace plumb
