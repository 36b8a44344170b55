# plumb_simt_kernels(NAME sources.cu...): an OBJECT library of the kernels for the CPU executor; link it with plumb_simt.
# plumb_simt_program(NAME sources.cu...): a program of them, with the user's own main().
#
# Each source is preprocessed against gpu/simt/language/shim.hpp, rewritten (launches, __shared__, inline PTX), and compiled by the host compiler with the
# thread-sanitizer's instrumentation, whose runtime gpu/simt itself provides (nothing links libtsan). Whether a run checks its
# accesses is decided when it begins.
#
# PLUMB_SIMT_DEFINITIONS, where the caller sets it, holds further -D flags. plumb_simt_program() also takes host files (.cpp), which see
# CUDA's headers as a host compiler does, FOLDERS to search for headers, and DEFINES (NAME or NAME=VALUE), which begin after the
# executor's own headers: -DN=1024 must not reach them.

# plumb_simt_compiler(LANGUAGE FLAGS): what the preprocessor and the compiler are called with; simt_nvcc.json tells tools/simt-nvcc.
function(plumb_simt_compiler language_out flags_out)
  # -O2, since at -O1 large files compile in 40 % of the time and kernels take twice as long; no vectoriser: an instrumented access should
  # be the kernel's own, not a merged one. -g1: lines for findings; DWARF 4, since binutils 2.40 misnames the file of an inlined call in
  # DWARF 5. Kernels cast halves to words and back: clang 14 drops such a store at -O2, where nvcc keeps it. -fstack-clash-protection: an
  # array larger than the closed page between two threads' stacks meets that page.
  set(flags -O2 -g1 -gdwarf-4 -fno-strict-aliasing -fno-tree-vectorize -fsanitize=alignment
      -fsanitize-recover=alignment -ffp-contract=off -fstack-clash-protection -w)
  list(APPEND flags -fno-builtin-memcmp -fno-builtin-bcmp)  # calls, whose reads are checked
  # A variable that nothing has set holds no value that could be right by luck (memory/undefined.hpp knows the pattern); g++ 11 has no such
  # option.
  include(CheckCXXCompilerFlag)
  check_cxx_compiler_flag(-ftrivial-auto-var-init=pattern PLUMB_HAS_AUTO_VAR_INIT)
  if(PLUMB_HAS_AUTO_VAR_INIT)
    list(APPEND flags -ftrivial-auto-var-init=pattern)
  endif()
  if(PLUMB_NATIVE)
    list(APPEND flags -march=native)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # -g1 holds no variables, and yet g++ follows them for a fifth of its time
    list(APPEND flags -fno-var-tracking -Wno-psabi -fsanitize=thread --param=tsan-distinguish-volatile=1
        --param=tsan-instrument-func-entry-exit=0)
    # copies are calls, whose reads and writes are checked (shim.hpp says of what), each from its own line: not in the caller's place
    list(APPEND flags -fno-builtin-memcpy -fno-builtin-memmove -fno-builtin-memset -fno-optimize-sibling-calls)
    # two branches that do the same keep an access each, and its line
    list(APPEND flags -fno-crossjumping -fno-tree-tail-merge)
    # Functions are put in their callers' place as by nvcc: an array that is handed to none is its thread's own, and its accesses are
    # no calls. The scalar replacement of aggregates would then make four accesses of one vector.
    list(APPEND flags --param=max-inline-insns-auto=400 --param=max-inline-insns-single=1000 --param=inline-unit-growth=300
        --param=large-function-growth=1000 --param=large-stack-frame-growth=10000 -fno-tree-sra)
  else()
    # a kernel's malloc is a call, whose memory is watched: clang would do without it, and without what is wrong with its use
    list(APPEND flags -fno-builtin-malloc -fno-builtin-free)
    list(APPEND flags -fsanitize=thread -mllvm -tsan-distinguish-volatile
        -mllvm -tsan-instrument-func-entry-exit=0 -mllvm -tsan-instrument-read-before-write)
    list(APPEND flags -mllvm -enable-tail-merge=false)  # two branches that do the same keep an access each, and its line
  endif()
  set(${language_out} -D__CUDACC__ -DPLUMB_SIMT PARENT_SCOPE)
  set(${flags_out} ${flags} PARENT_SCOPE)
endfunction()

