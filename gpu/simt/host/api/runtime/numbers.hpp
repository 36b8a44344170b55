// Elements of the vendor's libraries, by the type that a call names: as doubles, rounded once where they are stored.
#pragma once
#include <cstddef>

#include "gpu/simt/host/api/runtime/library_types.hpp"

namespace plumb::simt {

/// Bytes of an element; 0: a type that is not offered.
std::size_t bytes_of(cudaDataType_t type);
double load(const void* p, cudaDataType_t type, long long i);
void store(void* p, cudaDataType_t type, long long i, double value);

}  // namespace plumb::simt
