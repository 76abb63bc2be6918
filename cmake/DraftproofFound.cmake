# Registers the types of every file in a folder, so that no list of files must be edited.
#
# A file `recursive_rejection.hpp` defines a type `RecursiveRejection` in the namespace of its folder. If a file has no
# type of this name, every struct at the start of a line is registered, except structs in `namespace detail`. For each
# kind there is `draftproof::register_<kind><Type>()`, which generated sources call.

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

# draftproof_types_in(<out> FILE): returns the types that a file registers. Forward declarations do not match.
function(draftproof_types_in out file)
  draftproof_type_name(own ${file})
  file(READ ${file} text)
  string(REGEX MATCHALL "\n(struct [A-Z][A-Za-z0-9]*[ \n]|namespace detail|}  // namespace detail)" lines "${text}")
  set(types "")
  set(detail FALSE)
  foreach(line IN LISTS lines)
    if(line MATCHES "struct ([A-Za-z0-9]+)")
      if(CMAKE_MATCH_1 STREQUAL own)
        set(types ${own})
        break()
      elseif(NOT detail)
        list(APPEND types ${CMAKE_MATCH_1})
      endif()
    elseif(line MATCHES "}")
      set(detail FALSE)
    else()
      set(detail TRUE)
    endif()
  endforeach()
  if(NOT types)
    message(FATAL_ERROR "${file}: got no struct to register, expected struct ${own}, or several of a family")
  endif()
  set(${out} ${types} PARENT_SCOPE)
endfunction()

# draftproof_snake_name(<out> TYPE): returns recursive_rejection for RecursiveRejection.
function(draftproof_snake_name out type)
  string(REGEX REPLACE "([A-Z])([A-Z][a-z])" "\\1_\\2" name ${type})
  string(REGEX REPLACE "([a-z0-9])([A-Z])" "\\1_\\2" name ${name})
  string(REGEX REPLACE "([a-z])([0-9])" "\\1_\\2" name ${name})
  string(TOLOWER ${name} name)
  set(${out} ${name} PARENT_SCOPE)
endfunction()

# draftproof_found_types(<includes out> <types out> NAMESPACE files...): returns the #include lines of the files, and
# their types.
function(draftproof_found_types includes types namespace)
  set(text "")
  set(names "")
  foreach(file ${ARGN})
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${file})
    draftproof_types_in(found ${file})
    string(APPEND text "#include <draftproof/${path}>\n")
    list(TRANSFORM found PREPEND ${namespace}::)
    list(APPEND names ${found})
  endforeach()
  set(${includes} "${text}" PARENT_SCOPE)
  set(${types} ${names} PARENT_SCOPE)
endfunction()

