# A branch of probability zero is what the property reports; the replay tells it and does not end as an internal error.
run(1 replay single_draft --law reduced_vocabulary_ids_unmapped --property exact_law --instance "p=(0 1)/1 q=(0 1)/1 K=1")
says(out "exact_law +violated")
says(out "the walk ends: ")
# Evidence of a smaller instance says so.
run(1 replay resample_from_target --property exact_law --instance "p=(5 3 9 1)/18 q=(1 1 1 1)/4 K=1")
says(out "exact_law +violated +[^\n]*, on p=\\(")
# More branches than are walked: undecided, and no law is claimed.
run(3 replay recursive_rejection --property exact_law --instance "p=(1 2 3 4 5 6 7 8)/36 q=(1 1 1 1 1 1 1 1)/8 K=8" --branches 1000)
says(out "the law is not known: too many branches")
