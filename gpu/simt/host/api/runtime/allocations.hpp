// What is told of arrays that the program has allocated.
#pragma once
#include <string>

namespace plumb::simt {

/// "'d_x' is of cudaMalloc at a.cu:31"; "" where no array of the runtime's has that name.
std::string origin_of_array(const std::string& name);

}  // namespace plumb::simt
