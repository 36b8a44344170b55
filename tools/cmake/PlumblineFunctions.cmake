# What a project of one's own does with an installed Plumbline; find_package(Plumbline) reads this file.
include(${CMAKE_CURRENT_LIST_DIR}/PlumbUserFiles.cmake)

# plumbline_simt_objects(OUT NAME OPTIONS sources.cu...): the sources as objects for the CPU executor, compiled by simt-nvcc.
function(plumbline_simt_objects out name options)
  set(objects "")
  foreach(source IN LISTS ARGN)
    get_filename_component(source ${source} ABSOLUTE)
    get_filename_component(stem ${source} NAME)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}_simt/${stem}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/${name}_simt
      COMMAND ${PLUMBLINE_ROOT}/tools/simt-nvcc ${options} -c ${source} -o ${object} -MD -MT ${object} -MF ${object}.d
      DEPENDS ${source} DEPFILE ${object}.d VERBATIM COMMENT "Compiling ${stem} for the CPU executor")
    list(APPEND objects ${object})
  endforeach()
  set(${out} ${objects} PARENT_SCOPE)
endfunction()

# plumbline_simt_program(NAME sources... [OPTIONS...]): a CUDA program, with its own main(), that runs on the CPU executor: findings on
# stderr and exit code 1. Sources: .cu, and host files beside them. OPTIONS: as for nvcc (-I, -D), for the .cu files.
function(plumbline_simt_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "OPTIONS")
  set(kernels ${arg_UNPARSED_ARGUMENTS})
  set(hosts ${arg_UNPARSED_ARGUMENTS})
  list(FILTER kernels INCLUDE REGEX "[.]cu$")
  list(FILTER hosts EXCLUDE REGEX "[.]cu$")
  plumbline_simt_objects(objects ${name} "${arg_OPTIONS}" ${kernels})
  add_executable(${name} ${objects} ${hosts})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(${name} PRIVATE Plumbline::simt)
endfunction()

# plumbline_verify_program(NAME FOLDER): the program verify with every .cpp of FOLDER compiled in as user/FILE, and, beside it, the CPU
# executor's worker with every .cu. A header of FOLDER with an operator by formula adds that operator.
function(plumbline_verify_program name folder)
  get_filename_component(folder ${folder} ABSOLUTE)
  file(GLOB host CONFIGURE_DEPENDS ${folder}/*.cpp)
  file(GLOB device CONFIGURE_DEPENDS ${folder}/*.cu)
  file(GLOB headers CONFIGURE_DEPENDS ${folder}/*.hpp)
  if(NOT host AND NOT device)
    message(FATAL_ERROR "${folder} holds no .cpp or .cu file")
  endif()
  set(place ${CMAKE_CURRENT_BINARY_DIR}/${name}.verify)
  set(formulas ${place}/formulas.cpp)
  plumb_extra_formulas(formulas ${headers})
  set(all ${host} ${device})
  plumb_extra_list(${place}/files.cpp "${folder}" "${all}" "${host}")
  add_executable(${name} ${host} ${place}/files.cpp ${formulas})
  target_compile_definitions(${name} PRIVATE PLUMB_ORIGIN="user")
  target_link_libraries(${name} PRIVATE Plumbline::judge)
  set_target_properties(${name} PROPERTIES OUTPUT_NAME verify RUNTIME_OUTPUT_DIRECTORY ${place})
  if(device)
    plumbline_simt_objects(objects ${name} "-DPLUMB_ORIGIN=\"user\"" ${device})
    add_executable(${name}_simt ${objects} ${formulas} ${place}/files.cpp)
    target_link_libraries(${name}_simt PRIVATE -Wl,--whole-archive ${PLUMBLINE_ROOT}/libplumb_simt_program.a -Wl,--no-whole-archive
                          ${PLUMBLINE_ROOT}/libplumb_verify.a ${PLUMBLINE_ROOT}/libplumb_ops.a ${PLUMBLINE_ROOT}/libplumb_formats.a
                          Plumbline::simt Plumbline::kernel ZLIB::ZLIB)
    target_compile_features(${name}_simt PRIVATE cxx_std_20)
    set_target_properties(${name}_simt PROPERTIES OUTPUT_NAME plumb_user_simt_worker RUNTIME_OUTPUT_DIRECTORY ${place} LINKER_LANGUAGE CXX)
    add_dependencies(${name} ${name}_simt)
  endif()
endfunction()

# plumbline_add_verify_test(FOLDER OPERATORS op... [ARGUMENTS words...]): a test verify.FOLDER.OP for each operator: the kernels of FOLDER,
# .cpp on the host and .cu on the CPU executor, are judged on OP's cases. ARGUMENTS: further words for verify (--race, --tier full, ...).
function(plumbline_add_verify_test folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "OPERATORS;ARGUMENTS")
  if(NOT arg_OPERATORS)
    message(FATAL_ERROR "plumbline_add_verify_test(${folder} OPERATORS ...): no operator is named")
  endif()
  get_filename_component(folder ${folder} ABSOLUTE)
  get_filename_component(name ${folder} NAME)
  plumbline_verify_program(${name}_verify ${folder})
  set(devices "")
  foreach(kind cpp:cpu cu:simt)
    string(REPLACE ":" ";" kind ${kind})
    list(GET kind 0 ending)
    list(GET kind 1 device)
    file(GLOB files ${folder}/*.${ending})
    if(files)
      list(APPEND devices ${device})
    endif()
  endforeach()
  list(JOIN devices "," devices)
  foreach(op IN LISTS arg_OPERATORS)
    add_test(NAME verify.${name}.${op} COMMAND ${name}_verify --case ${op}.* --variant user/* --device ${devices} ${arg_ARGUMENTS})
  endforeach()
endfunction()
