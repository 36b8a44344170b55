// Tensors of a file that PyTorch's torch.save wrote. Nothing of its pickle is executed: of what a pickle can ask for, only dictionaries,
// lists and tensors are built.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "datasets/formats/npy.hpp"
#include "datasets/io/byte_source.hpp"

namespace plumb {

/// Names and tensors in the order of the file: those of a state dict, of one under the keys state_dict, model_state_dict or model, or a single
/// tensor, "tensor".
/// Errors: not the zip of PyTorch 1.6 or later; objects other than tensors, as of a whole model; sparse, quantised, complex or bfloat16 tensors; a
/// tensor larger than its storage.
[[nodiscard]] std::vector<std::pair<std::string, NpyArray>> read_torch_tensors(ByteSource& source);

}  // namespace plumb
