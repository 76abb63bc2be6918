# Stops at unknown arguments of `function` and at an unknown profile. Sets arguments that are not given to the defaults
# SETTING=value.
macro(draftproof_check_gate_arguments function)
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${function}: got ${arg_UNPARSED_ARGUMENTS}, expected known arguments")
  endif()
  foreach(setting ${ARGN})
    string(REGEX MATCH "^([A-Z]+)=(.*)$" matched ${setting})
    if(NOT DEFINED arg_${CMAKE_MATCH_1})
      set(arg_${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
    endif()
  endforeach()
  if(NOT arg_PROFILE MATCHES "^(quick|pr|nightly)$")
    message(FATAL_ERROR "${function}: got PROFILE ${arg_PROFILE}, expected quick, pr or nightly")
  endif()
endmacro()

# draftproof_discover_gates(<target> [PROFILE quick|pr|nightly] [SEED n] [SHARE s] [TIERS proof edge sampled]
#                           [DEVICE cuda] [PREFIX text] [LABELS ...] [TIMEOUT seconds] [ALL])
#
# Makes a CTest test of every gate of <target>, an executable that links draftproof::cli and has user-defined verifiers
# (draftproof_add_verifiers). Each build lists the gates of the program, so a new verifier needs no change here. A test
# runs `<target> check VERIFIER --tier TIER`; it reports skipped, not passed, if nothing could be checked.
#
#   PROFILE   amount of work: quick, pr (default) or nightly, which adds the label slow
#   SEED      seed of all random numbers; 1 if not given
#   SHARE     fraction of the false-alarm probability of 1e-9 that a whole build may spend; 1 (default) for a build with
#             this target only. Divided evenly among the sampled gates
#   TIERS     only these tiers
#   DEVICE    device for trials of the sampled tier; <target> must link draftproof::cuda_trials. These tests have the
#             label gpu and report skipped without a device; other tiers do not use it
#   PREFIX    start of the names of the tests, which are PREFIX<target>.<verifier>.<tier>
#   LABELS    in addition to gate and the tier
#   TIMEOUT   time limit of one test, in seconds; 300, nightly 1800
#   ALL       also the verifiers that come with draftproof
function(draftproof_discover_gates target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ALL" "PROFILE;SEED;SHARE;DEVICE;PREFIX;TIMEOUT" "TIERS;LABELS")
  draftproof_check_gate_arguments(draftproof_discover_gates PROFILE=pr SEED=1 SHARE=1)
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
    if(arg_PROFILE STREQUAL nightly)
      set(arg_TIMEOUT 1800)
    endif()
  endif()
  # A second call, for example with nightly after a call with pr, uses other files.
  string(MAKE_C_IDENTIFIER "${target}_${arg_PREFIX}${arg_PROFILE}" stem)
  set(tests ${CMAKE_CURRENT_BINARY_DIR}/${stem}_gates.cmake)
  get_property(known DIRECTORY PROPERTY DRAFTPROOF_GATES)
  if("${stem}" IN_LIST known)
    message(FATAL_ERROR "draftproof_discover_gates: got a second call for ${target} with the same PREFIX and "
                        "PROFILE, expected another of either")
  endif()
  set_property(DIRECTORY APPEND PROPERTY DRAFTPROOF_GATES ${stem})
  add_custom_command(TARGET ${target} POST_BUILD BYPRODUCTS ${tests} VERBATIM
    COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:${target}> -DTESTS=${tests} -DTARGET=${target}
            -DPROFILE=${arg_PROFILE} -DSEED=${arg_SEED} -DSHARE=${arg_SHARE} "-DTIERS=${arg_TIERS}"
            "-DDEVICE=${arg_DEVICE}" "-DPREFIX=${arg_PREFIX}" "-DLABELS=${arg_LABELS}" -DTIMEOUT=${arg_TIMEOUT} -DALL=${arg_ALL}
            -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/DraftproofWriteGates.cmake)
  # The build writes the tests. Before the first build there is one test, <target>_gates_NOT_BUILT, which fails.
  set(stub ${CMAKE_CURRENT_BINARY_DIR}/${stem}_gates_found.cmake)
  file(WRITE ${stub} "if(EXISTS \"${tests}\")\n  include(\"${tests}\")\nelse()\n"
                     "  add_test(${target}_gates_NOT_BUILT ${target}_gates_NOT_BUILT)\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${stub})
endfunction()

# draftproof_add_adapter_gates(<name> ADAPTER spec | LIBRARY target [PROFILE quick|pr|nightly] [SEED n] [SHARE s]
#                           [TIERS proof edge sampled] [PREFIX text] [LABELS ...] [TIMEOUT seconds])
#
# CTest tests of a verifier that is not compiled into a draftproof program: the test PREFIX<name>.TIER runs
# `draftproof check --adapter ... --tier TIER`. A tier that the verifier does not support reports skipped.
#
#   ADAPTER   as --adapter takes it: exec:COMMAND or lib:PATH
#   LIBRARY   a shared library target that exports draftproof_adapter (draftproof_adapter.h), instead of ADAPTER
#   PROFILE   amount of work: quick, pr (default) or nightly, which adds the label slow
#   SHARE     fraction of the false-alarm probability of 1e-9 of a whole build; 1 if not given
function(draftproof_add_adapter_gates name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "ADAPTER;LIBRARY;PROFILE;SEED;SHARE;PREFIX;TIMEOUT" "TIERS;LABELS")
  draftproof_check_gate_arguments(draftproof_add_adapter_gates PROFILE=pr SEED=1 SHARE=1 TIMEOUT=600)
  if((arg_ADAPTER AND arg_LIBRARY) OR NOT (arg_ADAPTER OR arg_LIBRARY))
    message(FATAL_ERROR "draftproof_add_adapter_gates: wanted ADAPTER or LIBRARY, one of them")
  endif()
  if(arg_LIBRARY)
    set(arg_ADAPTER lib:$<TARGET_FILE:${arg_LIBRARY}>)
  endif()
  if(NOT arg_TIERS)
    set(arg_TIERS proof edge sampled)
  endif()
  foreach(tier ${arg_TIERS})
    if(NOT tier MATCHES "^(proof|edge|sampled)$")
      message(FATAL_ERROR "draftproof_add_adapter_gates: got TIERS ${tier}, expected some of proof, edge and sampled")
    endif()
  endforeach()
  if(arg_PROFILE STREQUAL nightly)
    list(APPEND arg_LABELS slow)
  endif()
  foreach(tier ${arg_TIERS})
    set(test ${arg_PREFIX}${name}.${tier})
    add_test(NAME ${test} COMMAND draftproof::draftproof check --adapter "${arg_ADAPTER}" --tier ${tier}
                                  --profile ${arg_PROFILE} --seed ${arg_SEED} --share ${arg_SHARE} --gates 1 --quiet)
    set_tests_properties(${test} PROPERTIES LABELS "gate;${tier};${arg_LABELS}" SKIP_RETURN_CODE 77
                                            TIMEOUT ${arg_TIMEOUT})
  endforeach()
endfunction()

# draftproof_add_door_gates(<name> DOOR spec | LIBRARY target ...): the name of draftproof_add_adapter_gates in 0.2.
function(draftproof_add_door_gates name)
  message(DEPRECATION "draftproof_add_door_gates is now draftproof_add_adapter_gates, DOOR is now ADAPTER; version 0.4 removes the old names")
  list(TRANSFORM ARGN REPLACE "^DOOR$" "ADAPTER")
  draftproof_add_adapter_gates(${name} ${ARGN})
endfunction()
