"""llama.cpp examples/speculative without the gate: the law of its rule in fractions, beside counts of a long text.

    python engines/second_route/by_hand_llama_cpp.py

The rule as read: the draft is the most probable token of q; it is accepted with min(1, p/q); the residual subtracts q
from p, both sorted by id, entry by entry of the lists. A list has the tokens that top-k left.
"""

from __future__ import annotations

import sys
from fractions import Fraction as F
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from draftproof.engines import discover

ENGINE = discover()["llama-cpp"]
MODULE = sys.modules["draftproof_engine_llama_cpp"]


def cut(row: list[F], k: int) -> dict[int, F]:
    kept = sorted(sorted(range(len(row)), key=lambda x: -row[x])[: k or len(row)])
    total = sum(row[x] for x in kept)
    return {x: row[x] / total for x in kept}


def rule(p: list[F], q: list[F], k: int) -> list[F]:
    """Law of the first token of a step."""
    target, proposal = cut(p, k), cut(q, k)
    draft = max(proposal, key=lambda x: proposal[x])
    accept = min(F(1), target.get(draft, F(0)) / proposal[draft])
    left = [max(F(0), a - b) for a, b in zip(target.values(), proposal.values(), strict=True)]
    law = [F(0)] * len(p)
    law[draft] += accept
    for x, weight in zip(target, left, strict=True):
        law[x] += (1 - accept) * weight / sum(left) if accept < 1 else 0
    return law


def show(p: list[F], q: list[F], k: int = 0) -> None:
    """One draft a step. A step's bonus token follows p, so the law of the text is that of the rule mixed with p."""
    text = MODULE.generator(k, 1)(
        np.tile([float(x) for x in p], (len(p), 1)), np.tile([float(x) for x in q], (len(q), 1)), 1_000_000, 1
    )
    law, target = rule(p, q, k), cut(p, k)
    draft = max(cut(q, k), key=lambda x: cut(q, k)[x])
    accept = law[draft] if law[draft] > 0 else F(0)
    share = 1 / (1 + accept)  # of the tokens that begin a step: an accepted draft is followed by a token of p
    mixed = [share * law[x] + (1 - share) * target.get(x, F(0)) for x in range(len(p))]
    counts = np.bincount(text, minlength=len(p)) / len(text)
    print(f"p {[str(x) for x in p]} q {[str(x) for x in q]} top-k {k}")
    print("  target        ", [round(float(target.get(x, F(0))), 4) for x in range(len(p))])
    print("  rule by hand  ", [str(x) for x in law], "first token;", [round(float(x), 4) for x in mixed], "all tokens")
    print("  text of 10^6  ", counts.round(4).tolist())


show([F(1, 2), F(1, 2)], [F(3, 4), F(1, 4)])
show([F(1, 2), F(3, 10), F(1, 5)], [F(1, 2), F(3, 10), F(1, 5)])
show([F(1, 10000), F(5999, 10000), F(4, 10)], [F(998, 1000), F(12, 10000), F(8, 10000)], 2)
show([F(1, 10000), F(5999, 10000), F(4, 10)], [F(998, 1000), F(12, 10000), F(8, 10000)])
