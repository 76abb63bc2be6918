# Every position has trials of its own; the trial that a failure names ends in the cell it names.
run(1 check resample_from_target --tier sampled --source zipf:vocabulary=50,positions=3,noise=1 --position 2)
if(NOT out MATCHES "worst cell: path ([0-9]+), token ([0-9]+), .*replay: draftproof (replay [^\n]*)\n")
  fail("no worst cell")
endif()
set(token "${CMAKE_MATCH_2}")
separate_arguments(replay UNIX_COMMAND "${CMAKE_MATCH_3}")
run(0 ${replay})
says(out "emits     token ${token} ")
# A budget that does not cover the gates of the run is refused.
run(2 check single_draft recursive_rejection --tier sampled --gates 1)
says(err "--gates: found 1, wanted at least the 2 sampled gates of this run")
