// Fuzzes the Matrix Market reader and its conversions.
#include "datasets/formats/matrix_market.hpp"
#include "datasets/fuzz/harness.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return plumb::fuzz::run(data, size, [](std::string_view bytes) {
    const plumb::MatrixMarket file = plumb::read_matrix_market(*plumb::memory_source("f", bytes));
    if (file.rows > plumb::fuzz::kLargest) return;
    if (file.rows * file.cols < plumb::fuzz::kLargest) (void)plumb::to_dense<std::complex<double>>(file);
    plumb::fuzz::must_be_sound(plumb::to_csr<double>(file));
  });
}
