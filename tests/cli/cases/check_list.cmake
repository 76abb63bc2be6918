# The gates there are, for those who run them one by one.
run(0 check --list single_draft --json)
says(out "\"schema\": \"draftproof.gates/1\"")
says(out "\"verifier\": \"single_draft\",[ \n]*\"tier\": \"proof\"")
# Nothing here is a program's own.
run(0 check --list --own --json)
says(out "\"gates\": \\[\\]")
