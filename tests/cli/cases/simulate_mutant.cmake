# Monte Carlo reports, it does not judge; but a branch of probability zero is a fact.
run(0 simulate resample_from_target bernoulli --tuples 10000)
says(out "total variation observed")
run(0 simulate single_draft bernoulli --tuples 1 --tokens 0)
says(out "1 tuple, seed 1")
