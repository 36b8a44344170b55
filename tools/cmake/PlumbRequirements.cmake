# What a kernel file needs, read from the tag in its first line and from nowhere else. Apart from PlumbTargets.cmake because a
# script without a project can include it: requirements_test.cmake does.

# plumb_requirements(FILE OUT): what a kernel file needs beyond the CUDA language, from its first line, as a list; empty: nothing.
#   // requires: sm_90a                 instructions of compute capability 9.0 alone (wgmma): built for that chip and for no other
#   // requires: tensor_map             tensor maps and bulk copies by them
#   // requires: cublas, cusparse       a library: cublas, cusparse, cub; or cudnn, which is looked for when it is called, not when it is compiled
set(PLUMB_LIBRARY_WORDS cublas cusparse cub cudnn)
set(PLUMB_CHIP_WORDS sm_90a tensor_map)
function(plumb_requirements source out)
  file(STRINGS ${source} first LIMIT_COUNT 1)
  set(words "")
  if(first MATCHES "^// requires: (.*)$")
    string(REGEX REPLACE ", *" ";" words "${CMAKE_MATCH_1}")
    foreach(word IN LISTS words)
      if(NOT word IN_LIST PLUMB_LIBRARY_WORDS AND NOT word IN_LIST PLUMB_CHIP_WORDS)
        message(FATAL_ERROR "${source}:1: requires '${word}'; known are ${PLUMB_CHIP_WORDS};${PLUMB_LIBRARY_WORDS}")
      endif()
    endforeach()
  endif()
  set(${out} "${words}" PARENT_SCOPE)
endfunction()

# plumb_requires(FILE OUT WORDS...): whether a kernel file requires one of WORDS.
function(plumb_requires source out)
  plumb_requirements(${source} words)
  set(found FALSE)
  foreach(word IN LISTS words)
    if(word IN_LIST ARGN)
      set(found TRUE)
    endif()
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# plumb_take(LIST OUT WORDS...): moves the files that require one of WORDS from LIST to OUT.
function(plumb_take list out)
  set(kept "")
  set(taken "")
  foreach(source IN LISTS ${list})
    plumb_requires(${source} found ${ARGN})
    if(found)
      list(APPEND taken ${source})
    else()
      list(APPEND kept ${source})
    endif()
  endforeach()
  set(${list} ${kept} PARENT_SCOPE)
  set(${out} ${taken} PARENT_SCOPE)
endfunction()
