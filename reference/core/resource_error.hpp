// The error for a resource that this machine or this process ran out of.
#pragma once
#include "reference/core/error.hpp"

namespace plumb {

/// Memory, address space, threads, processes, descriptors or mappings ran out. Says nothing about what is judged: a run that ends in
/// this error is a skip, never a failure of the kernel.
class ResourceError : public Error {
 public:
  using Error::Error;
};

}  // namespace plumb
