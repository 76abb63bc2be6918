"""Right verifiers in numpy."""

from __future__ import annotations

import numpy as np
from catalogue import correct


def left_of(p, q):
    """(p - q)+ along the last axis; p itself where rounding left nothing."""
    rest = np.maximum(p - q, 0)
    return np.where(rest.any(-1, keepdims=True), rest, p)


@correct("numpy with a Generator that is given, rows in double.", arrays="numpy")
def numpy_generator(p, q, drafts, *, rng):
    p, q = p.astype(np.float64), q.astype(np.float64)
    for i, x in enumerate(drafts):
        if not rng.random() * q[i, x] < p[i, x]:
            rest = left_of(p[i], q[i])
            return [*drafts[:i], rng.choice(len(rest), p=rest / rest.sum())]
    return [*drafts, rng.choice(len(p[-1]), p=p[-1] / p[-1].sum())]


@correct("numpy's module functions, all coins at once, inversion by searchsorted.", arrays="numpy")
def numpy_legacy(p, q, drafts):
    at = np.arange(len(drafts))
    accepted = np.random.random(len(drafts)) * q[at, drafts] < p[at, drafts]
    n = int(np.cumprod(accepted).sum())
    weights = p[n].astype(np.float64)
    if n < len(drafts):
        weights = left_of(weights, q[n])
    cdf = np.cumsum(weights)
    return np.append(drafts[:n], np.searchsorted(cdf, np.random.rand() * cdf[-1], side="right"))


@correct("numpy, rows side by side.", arrays="numpy", batched=True)
def numpy_batch(p, q, drafts, *, rng):
    rows, length = np.arange(len(p)), drafts.shape[1]
    picked = drafts[..., None]
    own, other = (np.take_along_axis(rows_of, picked, 2)[..., 0] for rows_of in (p[:, :-1], q))
    keep = rng.random(drafts.shape) * other < own
    n = np.cumprod(keep, 1).sum(1)
    rest = p[rows, n].astype(np.float64)
    inside = n < length
    rest[inside] = left_of(rest[inside], q[rows[inside], n[inside]])
    cdf = rest.cumsum(1)
    token = (rng.random((len(p), 1)) * cdf[:, -1:] < cdf).argmax(1)
    tokens = np.full((len(p), length + 1), -1)
    tokens[:, :length] = np.where(np.arange(length) < n[:, None], drafts, -1)
    tokens[rows, n] = token
    return tokens
