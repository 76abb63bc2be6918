# Counts and smallest instances of a short search, in fractions; ratios are printed to four digits.
run(0 reproduce order_of_schemes --effort 500)
approved()
run(0 reproduce order_of_schemes --effort 500 --seed 2)
silent_on(out "COUNTEREXAMPLE|NOT SO")
