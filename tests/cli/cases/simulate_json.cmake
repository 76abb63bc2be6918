run(0 simulate recursive_rejection bernoulli -K 2 --tuples 10000 --json)
approved()
