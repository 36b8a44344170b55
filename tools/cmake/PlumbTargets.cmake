# The functions every room's CMakeLists.txt is written with.
include(${CMAKE_CURRENT_LIST_DIR}/PlumbRequirements.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/PlumbUserFiles.cmake)

function(plumb_missing what package)
  message(FATAL_ERROR "${what} was not found: install it with\n    apt-get install ${package}\nor let `tools/plumb setup` do it")
endfunction()

# Flags every target of ours carries: warnings, C++20, the include root, sanitizers.
add_library(plumb_flags INTERFACE)
target_compile_features(plumb_flags INTERFACE cxx_std_20)
target_include_directories(plumb_flags INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(plumb_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -fno-fast-math>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${PLUMB_WERROR}>>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC bug 105651: a false alarm in std::string's own operator+
  target_compile_options(plumb_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  # false alarms: a reference into a table that is found by a temporary's value; std::vector's own insert() where it is put in its caller's place
  target_compile_options(plumb_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-dangling-reference -Wno-stringop-overflow>)
endif()
if(PLUMB_UNITY)  # g++ takes what an included file has for itself as what others see
  target_compile_options(plumb_flags INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>
    $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-shadow>)  # clang: what another file has for itself is shadowed
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 17)
  # std::stable_sort of libstdc++ 12 calls a function that it declares deprecated
  target_compile_options(plumb_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-deprecated-declarations>)
endif()
if(PLUMB_SANITIZE)
  target_compile_options(plumb_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${PLUMB_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined>)
  target_link_options(plumb_flags INTERFACE -fsanitize=${PLUMB_SANITIZE})
endif()

# Cold code (command lines, reports), and hot code, which processes all data. Debug and sanitizer builds are -O0 and
# stay so: they take longer to compile than to run.
set(PLUMB_UNHURRIED -O1)
set(PLUMB_HURRIED -O3)
if(PLUMB_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL Debug)
  set(PLUMB_UNHURRIED -O0)
  set(PLUMB_HURRIED -O0)
endif()
if(PLUMB_SANITIZE MATCHES thread)  # unoptimised, drawing the cases alone took minutes
  set(PLUMB_HURRIED -O2)
endif()

# Flags of the fast host code: variants and models, never oracles or the judge.
add_library(plumb_fast INTERFACE)
if(PLUMB_NATIVE)
  target_compile_options(plumb_fast INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-march=native>)
endif()

# Flags of code that decides: no contraction, no value-changing optimisation.
add_library(plumb_strict INTERFACE)
target_compile_options(plumb_strict INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)

# plumb_flagged_sources(OPTIONS FILES...): options for single files, which then cannot use what was compiled with others.
function(plumb_flagged_sources options)
  foreach(source IN LISTS ARGN)
    get_filename_component(path ${source} ABSOLUTE)
    get_source_file_property(generated ${source} GENERATED)
    if(NOT generated AND NOT EXISTS ${path})
      message(FATAL_ERROR "flags are set for ${source}, which does not exist")
    endif()
  endforeach()
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "${options}" SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# Files that are mostly a library's templates. Built with the undefined-behaviour sanitizer such a file takes one or two minutes, for
# checks of every pointer of the library's own; addresses still are checked.
function(plumb_template_sources options)
  if(PLUMB_SANITIZE MATCHES undefined)
    list(APPEND options -fno-sanitize=undefined)
  endif()
  plumb_flagged_sources("${options}" ${ARGN})
endfunction()

# plumb_eigen_sources(FILES...): those that call Eigen.
function(plumb_eigen_sources)
  set(options -include ${CMAKE_SOURCE_DIR}/reference/core/eigen_memory.hpp)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND options -Wno-maybe-uninitialized)  # gcc 12 sees it in its own AVX-512 header, through Eigen
  endif()
  plumb_template_sources("${options}" ${ARGN})
endfunction()

# plumb_library_templates(FILES...): files that read command lines (CLI11) or JSON: cold code that is slow to compile.
function(plumb_library_templates)
  plumb_template_sources(${PLUMB_UNHURRIED} ${ARGN})
endfunction()

# plumb_precompile(TARGET HEADERS...): what nearly every file includes is parsed once for a target, with HEADERS; not for one of less than
# four files, which it would cost more than it saves. Not under a compiler cache, which cannot see through it. Headers still have to
# compile alone (check_headers).
function(plumb_precompile target)
  get_target_property(sources ${target} SOURCES)
  list(LENGTH sources files)
  get_target_property(together ${target} UNITY_BUILD)
  if(together)
    set(folders "")
    foreach(source IN LISTS sources)
      get_filename_component(folder ${source} DIRECTORY)
      list(APPEND folders ${folder}.)
    endforeach()
    list(REMOVE_DUPLICATES folders)
    list(LENGTH folders files)
  endif()
  if(files GREATER 3 AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    target_precompile_headers(${target} PRIVATE <algorithm> <cmath> <cstdint> <cstring> <filesystem> <fstream> <functional> <map> <memory>
      <optional> <sstream> <string> <string_view> <vector> <fmt/format.h> ${ARGN})
  endif()
endfunction()

# plumb_together(TARGET): the files of a folder are one translation unit, so no two of them name something alike. Those with flags of their own
# stay apart.
function(plumb_together target)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_filename_component(path ${source} ABSOLUTE)
    file(RELATIVE_PATH path ${CMAKE_SOURCE_DIR} ${path})
    get_filename_component(folder ${path} DIRECTORY)
    string(MAKE_C_IDENTIFIER ${folder} group)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# plumb_formula_sources(OUT): a source for each operator of the tree by formula, which makes its contract; written when CMake runs.
function(plumb_formula_sources out)
  file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/reference/ops/*.hpp)
  set(sources "")
  foreach(header IN LISTS headers)
    plumb_formulas(names ${CMAKE_SOURCE_DIR}/${header})
    if(names)
      get_filename_component(op ${header} NAME_WE)
      list(TRANSFORM names REPLACE "(.+)" "PLUMB_FORMULA(\\1)\n")
      list(JOIN names "" lines)
      file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/formulas/${op}.cpp CONTENT
"#include \"${header}\"

#include \"reference/formula/formula.hpp\"
namespace plumb {
${lines}}  // namespace plumb
")
      list(APPEND sources ${CMAKE_BINARY_DIR}/generated/formulas/${op}.cpp)
    endif()
  endforeach()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

# plumb_library(NAME sources... LINK libs...): a static library with our flags.
function(plumb_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC plumb_flags ${ARG_LINK})
  if(PLUMB_UNITY)
    plumb_together(${name})
  endif()
  plumb_precompile(${name})
endfunction()

# plumb_test(NAME sources... LINK libs... [COST seconds]): a doctest program, registered with ctest. Those of the greatest cost begin first, so
# that others run beside them: a fresh folder knows no times.
function(plumb_test name)
  if(NOT PLUMB_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "COST" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE plumb_flags plumb_doctest ${ARG_LINK})
  target_compile_options(${name} PRIVATE -O0)  # what is tested is optimised, not the asking
  plumb_precompile(${name} <doctest/doctest.h>)
  add_test(NAME ${name} COMMAND ${name})
  if(ARG_COST)
    set_tests_properties(${name} PROPERTIES COST ${ARG_COST})
  endif()
endfunction()
# The skipped test cases of a program that `pattern` names, as a test of label nightly. A comma ends a pattern: write *. One that names no case fails.
function(plumb_nightly_cases name program pattern)
  add_test(NAME ${name} COMMAND ${program} --no-skip "--test-case=${pattern}")
  set_tests_properties(${name} PROPERTIES LABELS nightly FAIL_REGULAR_EXPRESSION "test cases: *0 |;FAILURE!")
endfunction()
enable_testing()
