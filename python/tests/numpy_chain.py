"""A right token verification of a chain in numpy."""

from __future__ import annotations

from typing import Any

import numpy as np


def right(p: Any, q: Any, drafts: Any, rng: Any) -> list[int]:
    p, q = p.astype(float), q.astype(float)
    for i, x in enumerate(drafts):
        if not rng.random() * q[i, x] < p[i, x]:
            rest = np.maximum(p[i] - q[i], 0)
            return [*drafts[:i], pick(rest if rest.any() else p[i], rng)]
    return [*drafts, pick(p[len(drafts)], rng)]


def pick(weights: Any, rng: Any) -> int:
    return int(rng.choice(len(weights), p=weights / weights.sum()))
