"""Slips in numpy and in plain Python."""

from __future__ import annotations

import random

import numpy as np
from catalogue import slip

HALF = "L=1 K=1 [] p=(1 1)/2 q=(0 1)/1"
SURE = "L=1 K=1 [] p=(0 1)/1 q=(1 0)/1"


@slip("A rejected draft is replaced by a draw from p.", arrays="numpy", on=HALF)
def numpy_residual_is_target(p, q, drafts, *, rng):
    for i, x in enumerate(drafts):
        if not rng.random() * q[i, x] < p[i, x]:
            return [*drafts[:i], rng.choice(len(p[i]), p=p[i] / p[i].sum())]
    return [*drafts, rng.choice(len(p[-1]), p=p[-1] / p[-1].sum())]


@slip("A coin of 0 accepts a draft with p = 0.", "zero_support", SURE, arrays="numpy")
def numpy_accept_equal(p, q, drafts):
    for i, x in enumerate(drafts):
        if np.random.rand() <= min(1.0, p[i, x] / q[i, x]):
            continue
        rest = np.maximum(p[i].astype(float) - q[i], 0)
        return [*drafts[:i], np.random.choice(len(rest), p=rest / rest.sum())]
    return [*drafts, np.random.choice(p.shape[1], p=p[-1] / p[-1].astype(float).sum())]


@slip(
    "A Python float times a float32 is a float32: the coin becomes 1, and a draft with p = q is rejected.",
    "answers",
    "L=1 K=1 [] p=(0 1)/1 q=(0 1)/1",
    arrays="numpy",
)
def numpy_coin_narrowed(p, q, drafts, *, rng):
    for i, x in enumerate(drafts):
        if not rng.random() * q[i, x] < p[i, x]:
            rest = np.maximum(p[i].astype(np.float64) - q[i], 0)
            return [*drafts[:i], rng.choice(len(rest), p=rest / rest.sum() if rest.any() else rest)]
    last = p[-1].astype(np.float64)
    return [*drafts, rng.choice(len(last), p=last / last.sum())]


@slip("The coin that rejected also draws from the residual.", arrays="list", on="L=1 K=1 [] p=(1 1 1)/3 q=(0 0 1)/1")
def python_coin_reused(p, q, drafts):
    for i, x in enumerate(drafts):
        u = random.random()
        if u * q[i][x] >= p[i][x]:
            rest = [max(a - b, 0.0) for a, b in zip(p[i], q[i], strict=True)]
            reached, v = 0.0, u * sum(rest)
            for token, weight in enumerate(rest):
                reached += weight
                if v < reached:
                    return [*drafts[:i], token]
    return [*drafts, random.choices(range(len(p[-1])), p[-1])[0]]


@slip(
    "The token after the last draft comes from the row before it.",
    on="L=1 K=1 [] p=(1 0)/1 q=(1 0)/1 [0] p=(0 1)/1 q=(1 0)/1",
    arrays="list",
)
def python_bonus_of_last_draft(p, q, drafts):
    for i, x in enumerate(drafts):
        if random.random() * q[i][x] >= p[i][x]:
            rest = [max(a - b, 0.0) for a, b in zip(p[i], q[i], strict=True)]
            return [*drafts[:i], random.choices(range(len(rest)), rest)[0]]
    return [*drafts, random.choices(range(len(p[-2])), p[-2])[0]]
