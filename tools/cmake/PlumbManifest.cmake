# Writes the manifest of variants from the same globs that compile them: {"op", "cpu/01_serial", whether it is built} per line of a list
# in C++. verify compares what registered itself with it, so that a dropped object or a misspelt name is a broken harness
# (exit 4). A file of its own, so that one more operator costs no compilation of the judge.
function(plumb_manifest output)
  set(lines "")
  foreach(source IN LISTS PLUMB_CPU_SOURCES PLUMB_GPU_SOURCES)
    plumb_operator_of(${source} op)
    plumb_is_built(${source} built)
    get_filename_component(stem ${source} NAME_WE)
    set(space cpu)
    if(source MATCHES "\\.cu$")
      set(space gpu)
    endif()
    string(APPEND lines "    {\"${op}\", \"${space}/${stem}\", ${built}},\n")
  endforeach()
  set(mutants false)
  if(PLUMB_MUTANTS)
    set(mutants true)
  endif()
  file(CONFIGURE OUTPUT ${output} CONTENT
"// Written by CMake from the globs that compile the variants.
#include \"verify/engine/process/manifest.hpp\"
namespace plumb {
const std::initializer_list<ManifestLine> kManifest = {
${lines}};
const bool kMutantsBuilt = ${mutants};
}  // namespace plumb
" @ONLY)
endfunction()
