# Asks a program which gates it has and writes them down as CTest tests. Run after each build by
# draftproof_discover_gates, which says what the variables mean.
cmake_minimum_required(VERSION 3.25)

set(which --own)
if(ALL)
  set(which "")
endif()
if(TIERS)
  list(JOIN TIERS "," chosen)
  list(APPEND which --tier ${chosen})
endif()
execute_process(COMMAND ${PROGRAM} check --list ${which} --json RESULT_VARIABLE code OUTPUT_VARIABLE listed
                ERROR_VARIABLE error)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} check --list: exit code ${code}\n${error}")
endif()
string(JSON count LENGTH "${listed}" gates)
set(last -1)
if(count GREATER 0)
  math(EXPR last "${count} - 1")
endif()

# The false-alarm budget is shared by the gates that can raise a false alarm.
set(sampled 0)
if(last GREATER_EQUAL 0)
  foreach(i RANGE ${last})
    string(JSON tier GET "${listed}" gates ${i} tier)
    if(tier STREQUAL sampled)
      math(EXPR sampled "${sampled} + 1")
    endif()
  endforeach()
endif()
if(count EQUAL 0)
  message(WARNING "${TARGET} has no gates: no verifiers of its own")
endif()
if(sampled EQUAL 0)
  set(sampled 1)
endif()

set(text "# Generated: the gates of ${TARGET}.\n")
if(last GREATER_EQUAL 0)
  foreach(i RANGE ${last})
    string(JSON verifier GET "${listed}" gates ${i} verifier)
    string(JSON tier GET "${listed}" gates ${i} tier)
    set(name "${PREFIX}${TARGET}.${verifier}.${tier}")
    set(labels gate ${tier} ${LABELS})
    if(PROFILE STREQUAL nightly)
      list(APPEND labels slow)
    endif()
    string(APPEND text
      "add_test([==[${name}]==] [==[${PROGRAM}]==] check ${verifier} --tier ${tier} --profile ${PROFILE}"
      " --seed ${SEED} --share ${SHARE} --gates ${sampled} --quiet)\n"
      "set_tests_properties([==[${name}]==] PROPERTIES LABELS \"${labels}\" SKIP_RETURN_CODE 77"
      " TIMEOUT ${TIMEOUT} PROCESSORS 2)\n")
  endforeach()
endif()
file(WRITE ${TESTS} "${text}")
