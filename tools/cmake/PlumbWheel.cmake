# What the Python package holds (pyproject.toml): verify without variants, the library of its workers and the CPU executor, in one folder, with the
# OpenMP runtime that they were linked with. The C++ runtime is linked in. Beside it the sources by which the executor compiles modules of PTX.
set(PLUMB_TESTS OFF)
set(PLUMB_NATIVE OFF)
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)
find_library(PLUMB_BOOST_CONTEXT NAMES libboost_context.a boost_context)
include(PlumbSimt)
configure_file(tools/version.hpp.in ${CMAKE_BINARY_DIR}/generated/tools/version.hpp @ONLY)
target_include_directories(plumb_flags INTERFACE ${CMAKE_BINARY_DIR}/generated)

file(GLOB sources RELATIVE ${CMAKE_SOURCE_DIR} CONFIGURE_DEPENDS reference/core/*.cpp reference/arithmetic/*.cpp reference/cases/*.cpp reference/formula/*.cpp reference/ops/*.cpp datasets/io/*.cpp datasets/formats/*.cpp gpu/plugin/*.cpp verify/cli/*.cpp
     verify/drawing/*.cpp verify/engine/*.cpp verify/engine/*/*.cpp verify/image/*.cpp verify/judge/*.cpp verify/report/*.cpp verify/selection/*.cpp verify/sweep/*.cpp)
list(FILTER sources EXCLUDE REGEX "openblas_at_start|engine/backend/gpu_|datasets/formats/(network_|contest|convert|idx_)")
plumb_formula_sources(formulas)
list(APPEND sources ${formulas})
file(GLOB contracts CONFIGURE_DEPENDS reference/ops/*.hpp)
string(REPLACE ";" "|" contracts "${contracts}")
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/contracts.inc
  COMMAND ${CMAKE_COMMAND} -DOUT=${CMAKE_BINARY_DIR}/contracts.inc "-DHEADERS=${contracts}" -P ${CMAKE_SOURCE_DIR}/tools/cmake/EmbedContracts.cmake
  DEPENDS ${CMAKE_SOURCE_DIR}/tools/cmake/EmbedContracts.cmake VERBATIM)
include(${CMAKE_SOURCE_DIR}/tools/python/no_variants.cmake)

# Compiled once, for both; each takes what it calls.
add_library(plumb_judge STATIC ${CMAKE_BINARY_DIR}/contracts.inc ${PLUMB_NO_VARIANTS} ${sources})
target_link_libraries(plumb_judge PUBLIC plumb_flags plumb_strict fmt::fmt-header-only CLI11::CLI11 nlohmann_json::nlohmann_json ZLIB::ZLIB
                      OpenMP::OpenMP_CXX Threads::Threads ${CMAKE_DL_LIBS})
target_include_directories(plumb_judge PRIVATE ${CMAKE_BINARY_DIR})
target_compile_options(plumb_judge PRIVATE -O2 -ffunction-sections $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
set_target_properties(plumb_judge PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
plumb_together(plumb_judge)  # those that every element passes through are apart, and fast, as in the rooms' own CMakeLists.txt
plumb_flagged_sources(${PLUMB_HURRIED} verify/drawing/cover.cpp verify/drawing/draws.cpp verify/drawing/open_tuples.cpp verify/image/image.cpp
                      verify/judge/compare.cpp verify/judge/elements.cpp verify/judge/mistrust.cpp)
add_executable(verify verify/main.cpp)
add_library(plumbline SHARED tools/python/library.cpp)

file(GLOB simt_sources CONFIGURE_DEPENDS gpu/simt/*/*.cpp gpu/simt/host/api/*/*.cpp gpu/simt/host/report/*.cpp gpu/simt/ptx/library/*.cpp gpu/common/*.cpp)
add_library(plumb_simt_ptx SHARED ${simt_sources})
plumb_simt_library(plumb_simt_ptx)
target_link_libraries(plumb_simt_ptx PRIVATE ${PLUMB_BOOST_CONTEXT})
target_link_options(plumb_simt_ptx PRIVATE -Wl,--no-undefined)
plumb_simt_describe(${CMAKE_BINARY_DIR}/executor.json g++ "[]")  # that of the machine that it is installed on

foreach(target verify plumbline plumb_simt_ptx)
  target_link_libraries(${target} PRIVATE plumb_judge)
  target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc -Wl,--gc-sections -s)
  set_target_properties(${target} PROPERTIES INSTALL_RPATH $ORIGIN)
endforeach()
target_link_options(plumbline PRIVATE -Wl,--no-undefined -Wl,--version-script=${CMAKE_SOURCE_DIR}/tools/python/visible.map)
target_link_options(plumb_simt_ptx PRIVATE -Wl,--version-script=${CMAKE_SOURCE_DIR}/gpu/simt/ptx/library/visible.map)
foreach(path gpu/simt/language gpu/simt/ptx gpu/simt/rewrite reference/core reference/arithmetic)
  install(DIRECTORY ${path}/ DESTINATION plumbline/simt/${path} FILES_MATCHING PATTERN "*.hpp" PATTERN "*.inc" PATTERN "*.h" PATTERN "ptx*.py"
          PATTERN "*module*.py" PATTERN "function_code.py" PATTERN "executor_build.py" PATTERN "library" EXCLUDE PATTERN "program" EXCLUDE PATTERN "__pycache__" EXCLUDE)
endforeach()
install(FILES ${CMAKE_BINARY_DIR}/executor.json DESTINATION plumbline/simt)
install(TARGETS verify plumbline plumb_simt_ptx RUNTIME DESTINATION plumbline/bin LIBRARY DESTINATION plumbline/bin)
get_filename_component(runtime ${OpenMP_gomp_LIBRARY} REALPATH)
install(PROGRAMS ${runtime} DESTINATION plumbline/bin RENAME libgomp.so.1)
