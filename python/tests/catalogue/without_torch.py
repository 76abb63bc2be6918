"""Wrong and right verifiers in numpy and plain Python."""

from __future__ import annotations

import random

import numpy as np

from catalogue import right, wrong

HALF = "L=1 K=1 [] p=(1 1)/2 q=(0 1)/1"


def left_of(p, q):
    """Returns (p - q)+ along the last axis, or p where this is all zero."""
    rest = np.maximum(p - q, 0)
    return np.where(rest.any(-1, keepdims=True), rest, p)


def rest_of(p, q):
    """Returns (p - q)+ of two lists, which may be all zero."""
    return [max(a - b, 0.0) for a, b in zip(p, q, strict=True)]


def choice(rng, weights):
    weights = np.asarray(weights, np.float64)
    return rng.choice(len(weights), p=weights / weights.sum() if weights.any() else weights)


def choices(weights):
    return random.choices(range(len(weights)), weights)[0]


@wrong("A rejected draft is replaced by a draw from p.", arrays="numpy", on=HALF)
def numpy_residual_is_target(p, q, drafts, *, rng):
    for i, x in enumerate(drafts):
        if not rng.random() * q[i, x] < p[i, x]:
            return [*drafts[:i], choice(rng, p[i])]
    return [*drafts, choice(rng, p[-1])]


@wrong("A coin of 0 accepts a draft with p = 0.", "zero_support", "L=1 K=1 [] p=(0 1)/1 q=(1 0)/1", arrays="numpy")
def numpy_accept_equal(p, q, drafts):
    for i, x in enumerate(drafts):
        if not np.random.rand() <= min(1.0, p[i, x] / q[i, x]):
            return [*drafts[:i], choice(np.random, np.maximum(p[i].astype(float) - q[i], 0))]
    return [*drafts, choice(np.random, p[-1])]


@wrong(
    "A Python float times a float32 is a float32: the coin becomes 1, and a draft with p = q is rejected.",
    "answers",
    "L=1 K=1 [] p=(0 1)/1 q=(0 1)/1",
    arrays="numpy",
)
def numpy_coin_narrowed(p, q, drafts, *, rng):
    for i, x in enumerate(drafts):
        if not rng.random() * q[i, x] < p[i, x]:
            return [*drafts[:i], choice(rng, np.maximum(p[i].astype(np.float64) - q[i], 0))]
    return [*drafts, choice(rng, p[-1])]


@wrong("The coin that rejected also draws from the residual.", arrays="list", on="L=1 K=1 [] p=(1 1 1)/3 q=(0 0 1)/1")
def python_coin_reused(p, q, drafts):
    for i, x in enumerate(drafts):
        u = random.random()
        if u * q[i][x] >= p[i][x]:
            rest = rest_of(p[i], q[i])
            reached, v = 0.0, u * sum(rest)
            for token, weight in enumerate(rest):
                reached += weight
                if v < reached:
                    return [*drafts[:i], token]
    return [*drafts, choices(p[-1])]


@wrong(
    "The token after the last draft comes from the row before it.",
    on="L=1 K=1 [] p=(1 0)/1 q=(1 0)/1 [0] p=(0 1)/1 q=(1 0)/1",
    arrays="list",
)
def python_bonus_of_last_draft(p, q, drafts):
    for i, x in enumerate(drafts):
        if random.random() * q[i][x] >= p[i][x]:
            return [*drafts[:i], choices(rest_of(p[i], q[i]))]
    return [*drafts, choices(p[-2])]


@right("numpy's module functions, all coins at once, inversion by searchsorted.", arrays="numpy")
def numpy_legacy(p, q, drafts):
    at = np.arange(len(drafts))
    accepted = np.random.random(len(drafts)) * q[at, drafts] < p[at, drafts]
    n = int(np.cumprod(accepted).sum())
    weights = p[n].astype(np.float64)
    if n < len(drafts):
        weights = left_of(weights, q[n])
    cdf = np.cumsum(weights)
    return np.append(drafts[:n], np.searchsorted(cdf, np.random.rand() * cdf[-1], side="right"))


@right("Recursion over positions, inversion by subtraction.", arrays="list")
def recursive_python(p, q, drafts):
    def inverted(weights):
        left = random.random() * sum(weights)
        for token, weight in enumerate(weights):
            left -= weight
            if left < 0:
                return token
        return max(token for token, weight in enumerate(weights) if weight > 0)

    if not drafts:
        return [inverted(p[0])]
    x = drafts[0]
    if random.random() * q[0][x] < p[0][x]:
        return [x, *recursive_python(p[1:], q[1:], drafts[1:])]
    rest = rest_of(p[0], q[0])
    return [inverted(rest if any(rest) else p[0])]


@right("numpy, rows side by side.", arrays="numpy", batched=True)
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
