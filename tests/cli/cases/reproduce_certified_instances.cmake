# Fractions, certificates and what was published: a program of exact arithmetic, so every byte counts.
run(0 reproduce certified_instances)
approved()
