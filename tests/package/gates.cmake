# Runs the consumer's ctest. Its correct verifier passes every gate; its wrong verifier fails with a counterexample in
# small fractions and a replay line that reproduces it. Arguments: PROGRAM, FOLDER, CTEST.
cmake_minimum_required(VERSION 3.25)

set(junit ${FOLDER}/gates.xml)
set(selected "")
if(NOT DEFINED ENV{DRAFTPROOF_NIGHTLY})
  set(selected --exclude-regex "_tree\\.proof|path_of_target|first_of_repeated")  # long in an unoptimised build
endif()
execute_process(COMMAND ${CTEST} --test-dir ${FOLDER} --output-junit ${junit} --output-on-failure ${selected}
                RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
function(says text pattern)
  if(NOT text MATCHES "${pattern}")
    message(FATAL_ERROR "wanted: ${pattern}\ngot:\n${text}")
  endif()
endfunction()

if(code EQUAL 0)
  message(FATAL_ERROR "a wrong verifier passed\n${out}")
endif()
foreach(tier proof edge sampled)
  says("${out}" "mine\\.first_or_other\\.${tier} [ .]+Passed")
endforeach()
says("${out}" "mine\\.first_or_target\\.proof [ .]+\\*\\*\\*Failed")
if(out MATCHES "mine\\.single_draft")
  message(FATAL_ERROR "gates of verifiers that are not the consumer's\n${out}")
endif()
file(READ ${junit} report)
says("${report}" "<testcase name=\"mine\\.first_or_target\\.proof\"[^>]*status=\"fail\"")
says("${report}" "<testcase name=\"mine\\.first_or_other\\.proof\"[^>]*status=\"run\"")

# Labels select gates.
execute_process(COMMAND ${CTEST} --test-dir ${FOLDER} -L proof --show-only OUTPUT_VARIABLE proofs)
says("${proofs}" "first_or_other\\.proof")
if(proofs MATCHES "\\.edge")
  message(FATAL_ERROR "label proof names an edge gate\n${proofs}")
endif()

# Runs the replay line of the failure as printed.
says("${out}" "exact_distribution failed on p=\\([0-9] [0-9]\\)/[0-9]+ q=\\([0-9] [0-9]\\)/[0-9]+ K=1")
if(NOT out MATCHES "replay: [^ ]*mine (replay first_or_target [^\n]*--property exact_distribution [^\n]*)\n")
  message(FATAL_ERROR "no replay line\n${out}")
endif()
separate_arguments(replay UNIX_COMMAND "${CMAKE_MATCH_1}")
execute_process(COMMAND ${PROGRAM} ${replay} RESULT_VARIABLE code OUTPUT_VARIABLE out)
if(NOT code EQUAL 1)
  message(FATAL_ERROR "the replay line exits with ${code}\n${out}")
endif()
says("${out}" "exact_distribution +failed")
says("${out}" "All decision paths")
