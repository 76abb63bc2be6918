# Two tokens, p = (3 7)/10, q = (6 4)/10: one draft min-sums to 7/10, two i.i.d. drafts miss p(1) = 7/10 only when
# both are token 0, so the best is 1 - max(0, 7/10 - 64/100) = 94/100.
run(0 optimum bernoulli:target=0.7,draft=0.4 -K 1,2 --json)
says(out "\"single_draft\": 0\\.[67][09999999]*")
foreach(wanted "1;0.7" "2;0.94")
  list(GET wanted 0 drafts)
  list(GET wanted 1 mean)
  says(out "\"law\": \"iid\",\n *\"drafts\": ${drafts},\n *\"mean\": (${mean}|${mean}0000000[0-9]*|0\\.[69][93]99999999[0-9]*),\n *\"exactly_one\": 0\n")
endforeach()
run(0 optimum bernoulli:target=0.7,draft=0.4 -K 1,2)
says(out "\n  iid +0\\.700000 +0\\.940000\n")
# Equal laws are accepted always: 1 and not nearly 1.
run(0 optimum bernoulli:target=0.5,draft=0.5 -K 2 --json)
says(out "\"law\": \"iid\",\n *\"drafts\": 2,\n *\"mean\": 1\\.0,\n *\"exactly_one\": 1\n")
run(0 optimum bernoulli:target=0.5,draft=0.5 -K 1,2)
says(out "\n  iid +1 +1\n")
