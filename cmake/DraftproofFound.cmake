# One file in, everything out: every file of a room becomes a registered thing of its kind. Nobody edits a list.
#
# A file `recursive_rejection.hpp` defines a type `RecursiveRejection` in the namespace of its room. For each kind
# there is a function template `draftproof::register_<kind><Type>()`; one source per file calls it.

function(draftproof_type_name out file)
  get_filename_component(name ${file} NAME_WE)
  string(REPLACE "_" ";" words ${name})
  set(type "")
  foreach(word ${words})
    string(SUBSTRING ${word} 0 1 head)
    string(SUBSTRING ${word} 1 -1 tail)
    string(TOUPPER ${head} head)
    string(APPEND type ${head}${tail})
  endforeach()
  set(${out} ${type} PARENT_SCOPE)
endfunction()

# draftproof_found(<sources out> <calls out> KIND verifier NAMESPACE draftproof::verifiers DIRECTORY verifiers
#                  REGISTRAR draftproof/properties/register_verifier.hpp [TOGETHER])
# TOGETHER puts all of a kind into one source: for small things that compile faster so.
function(draftproof_found sources calls)
  cmake_parse_arguments(PARSE_ARGV 2 arg "TOGETHER" "KIND;NAMESPACE;DIRECTORY;REGISTRAR" "")
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${arg_DIRECTORY}/*.hpp)
  list(SORT files)
  set(includes "#include <${arg_REGISTRAR}>\n")
  set(bodies "")
  set(new_sources "")
  set(new_calls "")
  foreach(file ${files})
    get_filename_component(name ${file} NAME_WE)
    draftproof_type_name(type ${file})
    set(include "#include <draftproof/${arg_DIRECTORY}/${name}.hpp>\n")
    set(call ${arg_KIND}_${name})
    set(body "void ${call}();\nvoid ${call}() { register_${arg_KIND}<${arg_NAMESPACE}::${type}>(); }\n")
    list(APPEND new_calls ${call})
    if(arg_TOGETHER)
      string(APPEND includes ${include})
      string(APPEND bodies "${body}")
    else()
      draftproof_write_found(${PROJECT_BINARY_DIR}/found/${call}.cpp "#include <${arg_REGISTRAR}>\n${include}" "${body}")
      list(APPEND new_sources ${PROJECT_BINARY_DIR}/found/${call}.cpp)
    endif()
  endforeach()
  if(arg_TOGETHER AND files)
    draftproof_write_found(${PROJECT_BINARY_DIR}/found/${arg_KIND}s.cpp "${includes}" "${bodies}")
    list(APPEND new_sources ${PROJECT_BINARY_DIR}/found/${arg_KIND}s.cpp)
  endif()
  set(${sources} ${${sources}} ${new_sources} PARENT_SCOPE)
  set(${calls} ${${calls}} ${new_calls} PARENT_SCOPE)
endfunction()

function(draftproof_write_found output includes bodies)
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
"// Generated.
@includes@
namespace draftproof::found {
@bodies@}  // namespace draftproof::found
")
endfunction()

# Writes the one function that calls all of them.
function(draftproof_write_calls output function calls)
  set(declarations "")
  set(invocations "")
  foreach(call ${calls})
    string(APPEND declarations "void ${call}();\n")
    string(APPEND invocations "  ${call}();\n")
  endforeach()
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
"// Generated: everything that was found.
namespace draftproof::found {
@declarations@
void @function@();
void @function@() {
@invocations@}
}  // namespace draftproof::found
")
endfunction()

# draftproof_add_verifiers(<target> [MUTANTS] [NAMESPACE ns] FILES a.hpp ...): registers verifiers of one's own in a
# target that links draftproof::cli or draftproof::bench. They are proved, listed, surveyed and benchmarked like ours.
function(draftproof_add_verifiers target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "MUTANTS" "NAMESPACE" "FILES")
  set(kind verifier)
  if(arg_MUTANTS)
    set(kind mutant)
  endif()
  if(NOT arg_NAMESPACE)
    set(arg_NAMESPACE draftproof::verifiers)
  endif()
  foreach(file ${arg_FILES})
    get_filename_component(path ${file} ABSOLUTE)
    get_filename_component(name ${file} NAME_WE)
    draftproof_type_name(type ${file})
    set(output ${CMAKE_CURRENT_BINARY_DIR}/draftproof_found/${target}_${kind}_${name}.cpp)
    file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
"// Generated from @path@.
#include \"@path@\"

#include <draftproof/properties/register_verifier.hpp>

namespace {
[[maybe_unused]] const bool registered = (draftproof::register_@kind@<@arg_NAMESPACE@::@type@>(), true);
}
")
    target_sources(${target} PRIVATE ${output})
  endforeach()
endfunction()
