// GPUs as the model of a predicted time knows them: a few rates each. Stands apart from roofs, which `bench` measures on the GPU that is
// there: a prediction is of GPUs that are not.
#pragma once
#include <string_view>
#include <vector>

namespace plumb {

/// One figure with its unit in words, and where it comes from: a page of docs/results, or what it was fitted to.
struct ChipFigure {
  double value;
  const char* unit;
  const char* source;
};

/// Rates are per second, sizes in bytes. docs/results/scaling.md has the same table; a test compares the two.
struct Chip {
  const char* name;
  int sm;                       // compute capability: 90 is 9.0
  ChipFigure launch;            // s: of an empty kernel
  ChipFigure copy;              // bytes/s: of memory, both directions counted
  ChipFigure memory;            // bytes: that arrays may take
  ChipFigure shared;            // bytes: shared memory of a block, at most
  ChipFigure cache;             // bytes: second-level
  ChipFigure gather_cached;     // bytes/s: rows of at least kGatherRequest bytes, from the second-level cache
  ChipFigure gather_memory;     // bytes/s: the same from memory
  ChipFigure products_f32;      // flop/s: of a matrix product
  ChipFigure products_f64;      // flop/s
  ChipFigure edges;             // edges/s: of active inputs, sparse DNN of class general
  ChipFigure link;              // bytes/s: of rows sent to other GPUs, as far as it shows in the time
  ChipFigure exchange_waiting;  // s: of one exchange of rows, beside its launches and bytes
};

/// Each figure with its name in the table.
template <class Visit>
void each_figure(const Chip& chip, const Visit& visit) {
  visit("launch", chip.launch);
  visit("copy", chip.copy);
  visit("memory", chip.memory);
  visit("shared memory of a block", chip.shared);
  visit("cache", chip.cache);
  visit("gather, cached", chip.gather_cached);
  visit("gather, memory", chip.gather_memory);
  visit("products fp32", chip.products_f32);
  visit("products fp64", chip.products_f64);
  visit("edges", chip.edges);
  visit("link", chip.link);
  visit("waiting per exchange", chip.exchange_waiting);
}

[[nodiscard]] const std::vector<Chip>& chips();
/// Errors: no such chip; the known ones are named.
[[nodiscard]] const Chip& find_chip(std::string_view name);

}  // namespace plumb
