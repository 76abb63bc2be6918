# One row, without proofs: counts, intervals and optimum of a fixed seed.
run(0 survey bernoulli:positions=3 --verifier single_draft --tuples 3000 --instances 0 --json)
approved()
