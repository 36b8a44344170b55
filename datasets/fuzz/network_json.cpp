// Fuzzes the reader of network.json.
#include "datasets/formats/network_json.hpp"
#include "datasets/fuzz/harness.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return plumb::fuzz::run(data, size, [](std::string_view bytes) {
    const plumb::NetworkDescription about = plumb::read_network_json(*plumb::memory_source("a", bytes));
    plumb::fuzz::must(!about.layers.empty() && about.cap >= 0);
    for (const plumb::NetworkLayer& layer : about.layers) plumb::fuzz::must(!layer.file.empty());
  });
}
