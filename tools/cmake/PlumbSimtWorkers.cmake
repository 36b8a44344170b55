# The two programs behind `verify --device simt`: every rung that the CPU executor can run, and the planted faults of kernels, with the
# engine's worker; plain and instrumented. And the list of what was compiled into them, and of what was not, with its reason.
function(plumb_simt_workers manifest)
  file(GLOB rungs CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/gpu/[a-z]*/[0-9][0-9]_*.cu)
  file(GLOB mutants CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/verify/mutants/*.cu)
  set(kernels ${mutants})
  set(lines "")
  foreach(source IN LISTS rungs)
    get_filename_component(folder ${source} DIRECTORY)
    get_filename_component(op ${folder} NAME)
    get_filename_component(stem ${source} NAME_WE)
    set(absent "")
    file(STRINGS ${source} beyond REGEX "wgmma|cp[.]async[.]bulk|CUtensorMap" LIMIT_COUNT 1)
    if(stem MATCHES "^[89]")
      set(absent "a vendor's library needs a device")
    elseif(beyond)
      set(absent "uses wgmma or TMA, which the CPU executor does not offer")
    else()
      list(APPEND kernels ${source})
    endif()
    string(APPEND lines "    {\"${op}\", \"gpu/${stem}\", \"${absent}\"},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${manifest} CONTENT
"// Written by CMake from the globs that compile the kernels of the CPU executor's workers.
struct SimtManifestLine {
  const char* op;
  const char* variant;
  const char* absent;  // why it is not in them, or \"\"
};
inline constexpr SimtManifestLine kSimtManifest[] = {
${lines}    {\"\", \"\", \"\"},
};
" @ONLY)
  set(user "")
  if(PLUMB_EXTRA_KERNELS)
    file(GLOB user CONFIGURE_DEPENDS ${PLUMB_EXTRA_KERNELS}/*.cu)
  endif()
  foreach(mode PLAIN RACE)
    if(mode STREQUAL "RACE")
      set(name plumb_simt_race_worker)
    else()
      set(name plumb_simt_worker)
    endif()
    add_executable(${name} simt/main.cpp simt/simt_backend.cpp)
    if(kernels)
      plumb_simt_kernels(${name}_kernels ${mode} ${kernels})
      target_link_libraries(${name} PRIVATE ${name}_kernels)
    endif()
    if(user)
      set(PLUMB_SIMT_DEFINITIONS "-DPLUMB_ORIGIN=\"user\"")
      plumb_simt_kernels(${name}_user ${mode} ${user})
      unset(PLUMB_SIMT_DEFINITIONS)
      target_link_libraries(${name} PRIVATE ${name}_user)
    endif()
    target_link_libraries(${name} PRIVATE plumb_verify plumb_simt OpenMP::OpenMP_CXX)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
    install(TARGETS ${name})
  endforeach()
endfunction()
