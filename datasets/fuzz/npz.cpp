// Fuzzes the .npz reader, zip included, and sparse matrices in it.
#include "datasets/formats/npz_matrix.hpp"
#include "datasets/fuzz/harness.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return plumb::fuzz::run(data, size, [](std::string_view bytes) {
    const auto arrays = plumb::read_npz(*plumb::memory_source("z", bytes));
    const auto shape = arrays.find("shape");
    if (shape == arrays.end()) return;
    for (const std::int64_t extent : plumb::npy_values<std::int64_t>(shape->second)) {
      if (extent > plumb::fuzz::kLargest) return;
    }
    plumb::fuzz::must_be_sound(plumb::read_npz_matrix<double>(*plumb::memory_source("z", bytes)));
  });
}
