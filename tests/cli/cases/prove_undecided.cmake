# A tree that is larger than the budget is neither proved nor refuted.
run(3 prove recursive_rejection --instance "p=(1 2 3 4)/10 q=(4 3 2 1)/10 K=3" --branches 5)
says(out "undecided")
silent_on(out "proved|refuted")
# No property takes a tree that was not walked whole for a counterexample, however small the budget.
foreach(branches 1 2 3 4 6 10)
  run(3 prove single_draft recursive_rejection --instances 50 --branches ${branches})
  silent_on(out "refuted")
endforeach()
