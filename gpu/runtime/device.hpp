// The name in 0.1 of what a kernel file includes. For files outside of the tree; goes in 0.3.
#pragma once
#include "gpu/device/kernel.hpp"
