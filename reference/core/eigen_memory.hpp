// Read before Eigen by the files that plumb_eigen_sources() names. Where memory runs out, Eigen throws by itself, and of an exception that
// leaves a parallel region nothing is known. Without this macro it asks operator new for what it cannot have, whose handler knows of it.
#pragma once
#include <Eigen/src/Core/util/Macros.h>
#undef EIGEN_EXCEPTIONS
