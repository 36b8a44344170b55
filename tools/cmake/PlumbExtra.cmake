# Kernels of a user's own folders (tools/plumb --extra DIR): for every folder of PLUMB_EXTRA_KERNELS, the programs verify and bench once
# more, with every .cpp of the folder (and every .cu where there is nvcc) compiled in as user/NAME, and workers for the folder's .cu files
# on the CPU executor and under --stress. A header of the folder with an operator by formula adds that operator to them. They are in extra/ID of the build folder, are linked from the libraries of the usual build and
# are built when asked for, so that a folder costs the compilation of its files and one link each.

include(${CMAKE_CURRENT_LIST_DIR}/PlumbUserFiles.cmake)
include(CheckCXXCompilerFlag)
check_cxx_compiler_flag(-ftrivial-auto-var-init=pattern PLUMB_HAS_AUTO_VAR_INIT)  # g++ 12, clang 8

# plumb_extra_id(OUT FOLDER): the name of a folder's own place in the build folder.
function(plumb_extra_id out folder)
  string(SHA1 id "${folder}")
  string(SUBSTRING ${id} 0 10 id)
  set(${out} ${id} PARENT_SCOPE)
endfunction()

# plumb_extra_program(TARGET NAME PLACE sources... LINK libs...): bin-like program NAME in PLACE, built when asked for.
function(plumb_extra_program target name place)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "" "LINK")
  add_executable(${target} EXCLUDE_FROM_ALL ${arg_UNPARSED_ARGUMENTS})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${place})
  target_link_libraries(${target} PRIVATE plumb_flags ${arg_LINK} OpenMP::OpenMP_CXX)
endfunction()

function(plumb_extra_folder folder)
  plumb_extra_id(id "${folder}")
  set(place ${CMAKE_BINARY_DIR}/extra/${id})
  file(GLOB host CONFIGURE_DEPENDS ${folder}/*.cpp)
  file(GLOB device CONFIGURE_DEPENDS ${folder}/*.cu)
  file(GLOB headers CONFIGURE_DEPENDS ${folder}/*.hpp)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${headers})
  set(formulas ${place}/formulas.cpp)
  plumb_extra_formulas(formulas ${headers})
  if(NOT host AND NOT device AND NOT formulas)
    message(STATUS "extra kernels: ${folder} holds no .cpp or .cu file, and no header with a formula")
    return()
  endif()
  if(formulas)  # which kernels in Python are judged as
    plumb_python_library(plumbline_${id} ${place} ${formulas})
  endif()
  set(all ${host} ${device})
  set(compiled ${host})
  # written by tools/mutate: its kernels are for the CPU executor alone, and warnings about generated text are not wanted
  set(schemata false)
  if(EXISTS ${folder}/schemata.txt)
    set(schemata true)
  endif()
  if(PLUMB_WITH_CUDA AND NOT schemata)
    list(APPEND compiled ${device})
  endif()
  file(MAKE_DIRECTORY ${place})
  plumb_extra_list(${place}/files.cpp "${folder}" "${all}" "${compiled}")
  set(kernels "")
  if(compiled)
    set(kernels plumb_user_${id})
    add_library(${kernels} OBJECT EXCLUDE_FROM_ALL ${compiled})
    target_compile_definitions(${kernels} PRIVATE PLUMB_ORIGIN="user")
    if(schemata)
      target_compile_options(${kernels} PRIVATE -w)
    endif()
    if(PLUMB_SANITIZE MATCHES thread)  # a user's vector instructions too are compiled, and seen
      set_target_properties(${kernels} PROPERTIES CXX_COMPILER_LAUNCHER ${CMAKE_SOURCE_DIR}/tools/cmake/with_g++.sh)
      target_compile_options(${kernels} PRIVATE -march=native)
    endif()
    target_link_libraries(${kernels} PRIVATE plumb_flags plumb_fast OpenMP::OpenMP_CXX plumb_openblas Eigen3::Eigen
                          $<TARGET_NAME_IF_EXISTS:plumb_gpu_runtime>)
  endif()
  set(parts $<TARGET_NAME_IF_EXISTS:plumb_gpu_backends> plumb_cpu $<TARGET_NAME_IF_EXISTS:plumb_gpu> ${kernels} plumb_openblas Eigen3::Eigen)
  plumb_extra_program(verify_${id} verify ${place} ${CMAKE_SOURCE_DIR}/verify/main.cpp ${place}/files.cpp ${formulas}
                      LINK plumb_verify ${parts} $<TARGET_NAME_IF_EXISTS:plumb_mutants> plumb_interposed $<TARGET_NAME_IF_EXISTS:plumb_device_mutants>)
  plumb_extra_program(bench_${id} bench ${place} ${CMAKE_SOURCE_DIR}/tools/bench.cpp ${place}/files.cpp ${formulas}
                      LINK plumb_bench ${parts})
  # The rungs' workers are those of the usual build, where they have been built.
  foreach(worker plumb_simt_worker plumb_stress_worker)
    file(CREATE_LINK ${CMAKE_BINARY_DIR}/bin/${worker} ${place}/${worker} SYMBOLIC)
  endforeach()
  if(NOT device)
    return()
  endif()
  set(PLUMB_SIMT_DEFINITIONS "-DPLUMB_ORIGIN=\"user\"")
  plumb_simt_kernels(plumb_user_simt_${id} ${device})
  set_target_properties(plumb_user_simt_${id} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  if(PLUMB_HAS_AUTO_VAR_INIT)  # a variable that nothing has written is then a huge number, and no zero that was there by chance
    target_compile_options(plumb_user_simt_${id} PRIVATE -ftrivial-auto-var-init=pattern)
  endif()
  plumb_extra_program(plumb_user_simt_worker_${id} plumb_user_simt_worker ${place}
                      $<TARGET_OBJECTS:plumb_simt_worker_main> ${formulas} LINK plumb_user_simt_${id} plumb_verify plumb_simt)
  if(PLUMB_WITH_CUDA AND NOT schemata)
    plumb_stress_kernels(plumb_user_stress_${id} "" ${device})
    set_target_properties(plumb_user_stress_${id} PROPERTIES EXCLUDE_FROM_ALL TRUE)
    target_compile_definitions(plumb_user_stress_${id} PRIVATE PLUMB_ORIGIN="user")
    plumb_extra_program(plumb_user_stress_worker_${id} plumb_user_stress_worker ${place}
                        ${CMAKE_SOURCE_DIR}/verify/stress/main.cpp ${formulas} LINK plumb_user_stress_${id} plumb_gpu_backends plumb_verify)
  endif()
endfunction()

foreach(folder IN LISTS PLUMB_EXTRA_KERNELS)
  plumb_extra_folder(${folder})
endforeach()
