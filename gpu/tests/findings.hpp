// Work of a model on the executor, and what the executor found about it.
#pragma once
#include <cstdint>
#include <string>

#include "gpu/simt/executor.hpp"
#include "gpu/tests/checked.hpp"

namespace plumb::simt_test {

/// Runs `work` on the executor; its findings, in words.
template <class Work>
std::string findings_of(std::uint64_t seed, Work&& work) {
  simt::Options options;
  options.seed = seed;
  options.resident_blocks = 2;
  options.check = checked();
  simt::begin_run(options);
  work();
  std::string all;
  for (const auto& finding : simt::end_run()) all += finding.describe();
  return all;
}

}  // namespace plumb::simt_test
