# Gates that draw their trials on a device are tests with the label gpu, skipped where it is not; the other tiers are as ever.
function(gates device tests)
  execute_process(COMMAND ${CMAKE_COMMAND} -DPROGRAM=${FAKES} -DTESTS=${tests} -DTARGET=mine -DPROFILE=pr -DSEED=1 -DSHARE=1
                          -DDEVICE=${device} -DTIMEOUT=300 -DALL=TRUE -P ${SOURCE}/cmake/DraftproofWriteGates.cmake
                  RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
  set(code "${code}" PARENT_SCOPE)
  set(err "${err}" PARENT_SCOPE)
endfunction()

foreach(device absent honest)
  file(MAKE_DIRECTORY ${WORK}/${device})
  gates(${device} ${WORK}/${device}/CTestTestfile.cmake)
  if(NOT code EQUAL 0)
    fail("wanted gates")
  endif()
  file(READ ${WORK}/${device}/CTestTestfile.cmake written)
  says(written "check single_draft --tier sampled [^\n]* --device ${device} ")
  says(written "mine.single_draft.sampled]==\\] PROPERTIES LABELS \"gate;sampled;gpu\"")
  says(written "mine.single_draft.proof]==\\] PROPERTIES LABELS \"gate;proof\"")
  silent_on(written "--tier (proof|edge) [^\n]*--device")
  # The false-alarm budget is divided among all gates that draw.
  string(REGEX MATCHALL "--tier sampled [^\n]*" sampled "${written}")
  list(LENGTH sampled gates)
  says(written "--tier sampled [^\n]* --gates ${gates} ")
  execute_process(COMMAND ${CMAKE_CTEST_COMMAND} --test-dir ${WORK}/${device} -L gpu -R mine.single_draft
                  RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT code EQUAL 0)
    fail("wanted no failure on ${device}")
  endif()
  set(${device} "${out}")
endforeach()
says(absent "mine.single_draft.sampled [ .]+\\*\\*\\*Skipped")
says(honest "mine.single_draft.sampled [ .]+ *Passed")

# A program without the device is an error of the build.
gates(nowhere ${WORK}/none.cmake)
if(code EQUAL 0 OR EXISTS ${WORK}/none.cmake)
  fail("wanted no gates on a device that there is not")
endif()
says(err "found \"nowhere\"")
