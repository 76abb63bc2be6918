# Runs the gates of a user's project on its libraries. The correct library passes every tier; the wrong library fails
# with a counterexample and a replay line that reproduces it.
# Arguments: FOLDER (built), PROGRAM, CTEST, GATES, GENERATOR.
cmake_minimum_required(VERSION 3.25)

function(says text pattern)
  if(NOT text MATCHES "${pattern}")
    message(FATAL_ERROR "wanted: ${pattern}\ngot:\n${text}")
  endif()
endfunction()

execute_process(COMMAND ${CTEST} --test-dir ${FOLDER} --output-on-failure RESULT_VARIABLE code OUTPUT_VARIABLE out)
if(code EQUAL 0)
  message(FATAL_ERROR "a wrong library passed\n${out}")
endif()
foreach(tier proof edge sampled)
  says("${out}" "mine\\.${tier} [ .]+Passed")
endforeach()
foreach(tier proof sampled)
  says("${out}" "wrong\\.bug\\.${tier} [ .]+\\*\\*\\*Failed")
endforeach()
if(out MATCHES "bug\\.edge")
  message(FATAL_ERROR "a gate at a tier that was not asked for\n${out}")
endif()
says("${out}" "exact_distribution failed on p=\\([0-9] [0-9]\\)/[0-9]+ q=\\([0-9] [0-9]\\)/[0-9]+ K=1")

# The tests have the profile and the labels that their call of draftproof_add_adapter_gates gives.
execute_process(COMMAND ${CTEST} --test-dir ${FOLDER} -N -V -L own OUTPUT_VARIABLE shown)
says("${shown}" "mine\\.proof")
says("${shown}" "\"--profile\" \"quick\"")
if(shown MATCHES "bug")
  message(FATAL_ERROR "the label of one call is on the tests of another\n${shown}")
endif()

if(NOT out MATCHES "replay: draftproof (replay [^\n]*--instance [^\n]*)\n")
  message(FATAL_ERROR "no replay line\n${out}")
endif()
separate_arguments(replay UNIX_COMMAND "${CMAKE_MATCH_1}")
execute_process(COMMAND ${PROGRAM} ${replay} RESULT_VARIABLE code OUTPUT_VARIABLE out)
if(NOT code EQUAL 1)
  message(FATAL_ERROR "the replay line exits with ${code}\n${out}")
endif()
says("${out}" "exact_distribution +failed")

# Unknown profiles and tiers are errors of the configuration.
file(WRITE ${FOLDER}/mistakes/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)\nproject(mistakes NONE)\n"
     "include(${GATES})\nenable_testing()\ndraftproof_add_adapter_gates(mine ADAPTER built-in:ladder PROFILE \${PROFILE} TIERS \${TIER})\n")
foreach(words "PROFILE=slow;TIER=proof;got PROFILE slow, expected quick, pr or nightly"
              "PROFILE=quick;TIER=distribution;got TIERS distribution, expected some of proof, edge and sampled")
  list(GET words 0 profile)
  list(GET words 1 tier)
  list(GET words 2 wanted)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${FOLDER}/mistakes -B ${FOLDER}/mistakes/build -G ${GENERATOR}
                          -D${profile} -D${tier} RESULT_VARIABLE code OUTPUT_QUIET ERROR_VARIABLE error)
  if(code EQUAL 0)
    message(FATAL_ERROR "${words}: configured")
  endif()
  string(REGEX REPLACE "[ \n]+" " " error "${error}")
  says("${error}" "${wanted}")
endforeach()