# draftproof_found(<sources out> <calls out> KIND verifier NAMESPACE draftproof::verifiers DIRECTORY verifiers
#                  REGISTRAR draftproof/properties/prover/register_verifier.hpp [BATCH 6 | TOGETHER])
# Adds sources that register the types of a folder, and the calls of these registrations. BATCH n puts n types into one
# source, TOGETHER all types, so that their common templates are instantiated once per source.
function(draftproof_found sources calls)
  cmake_parse_arguments(PARSE_ARGV 2 arg "TOGETHER" "KIND;NAMESPACE;DIRECTORY;REGISTRAR;BATCH" "")
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${arg_DIRECTORY}/*.hpp)
  if(NOT files)
    message(FATAL_ERROR "draftproof_found: ${arg_DIRECTORY}: got no header, expected those of KIND ${arg_KIND}")
  endif()
  # Types are sorted by name, not by file; every listing uses this order.
  set(found "")
  foreach(file ${files})
    get_filename_component(file_name ${file} NAME)
    draftproof_types_in(types ${file})
    foreach(type ${types})
      draftproof_snake_name(name ${type})
      list(APPEND found ${name}:${file_name}:${type})
    endforeach()
  endforeach()
  list(SORT found)
  list(LENGTH found batch)
  if(arg_BATCH)
    set(batch ${arg_BATCH})
  elseif(NOT arg_TOGETHER)
    set(batch 1)
  endif()
  set(new_sources "")
  set(new_calls "")
  while(found)
    list(LENGTH found left)
    if(batch LESS left)
      list(SUBLIST found 0 ${batch} chosen)
      list(SUBLIST found ${batch} -1 found)
    else()
      set(chosen ${found})
      set(found "")
    endif()
    set(includes "#include <${arg_REGISTRAR}>\n")
    set(bodies "")
    foreach(one ${chosen})
      string(REGEX MATCH "^(.*):(.*):(.*)$" one ${one})
      set(name ${CMAKE_MATCH_1})
      set(type ${CMAKE_MATCH_3})
      set(call ${arg_KIND}_${name})
      string(APPEND includes "#include <draftproof/${arg_DIRECTORY}/${CMAKE_MATCH_2}>\n")
      string(APPEND bodies
             "void ${call}();\nvoid ${call}() { register_${arg_KIND}<${arg_NAMESPACE}::${type}>(); }\n")
      list(APPEND new_calls ${call})
    endforeach()
    # A source has the name of its first type, so that a new type does not rename the sources before it.
    list(GET chosen 0 first)
    string(REGEX REPLACE ":.*" "" name ${first})
    set(source ${PROJECT_BINARY_DIR}/found/${arg_KIND}_${name}.cpp)
    draftproof_write_found(${source} "${includes}" "${bodies}")
    list(APPEND new_sources ${source})
  endwhile()
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

# Writes the function that calls all registrations.
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

# Stops at unknown arguments of `function`, and if it was called without files.
macro(draftproof_check_files function)
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${function}(${target}): got ${arg_UNPARSED_ARGUMENTS}, expected known arguments")
  endif()
  if(NOT arg_FILES)
    message(FATAL_ERROR "${function}(${target}): got no FILES, expected headers")
  endif()
endmacro()

# draftproof_add(<target> KIND kind [NAMESPACE ns] FILES a.hpp ...): registers the types of these files in a target that
# links draftproof::cli. Like built-in types they are listed, proved, surveyed and gated; if the target links
# draftproof::bench, they are also benchmarked. A file my_thing.hpp defines the struct MyThing of the namespace.
function(draftproof_add target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAMESPACE;KIND" "FILES")
  if(arg_KIND MATCHES "^((path_)?(verifier|lossy|mutant)|(wrong_)?(tree_)?drafter)$")
    set(registrar properties/prover/register_verifier.hpp)
  elseif(arg_KIND MATCHES "^((path_)?property|generator)$")
    set(registrar properties/prover/register_property.hpp)
  elseif(arg_KIND STREQUAL distribution_property)
    set(registrar properties/prover/distribution_property.hpp)
  elseif(arg_KIND MATCHES "^(sampler|batch|counter|target|selection|grammar)_(component|mutant|check)$")
    set(registrar properties/components/${CMAKE_MATCH_1}/${CMAKE_MATCH_1}_group.hpp)
  else()
    message(FATAL_ERROR "draftproof_add(${target}): got KIND \"${arg_KIND}\", expected verifier, lossy, mutant, one of them "
                        "after path_, drafter, wrong_drafter, tree_drafter, wrong_tree_drafter, property, path_property, distribution_property, generator, or component, "
                        "mutant or check after sampler_, batch_, counter_, target_, selection_ or grammar_")
  endif()
  draftproof_check_files(draftproof_add)
  if(NOT arg_NAMESPACE)
    set(arg_NAMESPACE draftproof::verifiers)
  endif()
  set(kind ${arg_KIND})
  # Benchmarks time verifiers in another form, which is registered separately.
  set(timed_include "")
  set(timed_call "")
  if(TARGET draftproof::bench AND arg_KIND MATCHES "^(path_)?(verifier|lossy)$")
    set(timed_include "#include <draftproof/properties/subjects/timed_forms.hpp>")
    set(timed_call "if constexpr (defined) draftproof::register_timed_${CMAKE_MATCH_1}verifier<Type>();")
  endif()
  foreach(file ${arg_FILES})
    get_filename_component(path ${file} ABSOLUTE)
    get_filename_component(name ${file} NAME_WE)
    draftproof_type_name(type ${file})
    if(NOT name MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
      message(FATAL_ERROR "draftproof_add(${target}): got ${file}, expected a file name of letters, digits and _, "
                          "because it names the type")
    endif()
    # Files of one name have a type of one name, so their namespaces tell them apart.
    string(MAKE_C_IDENTIFIER "${arg_NAMESPACE}" space)
    set(stem ${target}_${kind}/${space}/${name})
    get_property(known TARGET ${target} PROPERTY draftproof_${stem})
    if(known AND NOT known STREQUAL path)
      message(FATAL_ERROR "draftproof_add(${target}): got ${path} beside ${known}, expected another NAMESPACE or "
                          "another file name")
    endif()
    set_property(TARGET ${target} PROPERTY draftproof_${stem} ${path})
    set(output ${CMAKE_CURRENT_BINARY_DIR}/draftproof_found/${stem}.cpp)
    file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
"// Generated from @path@.
#include \"@path@\"

#include <draftproof/@registrar@>
@timed_include@

namespace @arg_NAMESPACE@ {
struct @type@;
}
namespace {
template <class Type>
bool registered_@kind@_@name@() {
  constexpr bool defined = requires { sizeof(Type); };
  static_assert(defined, \"@name@.hpp is to define the type @arg_NAMESPACE@::@type@: the words of the file name, each with a capital\");
  if constexpr (defined) draftproof::register_@kind@<Type>();
  @timed_call@
  return true;
}
[[maybe_unused]] const bool has_@kind@_@name@ = registered_@kind@_@name@<@arg_NAMESPACE@::@type@>();
}
")
    target_sources(${target} PRIVATE ${output})
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
      # Disables false warnings about intrinsics, whose pragmas a precompiled header loses (GCC bug 105593).
      set_property(SOURCE ${output} TARGET_DIRECTORY ${target} APPEND PROPERTY
                   COMPILE_OPTIONS -Wno-maybe-uninitialized -Wno-uninitialized)
    endif()
  endforeach()
  # At this depth g++ names the call that a verifier lacks.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fconcepts-diagnostics-depth=3>)
  # The framework's headers are precompiled, so that after a change of a verifier only its instantiation is compiled.
  target_precompile_headers(${target} PRIVATE <draftproof/properties/prover/register_verifier.hpp>)
endfunction()

# draftproof_add_verifiers(<target> [MUTANTS] [NAMESPACE ns] FILES a.hpp ...): adds verifiers of one position; with
# MUTANTS, wrong verifiers.
function(draftproof_add_verifiers target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "MUTANTS" "NAMESPACE" "FILES")
  draftproof_check_files(draftproof_add_verifiers)
  set(kind verifier)
  if(arg_MUTANTS)
    set(kind mutant)
  endif()
  draftproof_add(${target} KIND ${kind} NAMESPACE ${arg_NAMESPACE} FILES ${arg_FILES})
endfunction()

# draftproof_found_header(kernel_mutants NAMESPACE draftproof::kernel_mutants DIRECTORY tests/gpu/kernel_mutants
#                         EXTENSION hpp FUNCTION for_each_kernel_mutant)
# Writes found/headers/draftproof/found/kernel_mutants.hpp; its function FUNCTION(use) calls use(Type{}) for every type.
function(draftproof_found_header header)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAMESPACE;DIRECTORY;EXTENSION;FUNCTION" "")
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${arg_DIRECTORY}/*.${arg_EXTENSION})
  list(SORT files)
  draftproof_found_types(includes types ${arg_NAMESPACE} ${files})
  set(uses "")
  foreach(type ${types})
    string(APPEND uses "  use(${type}{});\n")
  endforeach()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/found/headers/draftproof/found/${header}.hpp @ONLY CONTENT
"// Generated.
#pragma once

@includes@
namespace @arg_NAMESPACE@ {

template <class Use>
void @arg_FUNCTION@(const Use& use) {
@uses@}

}  // namespace @arg_NAMESPACE@
")
endfunction()
