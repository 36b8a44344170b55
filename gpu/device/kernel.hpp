// The one header that a kernel file includes: the language that kernels are written in, and launches of them.
#pragma once
#include "gpu/device/language.hpp"
#include "gpu/device/launch.hpp"
