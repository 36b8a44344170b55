# Writes the manifest of variants from the same globs that compile them: "op|cpu/01_serial" per line of a C++ array.
# verify compares what registered itself with it, so that a dropped object or a misspelt name is a broken harness (exit 4).
function(plumb_manifest output)
  set(lines "")
  foreach(source IN LISTS PLUMB_CPU_SOURCES PLUMB_GPU_SOURCES)
    get_filename_component(folder ${source} DIRECTORY)
    get_filename_component(op ${folder} NAME)
    get_filename_component(stem ${source} NAME_WE)
    if(source MATCHES "\\.cu$")
      string(APPEND lines "    {\"${op}\", \"gpu/${stem}\"},\n")
    else()
      string(APPEND lines "    {\"${op}\", \"cpu/${stem}\"},\n")
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${output} CONTENT
"// Written by CMake from the globs that compile the variants.
inline constexpr plumb::ManifestLine kManifest[] = {
${lines}    {\"\", \"\"},
};
" @ONLY)
endfunction()
