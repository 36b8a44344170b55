// Fuzzes the edge list reader.
#include "datasets/formats/edge_list.hpp"
#include "datasets/fuzz/harness.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return plumb::fuzz::run(data, size, [](std::string_view bytes) {
    plumb::EdgeListOptions options;
    options.largest_id = plumb::fuzz::kLargest;
    plumb::fuzz::must_be_sound(plumb::read_edge_list<float>(*plumb::memory_source("e", bytes), options));
  });
}
