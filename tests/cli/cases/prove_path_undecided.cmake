# More branches than the budget allows are neither proved nor refuted.
foreach(branches 1 3 6)
  run(3 prove recursive_rejection_tree --law iid_paths --branches ${branches}
      --instance "L=2 K=2 [] p=(1 2 3 4)/10 q=(4 3 2 1)/10")
  says(out "undecided")
  silent_on(out "proved|refuted")
endforeach()
