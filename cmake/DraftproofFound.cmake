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
#                  REGISTRAR draftproof/properties/register_verifier.hpp)
function(draftproof_found sources calls)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "KIND;NAMESPACE;DIRECTORY;REGISTRAR" "")
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${arg_DIRECTORY}/*.hpp)
  list(SORT files)
  foreach(file ${files})
    get_filename_component(name ${file} NAME_WE)
    draftproof_type_name(type ${file})
    set(output ${PROJECT_BINARY_DIR}/found/${arg_KIND}_${name}.cpp)
    file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
"// Generated from @arg_DIRECTORY@/@name@.hpp.
#include <draftproof/@arg_DIRECTORY@/@name@.hpp>
#include <@arg_REGISTRAR@>

namespace draftproof::found {
void @arg_KIND@_@name@();
void @arg_KIND@_@name@() { register_@arg_KIND@<@arg_NAMESPACE@::@type@>(); }
}  // namespace draftproof::found
")
    list(APPEND found_sources ${output})
    list(APPEND found_calls ${arg_KIND}_${name})
  endforeach()
  set(${sources} ${${sources}} ${found_sources} PARENT_SCOPE)
  set(${calls} ${${calls}} ${found_calls} PARENT_SCOPE)
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
