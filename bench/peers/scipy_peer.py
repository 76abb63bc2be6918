#!/usr/bin/env python3
"""Computes the optimum of K i.i.d. drafts as is usual: by a linear program for scipy's HiGHS.

  scipy_peer.py --pq FILE --drafts K [--repeat R]

Needs python3, numpy and scipy (Debian: python3-scipy). FILE holds p, then q, as little-endian float64. The
program has a variable for every draft tuple and token in it: the mass that goes from the tuple to the token. The
masses of a tuple sum to at most its probability, the masses of a token to at most p. Prints one JSON object: processor
seconds of linprog alone, the best of R, and the optimum found.
"""
import argparse
import itertools
import json
import sys
import time

import numpy as np
import scipy
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

most_tuples = 300_000


def flow_program(p, q, drafts):
    tuples = list(itertools.product(range(p.size), repeat=drafts))
    rows, columns, variables = [], [], 0
    for i, drawn in enumerate(tuples):
        for token in sorted(set(drawn)):
            rows += [i, len(tuples) + token]
            columns += [variables, variables]
            variables += 1
    matrix = coo_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(tuples) + p.size, variables)).tocsr()
    bounds = np.concatenate([[np.prod(q[list(drawn)]) for drawn in tuples], p])
    return -np.ones(variables), matrix, bounds


def main():
    parser = argparse.ArgumentParser(prog="scipy_peer")
    parser.add_argument("--pq", required=True)
    parser.add_argument("--drafts", type=int, required=True)
    parser.add_argument("--repeat", type=int, default=1)
    given = parser.parse_args()
    rows = np.fromfile(given.pq, dtype="<f8")
    if rows.size < 2 or rows.size % 2:
        sys.exit("%s: got %d numbers, expected p and q" % (given.pq, rows.size))
    p, q = np.split(rows, 2)
    if p.size ** given.drafts > most_tuples:
        sys.exit("%d^%d draft tuples are too many" % (p.size, given.drafts))
    cost, matrix, bounds = flow_program(p, q, given.drafts)
    seconds = float("inf")
    for _ in range(given.repeat):
        start = time.process_time()
        solution = linprog(cost, A_ub=matrix, b_ub=bounds, bounds=(0, None), method="highs")
        seconds = min(seconds, time.process_time() - start)
    if solution.status != 0:
        sys.exit("linprog: " + solution.message)
    json.dump({"seconds": seconds, "optimum": -solution.fun, "variables": cost.size, "scipy": scipy.__version__},
              sys.stdout)


if __name__ == "__main__":
    main()
