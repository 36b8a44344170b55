# PLUMB_NO_VARIANTS: a file that says of a program that it holds no variants.
set(PLUMB_NO_VARIANTS ${CMAKE_CURRENT_BINARY_DIR}/no_variants.cpp)
file(CONFIGURE OUTPUT ${PLUMB_NO_VARIANTS} CONTENT
"// Written by CMake: neither variants nor mutants are compiled in.
#include \"verify/engine/process/manifest.hpp\"
namespace plumb {
const std::initializer_list<ManifestLine> kManifest = {};
const std::initializer_list<SimtManifestLine> kSimtManifest = {};
const bool kMutantsBuilt = false;
}  // namespace plumb
" @ONLY)
