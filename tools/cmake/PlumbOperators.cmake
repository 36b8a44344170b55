# PLUMB_OPERATORS: the operators whose kernels are built. tools/plumb begins with those that a command names and adds others when they are
# asked for; everybody else gets all. Contracts and oracles are always built: kernels are what takes long.
set(PLUMB_OPERATORS all CACHE STRING "operators whose kernels are built: all, or their names separated by semicolons")
option(PLUMB_MUTANTS "build their mutants too (verify --mutants)" ON)

set(PLUMB_SIMT_OPERATORS "" CACHE STRING "operators whose kernels are built for the CPU executor; empty: those of PLUMB_OPERATORS")

file(GLOB PLUMB_KNOWN_OPERATORS CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/reference/ops ${CMAKE_SOURCE_DIR}/reference/ops/*.hpp)
list(TRANSFORM PLUMB_KNOWN_OPERATORS REPLACE "[.]hpp$" "")

# plumb_operators(NAME OUT): the operators that the variable NAME stands for.
function(plumb_operators name out)
  set(operators ${${name}})
  if(operators STREQUAL "all")
    set(operators ${PLUMB_KNOWN_OPERATORS})
  endif()
  foreach(op IN LISTS operators)
    if(NOT op IN_LIST PLUMB_KNOWN_OPERATORS)
      message(FATAL_ERROR "${name}: no operator is called '${op}' (known: ${PLUMB_KNOWN_OPERATORS})")
    endif()
  endforeach()
  set(${out} ${operators} PARENT_SCOPE)
endfunction()
plumb_operators(PLUMB_OPERATORS PLUMB_BUILT_OPERATORS)
plumb_operators(PLUMB_SIMT_OPERATORS PLUMB_BUILT_SIMT_OPERATORS)
if(NOT PLUMB_BUILT_SIMT_OPERATORS)
  set(PLUMB_BUILT_SIMT_OPERATORS ${PLUMB_BUILT_OPERATORS})
endif()

# plumb_operator_of(FILE OUT): the operator of a kernel's file: the folder of a variant, the beginning of a mutant's name ("gemm_tiles.cu"
# is gemm's); the folder's name where it is no operator's.
function(plumb_operator_of source out)
  get_filename_component(folder ${source} DIRECTORY)
  get_filename_component(name ${folder} NAME)
  if(NOT name IN_LIST PLUMB_KNOWN_OPERATORS)
    get_filename_component(stem ${source} NAME_WE)
    foreach(op IN LISTS PLUMB_KNOWN_OPERATORS)
      if(stem MATCHES "^${op}(_|$)")
        set(name ${op})
      endif()
    endforeach()
  endif()
  set(${out} ${name} PARENT_SCOPE)
endfunction()

# plumb_is_built(FILE OUT): true or false, as C++ writes it: whether the file's operator is built.
function(plumb_is_built source out)
  plumb_operator_of(${source} op)
  if(op IN_LIST PLUMB_BUILT_OPERATORS)
    set(${out} true PARENT_SCOPE)
  else()
    set(${out} false PARENT_SCOPE)
  endif()
endfunction()

# plumb_built_mutants(LIST): as plumb_built() below; none without PLUMB_MUTANTS.
function(plumb_built_mutants list)
  set(kept "")
  if(PLUMB_MUTANTS)
    set(kept ${${list}})
    plumb_built(kept)
  endif()
  set(${list} ${kept} PARENT_SCOPE)
endfunction()

# plumb_built(LIST): leaves in LIST the files of operators that are built.
function(plumb_built list)
  set(plumb_built_files "")  # no name that a caller may give a list of its own
  foreach(source IN LISTS ${list})
    plumb_is_built(${source} built)
    if(built)
      list(APPEND plumb_built_files ${source})
    endif()
  endforeach()
  set(${list} ${plumb_built_files} PARENT_SCOPE)
endfunction()

# plumb_families(OUT): the files gpu/OP/families/*.cu that the rungs of built operators need: those of their own ladder, and of others of
# whose families a header of theirs makes use. To be compiled with PLUMB_FAMILIES, beside the rungs.
function(plumb_families out)
  file(GLOB all CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/gpu/*/families/*.cu)
  set(needed "")
  foreach(op IN LISTS PLUMB_BUILT_OPERATORS)
    file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/gpu/${op}/*.hpp ${CMAKE_SOURCE_DIR}/gpu/${op}/*/*.hpp)
    foreach(header IN LISTS headers)
      file(STRINGS ${header} lines REGEX "^#include \"gpu/[a-z0-9_]+/families/")
      list(APPEND needed ${lines})
    endforeach()
  endforeach()
  set(kept "")
  foreach(source IN LISTS all)
    string(REGEX REPLACE ".*/gpu/([a-z0-9_]+)/families/.*" "\\1" op ${source})
    if(op IN_LIST PLUMB_BUILT_OPERATORS OR "${needed}" MATCHES "gpu/${op}/")
      list(APPEND kept ${source})
    endif()
  endforeach()
  set(${out} ${kept} PARENT_SCOPE)
endfunction()
