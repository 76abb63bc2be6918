# The same verdict, byte for byte, for any number of threads.
run(1 check no_residual_update --tier sampled,edge --source zipf:vocabulary=300 --json --threads 1)
set(one "${out}")
run(1 check no_residual_update --tier sampled,edge --source zipf:vocabulary=300 --json --threads 3)
if(NOT out STREQUAL one)
  fail("three threads say something else than one:\n${one}")
endif()