function(plumb_json_list out)
  list(JOIN ARGN "\", \"" text)
  set(${out} "[\"${text}\"]" PARENT_SCOPE)
endfunction()

# plumb_simt_describe(FILE COMPILER LAUNCHER LIBRARIES...): writes how a user's program, or a module of PTX, is compiled and linked. LAUNCHER: a list
# of JSON.
function(plumb_simt_describe file compiler launcher)
  plumb_simt_compiler(language flags)
  # A user's program is compiled once and run for long: -O3 unrolls its loops, by which the numbers of a thread's own arrays stay in registers.
  # The params allow larger loops than -O3 alone: an index that is then a constant leads to such an array for certain, and needs no check.
  # -fno-tree-partial-pre: that pass reads memory on paths where the program does not.
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    list(APPEND flags -O3 -fno-tree-partial-pre --param=max-completely-peeled-insns=1000 --param=max-completely-peel-times=64)
  endif()
  plumb_json_list(language ${language})
  plumb_json_list(flags ${flags})
  plumb_json_list(libraries ${ARGN} ${OpenMP_CXX_FLAGS} -lpthread ${CMAKE_DL_LIBS})
  string(REPLACE "\"dl\"" "\"-ldl\"" libraries "${libraries}")
  file(GENERATE OUTPUT ${file} CONTENT
"{\"compiler\": \"${compiler}\", \"launcher\": ${launcher}, \"language\": ${language},
 \"flags\": ${flags},
 \"libraries\": ${libraries}}
")
endfunction()

# The switches of fibers: Boost.Context, which is a library of few lines.
find_path(PLUMB_BOOST_CONTEXT_INCLUDE boost/context/detail/fcontext.hpp)
find_library(PLUMB_BOOST_CONTEXT NAMES boost_context)
if(NOT PLUMB_BOOST_CONTEXT OR NOT PLUMB_BOOST_CONTEXT_INCLUDE)
  plumb_missing("Boost.Context" libboost-context-dev)
endif()

# plumb_simt_library(TARGET): how the executor itself is compiled.
function(plumb_simt_library target)
  target_compile_options(${target} PRIVATE -ftls-model=initial-exec)
  target_compile_definitions(${target} PRIVATE PLUMB_SIMT)
  # gpu/device includes <cuda_runtime.h>: the executor's here
  target_include_directories(${target} SYSTEM PRIVATE ${CMAKE_SOURCE_DIR}/gpu/simt/language/include ${PLUMB_BOOST_CONTEXT_INCLUDE})
  target_compile_options(${target} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O2>)
  # Its callbacks are what instrumented code calls: never instrument them.
  target_compile_options(${target} PRIVATE -fno-sanitize=all)
endfunction()

function(plumb_simt_kernels name)
  find_package(Python3 COMPONENTS Interpreter QUIET)
  if(NOT Python3_Interpreter_FOUND)
    plumb_missing("Python 3" python3)
  endif()
  plumb_simt_compiler(language flags)
  list(JOIN flags " " flags)
  set(language -std=c++17 ${language} ${PLUMB_SIMT_DEFINITIONS})
  list(TRANSFORM PLUMB_SIMT_FOLDERS PREPEND -I OUTPUT_VARIABLE folders)
  file(GLOB rewriter CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/gpu/simt/rewrite/*.py)
  list(FILTER rewriter EXCLUDE REGEX "_test\\.py$")
  set(rewritten)
  set(steps)
  foreach(source IN LISTS ARGN)
    get_filename_component(source ${source} ABSOLUTE)
    file(RELATIVE_PATH relative ${CMAKE_SOURCE_DIR} ${source})
    string(REPLACE "../" "up/" relative ${relative})
    set(out ${CMAKE_BINARY_DIR}/simt/${relative}.simt.cpp)
    list(APPEND rewritten ${out})
    get_property(known GLOBAL PROPERTY "plumb_simt_${out}")
    if(NOT known)
      set_property(GLOBAL PROPERTY "plumb_simt_${out}" TRUE)
      get_filename_component(folder ${out} DIRECTORY)
      file(MAKE_DIRECTORY ${folder})
      # g++ writes the sanitizer's places as they are: where -ffile-prefix-map is asked for, names of files are relative from here on
      set(renamed)
      if(CMAKE_CXX_FLAGS MATCHES "-ffile-prefix-map=")
        set(renamed COMMAND sed -i "s|^\\(# [0-9]* \"\\)${CMAKE_SOURCE_DIR}/|\\1|" ${out})
      endif()
      add_custom_command(OUTPUT ${out}
        COMMAND ${CMAKE_CXX_COMPILER} -E ${language} ${folders} -I${CMAKE_SOURCE_DIR} -isystem ${CMAKE_SOURCE_DIR}/gpu/simt/language/include
                -include ${CMAKE_SOURCE_DIR}/gpu/simt/language/include/cuda_runtime.h ${PLUMB_SIMT_AFTERWARDS}  # as nvcc does
                -MD -MF ${out}.d -MQ ${out} -x c++ ${source} -o ${out}.ii
        COMMAND ${Python3_EXECUTABLE} -S -E ${CMAKE_SOURCE_DIR}/gpu/simt/rewrite/rewrite.py ${out}.ii ${out}
        ${renamed}
        DEPENDS ${source} ${rewriter} DEPFILE ${out}.d VERBATIM
        COMMENT "Rewriting ${relative} for the CPU executor")
    endif()
    string(MAKE_C_IDENTIFIER "plumb_rewrite_${relative}" step)
    if(NOT TARGET ${step})
      add_custom_target(${step} DEPENDS ${out})
    endif()
    list(APPEND steps ${step})
  endforeach()
  set_source_files_properties(${rewritten} PROPERTIES GENERATED TRUE)
  add_library(${name} OBJECT ${rewritten})
  add_dependencies(${name} ${steps})  # two libraries of one source wait for one rewriting instead of racing for the file
  target_compile_options(${name} PRIVATE ${language} "SHELL:${flags}")
endfunction()

function(plumb_simt_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "FOLDERS;DEFINES")
  set(PLUMB_SIMT_FOLDERS ${arg_FOLDERS})
  set(PLUMB_SIMT_AFTERWARDS)
  if(arg_DEFINES)
    list(TRANSFORM arg_DEFINES REPLACE "^([^=]+)$" "\\1=1" OUTPUT_VARIABLE defines)
    list(TRANSFORM defines REPLACE "^([^=]+)=(.*)$" "#define \\1 \\2\n")
    list(JOIN defines "" text)
    file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}_defines.h CONTENT "${text}" @ONLY)
    set(PLUMB_SIMT_AFTERWARDS -include ${CMAKE_CURRENT_BINARY_DIR}/${name}_defines.h)
  endif()
  set(kernels ${arg_UNPARSED_ARGUMENTS})
  set(hosts ${arg_UNPARSED_ARGUMENTS})
  list(FILTER kernels INCLUDE REGEX "\\.cu$")
  list(FILTER hosts EXCLUDE REGEX "\\.cu$")
  plumb_simt_kernels(${name}_kernels ${kernels})
  add_executable(${name} $<TARGET_OBJECTS:${name}_kernels> ${hosts})
  target_include_directories(${name} SYSTEM PRIVATE ${arg_FOLDERS} ${CMAKE_SOURCE_DIR}/gpu/simt/language/include)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_definitions(${name} PRIVATE ${arg_DEFINES})
  target_compile_options(${name} PRIVATE -w)
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX CXX_STANDARD 17)
  target_link_libraries(${name} PRIVATE plumb_simt)
endfunction()

# plumb_simt_says_test(TEST "PROGRAM ARGUMENTS" SAID): the program says SAID, a regular expression.
function(plumb_simt_says_test test command said)
  separate_arguments(command)
  add_test(NAME ${test} COMMAND ${command})
  set_tests_properties(${test} PROPERTIES PASS_REGULAR_EXPRESSION "${said}")
endfunction()

# plumb_simt_not_offered_test(TEST PROGRAM ARGUMENT SAID): the program ends with exit code 3, says the regular expression SAID after "not
# supported by the CPU executor: ", and has no finding.
function(plumb_simt_not_offered_test test program argument said)
  add_test(NAME ${test} COMMAND sh -c "$<TARGET_FILE:${program}> ${argument} 2>&1; echo exit $?")
  set_tests_properties(${test} PROPERTIES PASS_REGULAR_EXPRESSION "not supported by the CPU executor: ${said}.*exit 3"
                       FAIL_REGULAR_EXPRESSION "finding")
endfunction()
