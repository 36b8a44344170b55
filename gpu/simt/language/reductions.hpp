// What cp.reduce.async.bulk does to numbers in global memory.
#pragma once
#include <cstddef>

#include "gpu/simt/language/async_proxy.hpp"

namespace plumb::simt {

std::size_t bytes_of(Number type);
/// Whether the instruction exists (PTX ISA, "cp.reduce.async.bulk").
bool can_reduce(Reduction how, Number type);
/// Every number of [to, to + bytes) becomes the reduction of itself and the one at its place in `from`.
void reduce(void* to, const void* from, std::size_t bytes, Reduction how, Number type);

}  // namespace plumb::simt
