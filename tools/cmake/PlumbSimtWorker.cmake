# The program behind `verify --device simt`: every rung that the CPU executor can run, and the mutants of kernels, with the
# engine's worker. And the list of what was compiled into it, and of what was not, with its reason.
function(plumb_simt_worker manifest)
  set(PLUMB_BUILT_OPERATORS ${PLUMB_BUILT_SIMT_OPERATORS})  # here
  file(GLOB rungs CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/gpu/[a-z]*/[0-9][0-9]_*.cu)
  file(GLOB mutants CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/verify/mutants/device/*.cu)
  plumb_built_mutants(mutants)
  set(kernels ${mutants})
  set(lines "")
  foreach(source IN LISTS rungs)
    plumb_operator_of(${source} op)
    plumb_is_built(${source} built)
    get_filename_component(stem ${source} NAME_WE)
    set(why_not "")
    plumb_requires(${source} library ${PLUMB_LIBRARY_WORDS})
    if(library)
      set(why_not "a vendor's library needs a device")
    elseif(built)
      list(APPEND kernels ${source})
    endif()
    string(APPEND lines "    {\"${op}\", \"gpu/${stem}\", \"${why_not}\", ${built}},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${manifest} CONTENT
"// Written by CMake from the globs that compile the kernels of the CPU executor's worker.
#include \"verify/engine/process/manifest.hpp\"
namespace plumb {
const std::initializer_list<SimtManifestLine> kSimtManifest = {
${lines}};
}  // namespace plumb
" @ONLY)
  # its main(), with the backend: the worker of a user's own kernels has the same (PlumbExtra.cmake)
  add_library(plumb_simt_worker_main OBJECT simt/main.cpp simt/simt_backend.cpp)
  target_link_libraries(plumb_simt_worker_main PRIVATE plumb_verify plumb_simt)
  add_executable(plumb_simt_worker $<TARGET_OBJECTS:plumb_simt_worker_main>)
  plumb_families(families)
  plumb_join(kernels ${kernels} ${families})
  set(PLUMB_SIMT_DEFINITIONS -DPLUMB_FAMILIES)
  plumb_simt_kernels(plumb_simt_worker_kernels ${kernels})
  target_link_libraries(plumb_simt_worker PRIVATE plumb_simt_worker_kernels)
  # all of the executor, and seen: libraries of PTX that are loaded for PLUMB_SIMT_PTX refer to it
  target_link_libraries(plumb_simt_worker PRIVATE -Wl,--whole-archive,$<TARGET_FILE:plumb_simt>,--no-whole-archive plumb_verify plumb_simt
                        OpenMP::OpenMP_CXX)
  set_target_properties(plumb_simt_worker PROPERTIES ENABLE_EXPORTS ON RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
endfunction()
