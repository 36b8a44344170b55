# The sources that CMake writes of a user's own folder of kernels: in the tree (PlumbExtra.cmake) and of an installed Plumbline
# (PlumblineFunctions.cmake).

# The source that tells the judge which files there are: what does not register itself under its file's name is a broken harness.
function(plumb_extra_list output folder sources compiled)
  set(lines "")
  foreach(source IN LISTS sources)
    get_filename_component(stem ${source} NAME_WE)
    set(here false)
    set(simt false)
    if(source IN_LIST compiled)
      set(here true)
    endif()
    if(source MATCHES "\\.cu$")
      set(simt true)
    endif()
    string(APPEND lines "    {\"${stem}\", ${here}, ${simt}, \"${source}\"},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${output} CONTENT
"// Written by CMake: the files of ${folder}.
#include \"verify/engine/process/user_files.hpp\"
namespace plumb {
namespace {
const UserFiles files{{
${lines}}};
}  // namespace
}  // namespace plumb
" @ONLY)
endfunction()

# plumb_formulas(NAMES HEADER): the structs X of a header that begin with struct X : FormulaOf<X>.
function(plumb_formulas names header)
  file(STRINGS ${header} structs REGEX "^ *struct +[A-Za-z0-9_]+ *(final)? *: *(public +)?FormulaOf<")
  list(TRANSFORM structs REPLACE "^ *struct +([A-Za-z0-9_]+).*" "\\1")
  set(${names} "${structs}" PARENT_SCOPE)
endfunction()

# plumb_extra_formulas(OUTPUT HEADERS...): the source that makes an operator of every header with a struct X : FormulaOf<X>; OUTPUT is "" where
# there is none.
function(plumb_extra_formulas output)
  set(includes "")
  set(lines "")
  foreach(header IN LISTS ARGN)
    plumb_formulas(names ${header})
    foreach(name IN LISTS names)
      string(APPEND includes "#include \"${header}\"\n")
      string(APPEND lines "PLUMB_FORMULA(${name})\nstatic const UserOperator<${name}> operator_${name};\n")
    endforeach()
  endforeach()
  set(source "")
  if(lines)
    set(source ${${output}})
    file(CONFIGURE OUTPUT ${source} CONTENT
"// Written by CMake: the operators by formula of a user's folder.
${includes}#include \"reference/formula/formula.hpp\"
#include \"verify/engine/operator/user_operator.hpp\"
namespace plumb {
${lines}}  // namespace plumb
" @ONLY)
  endif()
  set(${output} "${source}" PARENT_SCOPE)
endfunction()
