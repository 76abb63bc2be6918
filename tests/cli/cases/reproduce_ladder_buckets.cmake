# Losses of one position of each source; nothing above the optimum.
run(0 reproduce ladder_buckets --effort 1)
foreach(text "V = 128,256" "served whole" "27 comparisons, 0 failed")
  says(out "${text}")
endforeach()
