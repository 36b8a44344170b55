#include "datasets/generators/mnist.hpp"

#include <doctest/doctest.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <numbers>
#include <string>
#include <vector>

#include "datasets/generators/digits.hpp"
#include "datasets/tests/scratch.hpp"
#include "reference/core/error.hpp"

using plumb::GreyImages;
using plumb::PixelMask;
using plumb::test::Scratch;

namespace {

std::string idx(std::uint32_t magic, std::uint32_t count, std::uint32_t rows, std::uint32_t cols) {
  std::string out;
  for (const std::uint32_t word : {magic, count, rows, cols}) {
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(word >> shift & 0xff);
  }
  return out;
}

std::string error_of(const std::string& bytes) {
  const Scratch dir;
  const std::string file = dir.write("images", bytes);
  const std::string error = plumb::test::error_of([&] { (void)plumb::read_idx_images(file); });
  return error.empty() ? "no error" : error.substr(file.size());
}

GreyImages noise(std::int64_t count, std::int64_t side) {
  GreyImages images;
  images.count = count;
  images.rows = images.cols = side;
  std::uint32_t state = 1;
  for (std::int64_t i = 0; i < count * side * side; ++i) {
    state = state * 1664525U + 1013904223U;
    images.pixels.push_back(static_cast<std::uint8_t>(state >> 24));
  }
  return images;
}

// The definition, term by term: magnitudes (side, count * side).
std::vector<double> by_definition(const GreyImages& images, std::int64_t side) {
  using Complex = std::complex<double>;
  const std::int64_t h = images.rows, w = images.count * images.cols, wide = images.count * side;
  const auto turn = [](double turns) { return std::polar(1.0, 2 * std::numbers::pi * turns); };
  const auto real = [](std::int64_t i) { return static_cast<double>(i); };
  const std::int64_t kept_y = std::min(h, side), kept_x = std::min(w, wide);
  std::vector<double> out(static_cast<std::size_t>(side * wide));
  std::vector<Complex> spectrum;  // (kept_y, kept_x), frequencies -kept/2 .. kept/2 - 1
  for (std::int64_t ky = -kept_y / 2; ky < kept_y / 2; ++ky) {
    for (std::int64_t kx = -kept_x / 2; kx < kept_x / 2; ++kx) {
      Complex sum = 0;
      for (std::int64_t y = 0; y < h; ++y) {
        for (std::int64_t x = 0; x < w; ++x) {
          const std::int64_t m = x / images.cols, c = x % images.cols;
          const double pixel = images.pixels[static_cast<std::size_t>((m * h + y) * images.cols + c)];
          sum += pixel * turn(-real(ky * y) / real(h) - real(kx * x) / real(w));
        }
      }
      spectrum.push_back(sum / real(h * w));
    }
  }
  for (std::int64_t y = 0; y < side; ++y) {
    for (std::int64_t x = 0; x < wide; ++x) {
      Complex sum = 0;
      for (std::int64_t k = 0; k < kept_y * kept_x; ++k) {
        const std::int64_t ky = k / kept_x - kept_y / 2, kx = k % kept_x - kept_x / 2;
        sum += spectrum[static_cast<std::size_t>(k)] *
               turn(real(ky * y) / real(side) + real(kx * x) / real(wide));
      }
      out[static_cast<std::size_t>(y * wide + x)] = std::abs(sum);
    }
  }
  return out;
}

void check_against_definition(const GreyImages& images, std::int64_t side) {
  const PixelMask mask = plumb::fourier_inputs(images, side);
  const std::vector<double> values = by_definition(images, side);
  const double maximum = *std::max_element(values.begin(), values.end());
  CHECK(mask.maximum == doctest::Approx(maximum).epsilon(1e-12));
  std::int64_t wrong = 0, ones = 0;
  const std::int64_t wide = images.count * side;
  for (std::int64_t m = 0; m < images.count; ++m) {
    for (std::int64_t x = 0; x < side; ++x) {
      for (std::int64_t y = 0; y < side; ++y) {
        const bool lit = values[static_cast<std::size_t>(y * wide + m * side + x)] >= maximum / 2;
        wrong += lit != mask.test(m, x * side + y) ? 1 : 0;
        ones += lit ? 1 : 0;
      }
    }
  }
  CHECK(wrong == 0);
  CHECK(mask.nnz() == ones);
  CHECK(ones > 0);
  CHECK(ones < images.count * side * side);
}

}  // namespace

TEST_CASE("an idx file of two images of 1 x 2 is read in order") {
  const Scratch dir;
  const std::string file = dir.write("images", idx(2051, 2, 1, 2) + std::string("\x01\x02\x03\xff", 4));
  const GreyImages images = plumb::read_idx_images(file);
  CHECK(images.count == 2);
  CHECK(images.rows == 1);
  CHECK(images.cols == 2);
  CHECK(images.pixels == std::vector<std::uint8_t>{1, 2, 3, 255});
}

TEST_CASE("a damaged idx file is refused with what is wrong") {
  CHECK(error_of("") == ": shorter than an idx3 header of 16 bytes");
  CHECK(error_of(idx(2049, 1, 1, 1) + "x") ==
        ": not an idx3-ubyte file: magic number must be 2051, is: 2049");
  CHECK(error_of(idx(2051, 1, 0, 28)) == ": image sides must be 1..4096, are: 0 x 28");
  CHECK(error_of(idx(2051, 4000000000U, 28, 28)) == ": more than 100 million images: 4000000000");
  CHECK(error_of(idx(2051, 2, 1, 2) + "abc") == ": truncated: pixels expected, found: 4, 3");
  CHECK(error_of(idx(2051, 1, 1, 2) + "abc") == ": more pixels than the header says: 2");
  CHECK_THROWS_AS((void)plumb::read_idx_images("/no/such/file"), plumb::Error);
}

