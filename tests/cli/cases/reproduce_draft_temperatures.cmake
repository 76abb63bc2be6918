# All settings on a vocabulary small enough for tournaments; effort takes the first positions.
run(0 reproduce draft_temperatures zipf:vocabulary=16,positions=5 --effort 2)
says(out "V = 16, 2 positions")
approved()
run(0 reproduce draft_temperatures zipf:vocabulary=16,positions=5 --effort 2 --json --threads 1)
says(out "\"schema\": \"draftproof.study.draft_temperatures/1\"")
set(one "${out}")
run(0 reproduce draft_temperatures zipf:vocabulary=16,positions=5 --effort 2 --json --threads 3)
if(NOT out STREQUAL one)
  fail("3 threads differ from one")
endif()
# No plan for 70^2 pairs: no number, and null in the data.
run(0 reproduce draft_temperatures zipf:vocabulary=70 --json)
says(out "\"tournament\": null")
