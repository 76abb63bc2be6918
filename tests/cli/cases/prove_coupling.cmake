# A scheme that no explorer can walk: what trials can decide is held, the law is not claimed to be proved.
run(0 prove gls --instances 24)
says(out "\n  gls +gumbel_iid +law not proved +2 of 2 ")
says(out "\n  gls: the output law is not proved, its randomness [^\n]*; held in trials: drafter_invariance on 24 instances")
run(0 prove gls --instances 24 --json)
says(out "\"verdict\": \"law not proved\"")
says(out "\"why_not_proved\": \"its randomness ")
run(0 prove gls --instance "p=(1 2) q=(2 1) K=2")
