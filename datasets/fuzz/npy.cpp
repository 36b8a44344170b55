// Fuzzes the .npy reader and its conversions.
#include "datasets/formats/npy.hpp"
#include "datasets/fuzz/harness.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return plumb::fuzz::run(data, size, [](std::string_view bytes) {
    const plumb::NpyArray array = plumb::read_npy(*plumb::memory_source("a", bytes));
    plumb::fuzz::must(array.count() * array.item == static_cast<std::int64_t>(array.bytes.size()));
    plumb::fuzz::must(static_cast<std::int64_t>(plumb::npy_values<double>(array).size()) == array.count());
    (void)plumb::npy_values<std::int32_t>(array);
  });
}
