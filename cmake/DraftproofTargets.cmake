# Warnings and sanitizers of draftproof's targets. Users' targets do not get them.

function(draftproof_own_target target)
  target_compile_options(
    ${target}
    PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wall
            -Wextra
            -Wpedantic
            -Wshadow
            -Wconversion>)
  # Because a parent project or a newer compiler may add warnings, they are errors only in our own build.
  if(PROJECT_IS_TOP_LEVEL)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
  endif()
  # Disables false warnings of g++ 12: overlapping copies in inlined std::string concatenation (GCC bug 105651),
  # uninitialised reads in Boost.Multiprecision, and undefined operands of intrinsics, whose pragmas a precompiled
  # header loses (GCC bug 105593). Sanitizers and clang detect real errors of these kinds.
  target_compile_options(
    ${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict -Wno-array-bounds -Wno-stringop-overflow
                      -Wno-stringop-overread -Wno-maybe-uninitialized
                      -Wno-uninitialized>)
  # In a source of several files, clang's -Wshadow also reports local names that hide names of another file.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-shadow>)
  # At this depth g++ names the call that a verifier lacks (properties/prover/register_verifier.hpp).
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fconcepts-diagnostics-depth=3>)
  # The heap size in kilobytes up to which g++ collects no garbage. With the small default it collects all the time.
  cmake_host_system_information(RESULT megabytes QUERY TOTAL_PHYSICAL_MEMORY)
  cmake_host_system_information(RESULT processors QUERY NUMBER_OF_LOGICAL_CORES)
  math(EXPR heap "${megabytes} * 1000 / ${processors} / 3")
  if(heap GREATER 3000000)
    set(heap 3000000)
  endif()
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=${heap}>)
  if(DRAFTPROOF_SANITIZE)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${DRAFTPROOF_SANITIZE}
                                             -fno-omit-frame-pointer -fno-sanitize-recover=all>)
    target_compile_definitions(${target} PRIVATE DRAFTPROOF_SANITIZED)
    target_link_options(${target} PUBLIC -fsanitize=${DRAFTPROOF_SANITIZE})
  endif()
endfunction()

# draftproof_glue(<target>): compiles all sources of a library as one, with little optimisation. It is for libraries
# with few computations, for which headers take most of the compile time.
function(draftproof_glue target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Og>)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  target_precompile_headers(${target} REUSE_FROM draftproof_mutants)
endfunction()
