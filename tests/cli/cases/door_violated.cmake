# A child in another language with one slip: a counterexample by hand, and a line that shows it again.
run(1 check --door "exec:python3 ${SOURCE}/examples/door/wrong_verifier.py residual_of_p" --tier proof)
says(out "residual_of_p +proof +violated")
if(NOT out MATCHES "replay: draftproof (replay --door [^\n]*)\n")
  fail("no replay line")
endif()
separate_arguments(replay UNIX_COMMAND "${CMAKE_MATCH_1}")
run(1 ${replay})
approved()
