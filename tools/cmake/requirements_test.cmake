# cmake -DFOLDER=an_empty_folder -P requirements_test.cmake: the first line decides, and an unknown word is refused.
cmake_minimum_required(VERSION 3.20)
include(${CMAKE_CURRENT_LIST_DIR}/PlumbRequirements.cmake)

function(expect what got wanted)
  if(NOT got STREQUAL wanted)
    message(FATAL_ERROR "${what}: got '${got}', expected '${wanted}'")
  endif()
endfunction()

if(DEFINED UNKNOWN)  # the run that has to fail
  file(WRITE ${FOLDER}/unknown.cu "// requires: sm_9Oa\n")
  plumb_requirements(${FOLDER}/unknown.cu words)
  return()
endif()

file(WRITE ${FOLDER}/plain.cu "// gemm, rung 3: no wgmma, no cublas\n// requires: cublas\n#include <cublas_v2.h>\n")
file(WRITE ${FOLDER}/hopper.cu "// requires: sm_90a, tensor_map\n// gemm, rung 4\n")
file(WRITE ${FOLDER}/vendor.cu "// requires: cublas\n")
plumb_requirements(${FOLDER}/plain.cu words)
expect("a word after the first line" "${words}" "")
plumb_requirements(${FOLDER}/hopper.cu words)
expect("two words" "${words}" "sm_90a;tensor_map")
set(all ${FOLDER}/plain.cu ${FOLDER}/hopper.cu ${FOLDER}/vendor.cu)
plumb_take(all taken sm_90a)
expect("taken for the chip" "${taken}" "${FOLDER}/hopper.cu")
plumb_take(all taken ${PLUMB_LIBRARY_WORDS})
expect("taken for the library" "${taken}" "${FOLDER}/vendor.cu")
expect("left" "${all}" "${FOLDER}/plain.cu")
execute_process(COMMAND ${CMAKE_COMMAND} -DFOLDER=${FOLDER} -DUNKNOWN=1 -P ${CMAKE_CURRENT_LIST_FILE}
                RESULT_VARIABLE result ERROR_VARIABLE said)
string(REGEX REPLACE "[ \n]+" " " said "${said}")  # CMake wraps what it says by the length of the folder's name
if(result EQUAL 0 OR NOT said MATCHES "unknown.cu:1: requires 'sm_9Oa'")
  message(FATAL_ERROR "an unknown word was accepted: ${said}")
endif()
