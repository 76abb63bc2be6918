# Children that do wrong on rows with p[0][0] = 0.75: a finding with the instance, never an end of the host.
set(ENV{CHAIN_ENDS} 1)
set(child "python3 -BES ${SOURCE}/tests/doors/children/hostile.py")
run(1 check --door "exec:${child} crashes" --tier proof)
says(out "crashes +proof +violated")
says(out "protocol violated on L=[1-4] K=1 \\[\\] p=\\([0-9 ]+\\)/[0-9]+ ")
says(out "found 3 rows that kill the program, drafts \\([01]\\)[^\n]*signal 11[^\n]*about to die")
if(NOT out MATCHES "replay: draftproof (replay --door [^\n]*)\n")
  fail("no replay line")
endif()
separate_arguments(replay UNIX_COMMAND "${CMAKE_MATCH_1}")
run(1 ${replay})
says(out "protocol +violated +[^\n]*found 3 rows that kill the program")

set(instance "L=1 K=1 [] p=(3 1)/4 q=(1 1)/2")
foreach(kind "exits=exit code 7" "garbage=found a header of" "token out of range=row 0: tokens: entry 0: found 4"
        "wrong shape=counts: found i32" "nan weights=row 0: weights of draw 1: cell 0: found nan"
        "log beyond=row 0: draw_counts: found 9")
  string(REGEX MATCH "^([^=]+)=(.*)$" matched "${kind}")
  set(name "${CMAKE_MATCH_1}")
  set(words "${CMAKE_MATCH_2}")
  run(1 replay --door "exec:${child} '${name}'" --instance ${instance})
  says(out "protocol +violated +[^\n]*${words}")
endforeach()
# A batch that the child refuses is a row's failure.
run(1 replay --door "exec:${child} refuses" --instance ${instance})
says(out "answers +violated +on drafts \\(0\\): fails with cannot serve 0.75, probability 1 a decision")
# A row that takes too long has no verdict.
run(3 check --door "exec:${child} hangs" --tier proof --door-limit 1)
says(out "exact_law undecided\n +did not answer within 1 s on drafts \\([01 ]+\\) at V = [234]; --door-limit SECONDS gives it more")
# A program that fails on everything is an error.
run(2 check --door "exec:python3 -BES ${SOURCE}/tests/doors/children/odd.py fails" --profile quick)
says(err "door: fails fails on every input: ValueError: no table \\(mine.py line 12\\)")
run(1 replay --door "exec:python3 -BES ${SOURCE}/tests/doors/children/odd.py fails" --instance ${instance})
says(out "status failed: ValueError: no table \\(mine.py line 12\\)")
# A program that draws until a draw fits has a law but for the longest branches, and ends.
run(3 check --door "exec:python3 -BES ${SOURCE}/tests/doors/children/odd.py rejects" --profile quick --tier proof)
says(out "exact_law undecided on [^\n]*\n +[0-9]+ instances: [0-9.e-]+ of the probability was not explored")
# Six megabytes on standard error are kept away from the report.
run(0 replay --door "exec:${child} loud" --instance ${instance})
silent_on(out "noise")
# The other tiers have no instance; the line that shows it again is for a shell.
run(1 check --door "exec:${child} 'always exits'" --tier edge)
says(out "protocol violated\n[^\n]*exit code 7\n")
says(out "replay: draftproof check --door '[^\n]*'.''always exits'.''' --tier edge --seed 1")