TEST_CASE("resizing equals the two-dimensional transform written out") {
  check_against_definition(noise(3, 4), 8);
  check_against_definition(noise(2, 6), 8);
  check_against_definition(noise(1, 6), 10);
}

TEST_CASE("resizing to a smaller side cuts the spectrum") {
  check_against_definition(noise(3, 8), 4);
  check_against_definition(noise(2, 8), 6);
}

TEST_CASE("resizing to the same side only applies the threshold") {
  GreyImages images;
  images.count = 1;
  images.rows = images.cols = 2;
  images.pixels = {200, 90, 150, 10};  // rows (200, 90), (150, 10): feature x * 2 + y
  const PixelMask mask = plumb::fourier_inputs(images, 2);
  CHECK(mask.maximum == doctest::Approx(200.0));
  CHECK(mask.bits == std::vector<std::uint64_t>{0b0011});
}

TEST_CASE("blank images and no images give no ones") {
  GreyImages blank;
  blank.count = 2;
  blank.rows = blank.cols = 4;
  blank.pixels.assign(32, 0);
  CHECK(plumb::fourier_inputs(blank, 8).nnz() == 0);
  GreyImages none;
  none.rows = none.cols = 28;
  CHECK(plumb::fourier_inputs(none, 32).rows == 0);
}

TEST_CASE("images that cannot be resized are refused") {
  GreyImages odd;
  odd.count = 1;
  odd.rows = odd.cols = 3;
  odd.pixels.assign(9, 1);
  CHECK_THROWS_AS((void)plumb::fourier_inputs(odd, 8), plumb::Error);
  CHECK_THROWS_AS((void)plumb::fourier_inputs(noise(1, 4), 7), plumb::Error);
  CHECK_THROWS_AS((void)plumb::image_side(1000), plumb::Error);
  CHECK_THROWS_AS((void)plumb::image_side(961), plumb::Error);  // 31 x 31
  CHECK(plumb::image_side(65536) == 256);
}

TEST_CASE("a mask becomes a matrix of ones with sorted columns") {
  PixelMask mask;
  mask.rows = 2;
  mask.features = 100;
  mask.words = 2;
  mask.bits = {0b101, std::uint64_t{1} << 3, 0, 0b1};  // row 0: 0 2 67; row 1: 64
  const plumb::Csr<float> y = plumb::to_csr(mask);
  CHECK(y.row_ptr == std::vector<std::int32_t>{0, 3, 4});
  CHECK(y.col == std::vector<std::int32_t>{0, 2, 67, 64});
  CHECK(y.val == std::vector<float>(4, 1.0F));
  CHECK(plumb::to_csr(mask, 1, 1).col == std::vector<std::int32_t>{64});
  CHECK_THROWS_AS((void)plumb::to_csr(mask, 1, 2), plumb::Error);
}

TEST_CASE("MNIST's training images give the official inputs of 1024 neurons") {
  const char* data = std::getenv("PLUMB_DATA");
  const std::string folder = data == nullptr ? "" : std::string(data) + "/sdnn/";
  if (!std::filesystem::exists(folder + "train-images-idx3-ubyte.gz") ||
      !std::filesystem::exists(folder + "sparse-images-1024.tsv.gz")) {
    MESSAGE("not run: needs train-images-idx3-ubyte.gz and sparse-images-1024.tsv.gz in $PLUMB_DATA/sdnn");
    return;
  }
  const PixelMask mask =
      plumb::fourier_inputs(plumb::read_idx_images(folder + "train-images-idx3-ubyte.gz"), 32);
  CHECK(mask.maximum == doctest::Approx(369.320485).epsilon(1e-9));
  CHECK(mask.nnz() == 6374505);
  gzFile file = gzopen((folder + "sparse-images-1024.tsv.gz").c_str(), "rb");
  REQUIRE(file != nullptr);
  gzbuffer(file, 1U << 20);
  std::int64_t lines = 0, lit = 0;
  for (char line[64]; gzgets(file, line, sizeof line) != nullptr; ++lines) {
    char* rest = nullptr;
    const std::int64_t image = std::strtoll(line, &rest, 10), feature = std::strtoll(rest, nullptr, 10);
    lit += mask.test(image - 1, feature - 1) ? 1 : 0;
  }
  gzclose(file);
  CHECK(lines == 6374505);
  CHECK(lit == 6374505);
}

TEST_CASE("a generated digit depends on its seed and its place alone") {
  const GreyImages few = plumb::digit_images(12, 7), many = plumb::digit_images(40, 7);
  CHECK(std::equal(few.pixels.begin(), few.pixels.end(), many.pixels.begin()));
  CHECK(plumb::digit_images(12, 8).pixels != few.pixels);
  // Same digit, another hand.
  CHECK(!std::equal(few.pixels.begin(), few.pixels.begin() + 784, few.pixels.begin() + 10 * 784));
}

TEST_CASE("generated digits have as much ink as MNIST's: 105 of 1024 pixels are set on average") {
  const PixelMask mask = plumb::digit_inputs(2000, 1024, 1);
  const double mean = static_cast<double>(mask.nnz()) / 2000;
  CHECK(mean > 95);
  CHECK(mean < 115);
  const plumb::Csr<float> y = plumb::to_csr(mask);
  for (std::int64_t m = 0; m < 2000; ++m) {
    REQUIRE(y.row_ptr[static_cast<std::size_t>(m + 1)] > y.row_ptr[static_cast<std::size_t>(m)]);
  }
}
