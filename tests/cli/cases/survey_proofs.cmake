# Every law of a verifier has its proof beside the numbers.
run(0 survey bernoulli --verifier single_draft --tuples 100 --instances 20 --json)
says(out "\"verdict\": \"proved \\(20\\)\"")
says(out "\"proofs\": ")
run(0 survey bernoulli --verifier single_draft --tuples 100 --instances 20)
says(out "  single_draft +1 +proved \\(20\\) ")
