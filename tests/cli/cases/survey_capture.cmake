# The captured model distributions of the repository, and a capture's proposal by name.
run(0 survey ${FILES}/good.npz --verifier single_draft --tuples 1000 --instances 0)
says(out "good\n  5 positions, V = 4, proposal draft\n")
run(0 survey ${SOURCE}/data/stories512_positions.npz --verifier single_draft --tuples 1000 --instances 0 --json)
says(out "\"complete\": true")
run(2 survey ${FILES}/good.npz:draft_q9)
says(err "good\\.npz: .*draft_q9")
