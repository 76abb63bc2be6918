#!/usr/bin/env python3
"""Simulates recursive rejection in numpy as it is usually written; a peer of draftproof's simulation.

  numpy_peer.py --pq FILE --drafts K --program NAME [--trials N] [--repeat R] [--seed S]

Needs python3 and numpy (Debian: python3-numpy). FILE holds p, then q, as little-endian float64. Programs, all with K
drafts (K = 1 is single-draft sampling):

  expert     fixed (p, q): residuals computed once, everything batched, inverse CDFs by searchsorted
  choice     the same with Generator.choice in place of searchsorted
  batched    tensors [B, V] as in test code of engines and papers: every trial carries its rows
  loop       one Python iteration a trial
  loop_wor   the same without replacement

Prints one JSON object: trials, processor seconds of the best of R runs, acceptance, expected acceptance.
"""
import argparse
import json
import sys
import time

import numpy as np


def inverse_cdf(weights, uniforms):
    sums = np.cumsum(weights)
    return np.minimum(np.searchsorted(sums / sums[-1], uniforms, side="right"), weights.size - 1)


def after_refusal(residual, proposal):
    left = np.maximum(residual - proposal, 0)
    mass = left.sum()
    return left / mass if mass > 0 else left


def shared_rows(p, q, drafts, trials, random, draw):
    """Runs trials on the same rows; draw(weights, shape) draws tokens. Returns the histogram of emitted tokens and the
    number of trials that accepted a draft."""
    proposed = draw(q, (trials, drafts))
    tokens = np.full(trials, -1)
    open_trials, residual = np.arange(trials), p.copy()
    for k in range(drafts):
        x = proposed[open_trials, k]
        taken = random.random(open_trials.size) * q[x] < residual[x]
        tokens[open_trials[taken]] = x[taken]
        open_trials = open_trials[~taken]
        residual = after_refusal(residual, q)
    if open_trials.size:
        tokens[open_trials] = draw(residual, open_trials.size)
    return np.bincount(tokens, minlength=p.size), trials - open_trials.size


def own_rows(p, q, drafts, trials, random):
    target = np.broadcast_to(p, (trials, p.size)).copy()
    proposal = np.broadcast_to(q, (trials, p.size)).copy()
    proposed = inverse_cdf(q, random.random((trials, drafts)))
    tokens, is_open, row = np.full(trials, -1), np.ones(trials, bool), np.arange(trials)
    for k in range(drafts):
        x = proposed[:, k]
        taken = is_open & (random.random(trials) * proposal[row, x] < target[row, x])
        tokens[taken] = x[taken]
        is_open &= ~taken
        target = np.maximum(target - proposal, 0)
        target /= np.maximum(target.sum(1, keepdims=True), 1e-30)
    sums = np.cumsum(target, 1)
    corrected = np.minimum((sums <= (random.random(trials) * sums[:, -1])[:, None]).sum(1), p.size - 1)
    tokens[is_open] = corrected[is_open]
    return np.bincount(tokens, minlength=p.size), trials - int(is_open.sum())


def prefix_consistent(p, q, drafts, trials, random, replace):
    histogram, accepted = np.zeros(p.size, int), 0
    for _ in range(trials):
        proposed = random.choice(p.size, size=drafts, p=q, replace=replace)
        residual, proposal = p, q
        for k, x in enumerate(proposed):
            if random.random() * proposal[x] < residual[x]:
                histogram[x] += 1
                accepted += 1
                break
            residual = after_refusal(residual, proposal)
            if not replace and k + 1 < drafts:
                proposal = proposal.copy()
                proposal[x] = 0
                proposal = proposal / proposal.sum()
        else:
            histogram[random.choice(p.size, p=residual)] += 1
    return histogram, accepted


def expected_acceptance(p, q, drafts):
    """Returns 1 - F(b), with replacement: F(b) = sum (p - b q)+, and b <- b + F(b) is repeated K times from b = 0."""
    b = 0.0
    for _ in range(drafts):
        b += np.maximum(p - b * q, 0).sum()
    return 1 - np.maximum(p - b * q, 0).sum()


def main():
    parser = argparse.ArgumentParser(prog="numpy_peer")
    parser.add_argument("--pq", required=True)
    parser.add_argument("--drafts", type=int, required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--trials", type=int)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rows = np.fromfile(given.pq, dtype="<f8")
    if rows.size < 2 or rows.size % 2:
        sys.exit("%s: got %d numbers, expected p and q" % (given.pq, rows.size))
    p, q = (row / row.sum() for row in np.split(rows, 2))
    random, size, drafts = np.random.default_rng(given.seed), p.size, given.drafts

    def by_choice(weights, shape):
        return random.choice(size, size=shape, p=weights / weights.sum())

    def by_search(weights, shape):
        return inverse_cdf(weights, random.random(shape))

    batch, single = max(4, 4_000_000 // size), min(20_000, max(64, 4_000_000 // (size * drafts)))
    programs = {
        "expert": (1_000_000, lambda n: shared_rows(p, q, drafts, n, random, by_search)),
        "choice": (1_000_000, lambda n: shared_rows(p, q, drafts, n, random, by_choice)),
        "batched": (batch, lambda n: own_rows(p, q, drafts, n, random)),
        "loop": (single, lambda n: prefix_consistent(p, q, drafts, n, random, True)),
        "loop_wor": (single, lambda n: prefix_consistent(p, q, drafts, n, random, False)),
    }
    if given.program not in programs:
        sys.exit("unknown program " + given.program)
    usual, program = programs[given.program]
    trials, seconds = given.trials or usual, float("inf")
    for _ in range(given.repeat):
        start = time.process_time()
        histogram, accepted = program(trials)
        seconds = min(seconds, time.process_time() - start)
        if histogram.sum() != trials:
            sys.exit("%d trials gave %d tokens" % (trials, histogram.sum()))
    json.dump({"trials": trials, "seconds": seconds, "acceptance": accepted / trials,
               "expected_with_replacement": float(expected_acceptance(p, q, drafts)),
               "numpy": np.__version__}, sys.stdout)


if __name__ == "__main__":
    main()
