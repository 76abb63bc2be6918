# Warnings, sanitizers and floating-point rules of our own targets; nobody else's.

function(draftproof_own_target target)
  target_compile_options(
    ${target}
    PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wall
            -Wextra
            -Wpedantic
            -Wshadow
            -Wconversion
            -Werror>)
  # g++ 12 takes inlined std::string concatenation for overlapping copies (GCC bug 105651) and reads of small-integer
  # buffers in Boost.Multiprecision for uninitialised ones; in a precompiled header it forgets the pragmas that silence
  # the deliberately undefined operands of intrinsics (bug 105593). Sanitizers and clang watch for the real thing.
  target_compile_options(
    ${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict -Wno-array-bounds -Wno-stringop-overflow
                      -Wno-stringop-overread -Wno-maybe-uninitialized
                      -Wno-uninitialized>)
  # Files of a room share sources: clang takes a local name for one that hides another file's. g++ finds what is meant.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-shadow>)
  # A verifier with a mistake: g++ says which call is missing at this depth (properties/prover/register_verifier.hpp).
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fconcepts-diagnostics-depth=3>)
  # Kilobytes that g++ takes before it looks for garbage: by default so few that it looks all the time.
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

# draftproof_glue(<target>): a library that arranges what others compute. All its sources are compiled as one, with little
# optimisation: reading the headers is most of the compiler's time.
function(draftproof_glue target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Og>)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  target_precompile_headers(${target} REUSE_FROM draftproof_mutants)
endfunction()
