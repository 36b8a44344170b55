# The installed tree: lib/plumbline is laid out as this tree, so that a file finds its neighbours there as it does here; what other programs
# look for leads into it: bin/plumb, lib/cmake/Plumbline, lib/pkgconfig, share/man and completion. No path of this machine is in it.
#
# Components: runtime (the programs, plumb), plugin (plugin_abi.h), dev (kernels and programs of one's own: headers, libraries, the CPU
# executor's compiler; needs plugin), python.
include(CMakePackageConfigHelpers)
set(root lib/plumbline)
set(made ${CMAKE_BINARY_DIR}/install)

# plumb_install_folder(COMPONENT FOLDER PATTERN...): the tracked files of FOLDER, a folder of this tree, that match one of the patterns.
function(plumb_install_folder component folder)
  set(patterns "")
  foreach(pattern IN LISTS ARGN)
    list(APPEND patterns PATTERN ${pattern})
  endforeach()
  get_filename_component(above ${root}/${folder} DIRECTORY)
  install(DIRECTORY ${folder} DESTINATION ${above} COMPONENT ${component} FILES_MATCHING ${patterns}
          PATTERN "__pycache__" EXCLUDE PATTERN "tests" EXCLUDE PATTERN "*_test.py" EXCLUDE)
endfunction()

# runtime
install(TARGETS verify bench dataset infer plumb_simt_worker RUNTIME DESTINATION ${root}/bin COMPONENT runtime)
if(TARGET infer_simt)
  install(TARGETS infer_simt RUNTIME DESTINATION ${root}/bin COMPONENT runtime)
endif()
if(PLUMB_WITH_CUDA AND PLUMB_STRESS)  # else it is built when asked for
  install(TARGETS plumb_stress_worker RUNTIME DESTINATION ${root}/bin COMPONENT runtime)
endif()
install(PROGRAMS tools/plumb DESTINATION ${root}/tools COMPONENT runtime)
file(MAKE_DIRECTORY ${made})
file(CREATE_LINK ../lib/plumbline/tools/plumb ${made}/plumb SYMBOLIC)
install(FILES ${made}/plumb DESTINATION bin COMPONENT runtime)
file(WRITE ${made}/version "${PROJECT_VERSION}\n")
install(FILES ${made}/version LICENSE DESTINATION ${root} COMPONENT runtime)
install(FILES LICENSE DESTINATION share/doc/plumbline RENAME copyright COMPONENT runtime)
install(FILES CHANGELOG.md DESTINATION share/doc/plumbline COMPONENT runtime)
plumb_install_folder(runtime tools/scaffold *.py)
plumb_install_folder(runtime tools/templates plugin_*.in)
plumb_install_folder(runtime reference/ops *.hpp)  # contracts, which new-plugin reads; a kernel includes them
install(DIRECTORY ${made}/share DESTINATION . COMPONENT runtime)

# man pages and completion, of the tables of options that the programs have
find_package(Python3 COMPONENTS Interpreter REQUIRED)
add_custom_command(OUTPUT ${made}/pages.stamp
  COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/tools/pages.py ${CMAKE_SOURCE_DIR}/tools/plumb $<TARGET_FILE_DIR:verify> ${made}/share
  COMMAND ${CMAKE_COMMAND} -E touch ${made}/pages.stamp
  DEPENDS verify bench dataset infer tools/plumb tools/pages.py VERBATIM COMMENT "Man pages and completion")
add_custom_target(plumb_pages ALL DEPENDS ${made}/pages.stamp)

# plugin
install(FILES gpu/plugin/plugin_abi.h DESTINATION ${root}/gpu/plugin COMPONENT plugin)
install(DIRECTORY gpu/plugin/template DESTINATION ${root}/gpu/plugin COMPONENT plugin)
configure_file(tools/cmake/PlumblineConfig.cmake.in ${made}/PlumblineConfig.cmake @ONLY)
write_basic_package_version_file(${made}/PlumblineConfigVersion.cmake COMPATIBILITY SameMinorVersion)
configure_file(tools/cmake/plumbline.pc.in ${made}/plumbline.pc @ONLY)
install(FILES ${made}/PlumblineConfig.cmake ${made}/PlumblineConfigVersion.cmake tools/cmake/PlumblineFunctions.cmake
        tools/cmake/PlumbUserFiles.cmake DESTINATION lib/cmake/Plumbline COMPONENT plugin)
install(FILES ${made}/plumbline.pc DESTINATION lib/pkgconfig COMPONENT plugin)

# python
plumb_install_folder(python tools/python/plumbline *.py py.typed)
install(TARGETS plumbline LIBRARY DESTINATION ${root}/bin COMPONENT python OPTIONAL)

# dev: sanitized libraries would need a sanitizer's runtime in programs of others
if(PLUMB_SANITIZE)
  return()
endif()
foreach(room reference/core reference/arithmetic reference/cases reference/formula gpu/device gpu/common gpu/simt verify/engine verify/image)
  plumb_install_folder(dev ${room} *.hpp *.h *.inc)
endforeach()
install(DIRECTORY gpu/simt/language/include DESTINATION ${root}/gpu/simt/language COMPONENT dev)
install(FILES verify/mutants/mutant.hpp DESTINATION ${root}/verify/mutants COMPONENT dev)
plumb_install_folder(dev gpu/simt/rewrite *.py)
plumb_install_folder(dev gpu/simt/ptx *.py)
plumb_install_folder(dev tools/simt_nvcc *.py)
plumb_install_folder(dev tools/extra CMakeLists.txt)
install(PROGRAMS tools/simt-nvcc DESTINATION ${root}/tools COMPONENT dev)
install(FILES ${made}/simt_nvcc.json DESTINATION ${root} COMPONENT dev)
install(TARGETS simt_ptx plumb_simt_ptx RUNTIME DESTINATION ${root}/bin LIBRARY DESTINATION ${root}/lib COMPONENT dev)

# The programs around a user's kernels: main(), and what must be an object of the program, since nothing asks for it by name.
include(tools/python/no_variants.cmake)
add_library(plumb_program STATIC verify/main.cpp ${PLUMB_NO_VARIANTS} $<TARGET_OBJECTS:plumb_interposed>)
add_library(plumb_simt_program STATIC ${PLUMB_NO_VARIANTS} $<TARGET_OBJECTS:plumb_simt_worker_main>)
target_link_libraries(plumb_program PRIVATE plumb_flags)
target_link_libraries(plumb_simt_program PRIVATE plumb_flags)
install(TARGETS plumb_program plumb_simt_program plumb_verify plumb_ops plumb_formats plumb_core plumb_simt
        ARCHIVE DESTINATION ${root} COMPONENT dev)
