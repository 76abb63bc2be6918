# The same bytes from any number of ranks, also more than processors; one error for all.
find_program(MPIRUN mpirun)
execute_process(COMMAND ldd ${PROGRAM} OUTPUT_VARIABLE libraries ERROR_QUIET)
if(NOT MPIRUN OR NOT libraries MATCHES "libmpi")
  message(STATUS "skipped: built without MPI, or no mpirun")
  return()
endif()
set(ENV{LSAN_OPTIONS} detect_leaks=0)  # an MPI keeps what it allocated
set(survey survey zipf:vocabulary=40,positions=9 --verifier k_seq,ladder --tuples 9000 --instances 5 --json --quiet)
set(check check k_seq --tier sampled --profile quick --json --quiet)
set(simulate simulate k_seq zipf:vocabulary=40 --tuples 5000000 --json --quiet)
set(paths survey-paths zipf:vocabulary=8,positions=3 --verifier k_seq_tree,block --steps 50000 --instances 5 --json --quiet)
set(prove prove k_seq block --instances 70 --json --quiet)
set(ranks_of_survey 1 2 3 4)
set(ranks_of_check 2)
set(ranks_of_simulate 3)
set(ranks_of_paths 4)
set(ranks_of_prove 2 3)
foreach(each survey check simulate paths prove)
  run(0 ${${each}} --output whole.json)
  file(READ ${WORK}/whole.json whole)
  foreach(ranks ${ranks_of_${each}})
    execute_process(COMMAND ${MPIRUN} --allow-run-as-root --oversubscribe -n ${ranks} ${PROGRAM} ${${each}} --threads 1
                    WORKING_DIRECTORY ${WORK} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
    if(NOT code EQUAL 0 OR NOT out STREQUAL whole)
      fail("${each}, ${ranks} ranks: other bytes")
    endif()
  endforeach()
endforeach()
# By a plan too. A command or a study without blocks runs on rank 0 alone.
run(0 plan ${prove} --output plan.json)
execute_process(COMMAND ${MPIRUN} --allow-run-as-root --oversubscribe -n 3 ${PROGRAM} ${prove} --threads 1 --deal plan.json
                WORKING_DIRECTORY ${WORK} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
if(NOT code EQUAL 0 OR NOT out STREQUAL whole)
  fail("3 ranks by a plan: other bytes")
endif()
foreach(alone "list --json" "reproduce --json" "check k_seq --list --json")
  separate_arguments(words UNIX_COMMAND "${alone}")
  run(0 ${words})
  set(whole "${out}")
  execute_process(COMMAND ${MPIRUN} --allow-run-as-root --oversubscribe -n 2 ${PROGRAM} ${words}
                  WORKING_DIRECTORY ${WORK} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT code EQUAL 0 OR NOT out STREQUAL whole)
    fail("${alone} on two ranks: wanted one result")
  endif()
endforeach()

execute_process(COMMAND ${MPIRUN} --allow-run-as-root --oversubscribe -n 2 ${PROGRAM} survey gone.npz
                RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
string(REGEX MATCHALL "draftproof: gone.npz" errors "${err}")
list(LENGTH errors count)
if(code EQUAL 0 OR NOT count EQUAL 1 OR NOT out STREQUAL "")
  fail("a missing file on two ranks: wanted one error")
endif()

# A rank that is killed ends the job, without a result, and its checkpoint serves.
set(long survey zipf:vocabulary=32000 --verifier k_seq,recursive_rejection -K 4 --instances 0 --tuples 20000000 --json --quiet
         --threads 1)
file(REMOVE ${WORK}/result.json ${WORK}/saved.1-of-2 ${WORK}/saved.2-of-2)
set(killed [[
if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 1 ]; then exec "$@"; fi
"$@" &
rank=$!
while [ ! -f saved.2-of-2 ]; do sleep 0.05; done
kill -9 $rank
wait $rank
]])
set(ranks ${MPIRUN} --allow-run-as-root --oversubscribe -n 2)
set(saved --checkpoint saved --output result.json)
execute_process(COMMAND ${ranks} sh -c "${killed}" sh ${PROGRAM} ${long} ${saved} WORKING_DIRECTORY ${WORK}
                RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
if(code EQUAL 0 OR EXISTS ${WORK}/result.json)
  fail("a killed rank: wanted no result and no exit code 0")
endif()
execute_process(COMMAND ${ranks} ${PROGRAM} ${long} ${saved} --resume WORKING_DIRECTORY ${WORK}
                RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
run(0 ${long} --output whole.json)
file(READ ${WORK}/whole.json whole)
file(READ ${WORK}/result.json resumed)
if(NOT code EQUAL 0 OR NOT resumed STREQUAL whole)
  fail("resumed after a killed rank: other bytes")
endif()
