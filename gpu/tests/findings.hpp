// Work of a model on the executor, and what the executor found about it.
#pragma once
#include <cstdint>
#include <exception>
#include <string>

#include <fmt/format.h>

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
  std::string all;
  try {
    work();
  } catch (const std::exception& e) {  // most often what follows from a finding, which stopped the run
    all = fmt::format("threw \"{}\"\n", e.what());
  }
  for (const auto& finding : simt::end_run()) all += finding.describe();
  return all;
}

}  // namespace plumb::simt_test
