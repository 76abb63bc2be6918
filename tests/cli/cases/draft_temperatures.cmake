# One draft model at several temperatures: a proposal for each draft, named in the report, in every command that measures.
set(bernoulli bernoulli:target=0.7,draft=0.4 --draft-temperatures)
run(0 survey ${bernoulli} 1.0,0,2 --law independent -K 3 --tuples 1000 --instances 0)
says(out "proposal draft@1, draft@0, draft@2\n")
says(out "\n *recursive_rejection_independent +3 ")
run(0 simulate recursive_rejection_independent ${bernoulli} 1,0.5 -K 2 --tuples 1000 --json)
says(out "\"draft_temperatures\": \\[\n *1\\.0,\n *0\\.5\n *\\]")

# By hand: p = (3 7)/10 and q = (6 4)/10; at temperature 0 the draft is surely token 0. Drafts of q and of temperature 0
# miss p(1) = 7/10 when the first is token 0 too: the best is 1 - max(0, 6/10 - 3/10) = 7/10; two drafts of q reach
# 94/100.
run(0 optimum ${bernoulli} 1,0 -K 2)
says(out "\n  independent +0\\.700000\n")
run(0 optimum ${bernoulli} 1,1 -K 2)
says(out "\n  independent +0\\.940000\n")

foreach(wrong "-1" "1,nan" "cold" "1,-inf")
  run(2 survey ${bernoulli} ${wrong} --instances 0)
endforeach()
run(2 optimum ${bernoulli} 1,2 --proposal-temperature 3)
says(err "found proposal temperature 3 beside draft temperatures, wanted one or the other")
run(2 survey ${SOURCE}/data/stories512_positions.npz:draft_q4,draft_q3 --draft-temperatures 1,2 --instances 0)
says(err "draft temperatures for 2 proposals, wanted one proposal of draft_q4, draft_q3")
run(2 simulate recursive_rejection_independent ${bernoulli} 1,2 -K 3)
says(err "number of proposals")
