# A program that listens on a socket: the same verdicts, through a connection for each command.
function(listen path)
  execute_process(COMMAND python3 ${SOURCE}/tests/doors/children/listen.py ${path} ${ARGN} WORKING_DIRECTORY ${WORK}
                  RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    fail("no program listens at ${path}")
  endif()
endfunction()

listen(right python3 -BES ${SOURCE}/examples/door/verifier_json.py)
run(0 check --door socket:right --profile quick)
says(out "token_path +proof +held +5 of 5 .*20 models")
says(out "token_path +edge +held +6 of 6")
run(0 replay --door socket:right --instance "L=1 K=1 [] p=(1 1)/2 q=(0 1)/1")

# A lost connection is another one, down to the row.
listen(crashes python3 -BES ${SOURCE}/tests/doors/children/hostile.py crashes)
run(1 replay --door socket:crashes --instance "L=1 K=1 [] p=(3 1)/4 q=(1 1)/2" --door-dump dumps)
says(out "protocol +violated +[^\n]*socket:crashes: found 3 rows that end the connection, drafts \\([01]\\)[^\n]*")
says(out "and another loss: the program closed the connection")
if(NOT EXISTS ${WORK}/dumps/crash-3.frame)
  fail("wanted the requests that ended the connection in dumps/")
endif()

# The programs end when their files are gone.
file(REMOVE ${WORK}/right ${WORK}/crashes)
run(2 check --door socket:right)
says(err "door: socket:right: connect: found No such file or directory, wanted a program that listens there")
string(REPEAT "x" 200 far)
run(2 check --door socket:${far})
says(err "path: found 200 bytes, wanted at most 107")
run(2 check --door socket:)
says(err "--door: found \"socket:\", wanted a command, path or name")
# A program that is slower than the limit.
listen(hangs python3 -BES ${SOURCE}/tests/doors/children/hostile.py hangs)
run(3 replay --door socket:hangs --instance "L=1 K=1 [] p=(3 1)/4 q=(1 1)/2" --door-limit 0.3)
says(out "did not answer within 0.3 s")
file(REMOVE ${WORK}/hangs)
