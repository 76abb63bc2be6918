"""Runs the acceptance gate 1,000 times on a right rule and 100 times on a rule that loses 1 % of its accepted length.

    python python/tests/acceptance_runs.py

The rules are run step by step on rows of the chain below, with drafts and random numbers of their own in every run. The
number of steps and the bound are those that `steps_for` states for a loss of 1 %.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from numpy.typing import NDArray

from draftproof.acceptance import Lengths, steps_for


def rows(seed: int, drafts: int, vocabulary: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    random = np.random.default_rng(seed)
    p = random.dirichlet(np.full(vocabulary, 0.3), drafts)
    return p, 0.8 * p + 0.2 * random.dirichlet(np.full(vocabulary, 0.3), drafts)


def mean_of_run(
    p: NDArray[np.float64], q: NDArray[np.float64], steps: int, keep: float, random: np.random.Generator
) -> float:
    """Returns the mean number of accepted drafts of single-draft rejection that also rejects accepted drafts with
    probability 1 - keep."""
    alive, total = np.ones(steps, np.bool_), 0
    for target, proposal in zip(p, q, strict=True):
        drawn = np.searchsorted(np.cumsum(proposal) / proposal.sum(), random.random(steps), side="right")
        alive &= random.random(steps) * proposal[drawn] < target[drawn]
        if keep < 1:
            alive &= random.random(steps) < keep
        total += int(alive.sum())
    return total / steps


def keep_of_loss(lengths: Lengths, loss: float) -> float:
    """Returns the factor by which `Lengths.shortened` reduces each acceptance probability to lose this share."""
    return float(lengths.shortened(loss).marginal[0]) / float(lengths.marginal[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--right", type=int, default=1000, help="runs of the right rule (1000)")
    parser.add_argument("--worse", type=int, default=100, help="runs of the rule with the loss (100)")
    parser.add_argument("--loss", type=float, default=0.01)
    given = parser.parse_args()
    p, q = rows(11, drafts=4, vocabulary=64)
    lengths = Lengths.of_rows(p.tolist(), q.tolist())
    # With a miss probability of 1 % per run, 26 % of all sets of 100 runs have more than one miss; with 0.1 %, only
    # 0.5 % of the sets do.
    plan = steps_for(lengths, loss=given.loss, false_alarm=1e-6, miss=0.001)
    print(f"expected {plan.expected:.6f}, bound {plan.least:.6f}, {plan.steps:,} steps, "
          f"false alarm {plan.false_alarm:.2g}, miss {plan.miss:.2g}")  # fmt: skip
    begin = time.monotonic()
    random = np.random.default_rng(1)
    flagged = sum(mean_of_run(p, q, plan.steps, 1.0, random) < plan.least for _ in range(given.right))
    print(f"right rule: {flagged} of {given.right} runs flagged", flush=True)
    keep = keep_of_loss(lengths, given.loss)
    found = sum(mean_of_run(p, q, plan.steps, keep, random) < plan.least for _ in range(given.worse))
    print(f"loss of {100 * given.loss:g} %: {found} of {given.worse} runs flagged, {time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    main()
