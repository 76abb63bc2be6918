# A scheme whose plan enumerates tuples is surveyed where there are few, and says so where there are many.
run(0 survey gaussian_logits:vocabulary=6,positions=2 --verifier optimal_transport --tuples 2000 --instances 0 -K 2)
says(out "  optimal_transport +2 +not asked +0\\.[0-9]+ ")
run(0 survey zipf:vocabulary=500,positions=2 --verifier optimal_transport,single_draft --tuples 2000 --instances 0 -K 2)
says(out "  optimal_transport +2 +not asked +- +- +0\\.[0-9]+ +- +-\n")
says(out "optimal_transport at K = 2 does not run here: the plan enumerates V\\^K draft tuples")
run(0 survey zipf:vocabulary=500,positions=2 --verifier optimal_transport,single_draft --tuples 2000 --instances 0 -K 2
    --proposal-top-k 6)
says(out "  optimal_transport +2 +not asked +0\\.[0-9]+ ")
run(0 survey zipf:vocabulary=500,positions=2 --verifier optimal_transport,single_draft --tuples 2000 --instances 0 -K 2
    --json)
says(out "\"not_run\": \"the plan enumerates V\\^K draft tuples\"")
run(0 simulate optimal_transport zipf:vocabulary=5 -K 2 --tuples 1000)
says(out "draft 2 accepted")
run(2 simulate optimal_transport zipf:vocabulary=500 -K 2)
says(err "wanted fewer tokens")
# Few tokens in the proposal, but drafts that go on over all of them where it has run out.
run(0 survey zipf:vocabulary=40,positions=1 --proposal-top-k 3 -K 8 --law without_replacement_uniform --tuples 1000 --instances 0)
says(out "optimal_transport_wor_uniform at K = 8 does not run here")
