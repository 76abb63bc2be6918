"""Computes the distribution of MLC-LLM's acceptance rule in fractions, and its distance from p on captured rows.

    python python/engines/second_route/mlc_llm.py

In the source of `BatchVerifyDraftTokensWithProbAfterTopP` in cpp/serve/sampler/cpu_sampler.cc, a draft x with p(x) <
q(x) is accepted with probability p(x) / (q(x) + 10^-5). A token after a rejection is drawn from (p - q)+. If E is the
missing acceptance, the sum of p(x) - q(x) p(x) / (q(x) + 10^-5) over x with p(x) < q(x), each of these tokens has too
little probability and the others together have E too much, so E is the total variation.
"""

from __future__ import annotations

from fractions import Fraction as F
from pathlib import Path

import numpy as np

EPS = F(1, 10**5)
DATA = Path(__file__).resolve().parents[3] / "data"
ROWS = (("stories512", "draft_q4"), ("mixed32k", "draft"), ("mixed32k", "draft_q4"))


def first_token(p: list[F], q: list[F]) -> list[F]:
    """Returns the distribution of the token at the position of one draft."""
    accepted = [b if a >= b else b * a / (b + EPS) for a, b in zip(p, q, strict=True)]
    left = [max(F(0), a - b) for a, b in zip(p, q, strict=True)]
    return [b + (1 - sum(accepted)) * x / sum(left) for b, x in zip(accepted, left, strict=True)]


if __name__ == "__main__":
    for p, q in (([F(1, 2), F(1, 2)], [F(0), F(1)]), ([F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)])):
        found = first_token(p, q)
        print("p", *p, "q", *q, "by the rule", *found, f"total variation {float(abs(found[0] - p[0])):.4g}")
    for name, draft in ROWS:
        rows = np.load(DATA / f"{name}_positions.npz")
        target, proposal = (np.exp(rows[key].astype(np.float64)) for key in ("target", draft))
        missing = np.where(target < proposal, target * float(EPS) / (proposal + float(EPS)), 0).sum(1)
        refused = np.maximum(proposal - target, 0).sum(1)
        print(f"{name} {draft}: V = {target.shape[1]}, total variation mean {missing.mean():.2g},", end=" ")
        print(f"largest {missing.max():.2g}; drafts refused by the exact rule {refused.mean():.3f}")
