// From one format to another: what `dataset convert` does.
#pragma once
#include <string>
#include <vector>

#include "datasets/formats/load_matrix.hpp"

namespace plumb {

struct Conversion {
  std::string in, out;  // paths; opened once each
  ReadOptions from;     // of `in`
  std::string format;   // of `out`: a name of format_table.hpp, or empty: the ending decides
  std::string type;  // "f32" or "f64": the type of values read; empty: fp32 where `out` holds fp32, else fp64
};

/// Reads, writes, and returns a description of what was written; `notes`: what was guessed (Findings). To .plumb, the challenge's networks (a tar, a folder) and inputs
/// (sparse-images-N) keep what they are; every other input is one matrix.
/// Errors: those of load_matrix, save_matrix, read_sdnn_weights; a binary cache of several matrices; no such type.
[[nodiscard]] std::string convert(const Conversion& job, std::vector<std::string>& notes);

}  // namespace plumb
