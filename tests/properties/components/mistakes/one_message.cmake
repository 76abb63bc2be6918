# Tests that the compiler refuses a type that is not a batch runner with one error, which states what a runner has, and
# a note, which states what this type lacks. Variables: COMPILER, INCLUDE, MISTAKE.
cmake_minimum_required(VERSION 3.25)

set(depth "")
if(NOT COMPILER MATCHES "clang")
  set(depth -fconcepts-diagnostics-depth=3)  # as draftproof_add() sets it
endif()
execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only ${depth} -I${INCLUDE} ${MISTAKE} RESULT_VARIABLE code
                OUTPUT_VARIABLE out ERROR_VARIABLE err)
if(code EQUAL 0)
  message(FATAL_ERROR "${MISTAKE}: compiled")
endif()
# g++ also labels lines of the concept inside its note as errors.
string(REPLACE ";" "," lines "${err}")
string(REGEX MATCHALL "[^\n]*[0-9]: error: " errors "${lines}")
list(FILTER errors EXCLUDE REGEX "sim/components/(ragged_batch|chain_steps)\\.hpp")
list(LENGTH errors count)
if(NOT count EQUAL 1)
  message(FATAL_ERROR "${MISTAKE}: ${count} errors, expected one\n${err}")
endif()
file(STRINGS ${MISTAKE} note REGEX "^// Note: ")
string(REPLACE "// Note: " "" note "${note}")
foreach(wanted "a batch runner has `static constexpr ComponentInfo info` and either `template <class Random> BatchOutput verify("
               "docs/components.md" "${note}")
  string(FIND "${err}" "${wanted}" place)
  if(place EQUAL -1)
    message(FATAL_ERROR "${MISTAKE}: wanted \"${wanted}\"\n${err}")
  endif()
endforeach()
