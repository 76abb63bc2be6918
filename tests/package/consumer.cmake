# Tests that the consumer's program has the consumer's verifiers and draftproof's. Arguments: PROGRAM, WITH_BENCH,
# WITH_DEVICES.
cmake_minimum_required(VERSION 3.25)

function(run wanted)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT code STREQUAL "${wanted}")
    message(FATAL_ERROR "${ARGN}\nexit code ${code}, expected ${wanted}\n${out}\n${err}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

function(says pattern)
  if(NOT out MATCHES "${pattern}")
    message(FATAL_ERROR "wanted: ${pattern}\ngot:\n${out}")
  endif()
endfunction()

run(0 ${PROGRAM} list)
foreach(name first_or_other first_or_target single_draft one_draw_repeated paths_in_pairs path_of_target sampler/coarse_sampler batch/row_by_row batch/slots_as_drafted
             selection/first_drafts_alone drafts_are_named)
  says("\n  ${name} ")
endforeach()

run(0 ${PROGRAM} prove first_or_other --instances 100)
says("first_or_other +iid +proved \\(100\\)")

# Runs the user-defined type of each kind in kinds/.
run(0 ${PROGRAM} prove first_of_repeated --instances 50)
says("first_of_repeated +one_draw_repeated +proved \\(50\\)")
run(0 ${PROGRAM} prove path_of_target --instances 20)
says("path_of_target +iid_paths +proved \\(20\\)")
run(0 ${PROGRAM} replay single_draft --draft-sampling iid --property drafts_are_named --instance "p=(1 1)/2 q=(1 2)/3 K=1")
run(1 ${PROGRAM} check sampler/coarse_sampler)
says("coarse_sampler")
run(0 ${PROGRAM} check batch/row_by_row)
run(1 ${PROGRAM} check batch/slots_as_drafted)
says("row_distribution")
run(0 ${PROGRAM} check selection/first_drafts_alone)

# The counterexample has two tokens and weights of one digit, small enough to check by hand.
run(1 ${PROGRAM} prove first_or_target --instances 100)
says("exact_distribution failed on p=\\([0-9] [0-9]\\)/[0-9]+ q=\\([0-9] [0-9]\\)/[0-9]+ K=1\n    got \\(.*\\), expected \\(.*\\), TV ")

run(0 ${PROGRAM} survey zipf:vocabulary=50 --verifier first_or_other --tuples 10000 --instances 20)
says("\n  first_or_other +2 +proved \\(20\\) ")
says("times are from code compiled without optimisation")  # the consumer is a Debug build

if(WITH_BENCH)
  run(0 ${PROGRAM} bench --list)
  says("(^|\n)cost/first_or_other/iid/4096/1\n")
  says("(^|\n)simulate/single_draft/iid/4096/1\n")
  run(0 ${PROGRAM} bench "^cost/first_or_other/iid/4096/1$" --repetitions 1 --min-time 0.001)
  says("\n  first_or_other/iid/4096/1 ")
endif()

# With `--device cuda` built-in verifiers run on a device if the package has CUDA; this verifier has no kernel and runs
# on the CPU.
execute_process(COMMAND ${PROGRAM} survey zipf:vocabulary=50 --verifier first_or_other,single_draft --tuples 10000
                        --instances 0 --device cuda RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
if(NOT WITH_DEVICES AND code EQUAL 2 AND err MATCHES "built without CUDA")
elseif(WITH_DEVICES AND code EQUAL 77)
  says("skipped: no CUDA device")
elseif(WITH_DEVICES AND code EQUAL 0)
  says("on cuda\n")
  says("on the CPU: first_or_other at K = [0-9].*has no simulation kernel")
else()
  message(FATAL_ERROR "survey --device cuda: exit code ${code}\n${out}\n${err}")
endif()
