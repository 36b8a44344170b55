// Fuzzes the sparse-DNN readers of layers, images and categories.
#include "datasets/formats/sdnn_files.hpp"
#include "datasets/fuzz/harness.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return plumb::fuzz::run(data, size, [](std::string_view bytes) {
    try {
      (void)plumb::read_sdnn_categories(*plumb::memory_source("c", bytes), 0);
    } catch (const plumb::Error&) {  // the same bytes may still be a layer
    }
    try {
      plumb::fuzz::must_be_sound(plumb::read_sdnn_images(*plumb::memory_source("i", bytes), 7, 1000));
    } catch (const plumb::Error&) {}
    plumb::fuzz::must_be_sound(plumb::read_sdnn_layer(*plumb::memory_source("l", bytes), 16));
  });
}
