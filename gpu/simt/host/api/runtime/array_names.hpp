// Names of arrays: the variables that they are stored in.
#pragma once

namespace plumb::simt {

/// The next array that this thread allocates is stored in `variable`, as the source has it ("d_x", "s.x"). tools/simt-nvcc puts such a
/// call before each allocation that says it.
void name_array(const char* variable);

}  // namespace plumb::simt
