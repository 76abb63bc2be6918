"""Verifiers to be judged whole, by `draftproof.check` as a user calls it.

right   texts by a seed, each of which must hold
wrong   a table of faults, each with what must be said of it
run     both in parallel processes: python python/tests/functions/run.py right 1000 --seed 3
"""
