// Exponential, logarithm and root by the type of their argument: the library's, not the fast forms, since bounds allow for the library's 2 ulp.
#pragma once
#include "gpu/device/kernel.hpp"
#include "reference/core/abi.hpp"

namespace plumb {

PLUMB_DEVICE float exp_of(float x) { return expf(x); }
PLUMB_DEVICE double exp_of(double x) { return exp(x); }
PLUMB_DEVICE float log_of(float x) { return logf(x); }
PLUMB_DEVICE double log_of(double x) { return log(x); }
PLUMB_DEVICE float root_of(float x) { return sqrtf(x); }
PLUMB_DEVICE double root_of(double x) { return sqrt(x); }

}  // namespace plumb
