// Fuzzes the reader of the GCN contest'\''s graphs.
#include "datasets/formats/contest.hpp"
#include "datasets/fuzz/harness.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return plumb::fuzz::run(data, size, [](std::string_view bytes) {
    const plumb::ContestGraph graph = plumb::read_contest_graph(*plumb::memory_source("g", bytes));
    if (graph.vertices > plumb::fuzz::kLargest) return;
    plumb::fuzz::must_be_sound(plumb::normalised_adjacency<double>(graph));
  });
}
