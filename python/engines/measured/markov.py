"""Markov chains as texts: tables of next-token distributions, and e-values of texts against them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

VOCABULARY = 6
WEIGHTS = [10.0**n for n in range(7)]  # values of c in `log_e`


def table(seed: int, certain: bool = False) -> Any:
    """Returns distributions of the next token, [V, V], with random weights 1 .. 9. `certain`: each row has all of its
    mass on its largest weight."""
    weights = np.random.default_rng(seed).integers(1, 10, (VOCABULARY, VOCABULARY)).astype(float)
    if certain:
        weights = np.eye(VOCABULARY)[weights.argmax(1)]
    return weights / weights.sum(1, keepdims=True)


def counted(text: Any) -> list[Any]:
    """Returns how often each token follows each context of 1, 2 and 3 tokens: [V^length, V] for each length. Contexts
    that begin before the text are filled up with token 0."""
    tokens = np.concatenate([np.zeros(4, np.int64), np.asarray(text, np.int64)])
    found = []
    for length in (1, 2, 3):
        context = sum(tokens[4 - i : len(tokens) - i] * VOCABULARY ** (i - 1) for i in range(1, length + 1))
        cells = np.bincount(context * VOCABULARY + tokens[4:], minlength=VOCABULARY ** (length + 1))
        found.append(cells.reshape(-1, VOCABULARY))
    return found


def log_e(counts: list[Any], target: Any) -> float:
    """Returns log10 of the e-value of texts after token 0. Each token is predicted with probability (c p + count) /
    (c + total), where the counts are of earlier tokens after the same context. The e-value is the product of prediction
    / p over tokens, averaged over contexts of 1, 2 and 3 tokens and over c.

    Each product over tokens is a ratio of gamma functions of the counts for each context, whatever the order in which
    texts grew. The average is a test martingale, so it reaches x with probability at most 1 / x (docs/adapters.md,
    whole engines).
    """
    logs = []
    for of_length in counts:
        for c in WEIGHTS:
            total = 0.0
            for row, seen in enumerate(of_length.tolist()):
                if not sum(seen):
                    continue
                total += math.lgamma(c) - math.lgamma(c + sum(seen))
                for p, n in zip(target[row % VOCABULARY].tolist(), seen, strict=True):
                    if n and not p > 0:
                        return math.inf
                    total += math.lgamma(c * p + n) - math.lgamma(c * p) - n * math.log(p) if n else 0.0
            logs.append(total)
    # The average is over 3 lengths of contexts; the value of a length that is not in `counts` is taken as 0.
    most, bets = max(logs), len(WEIGHTS) * 3
    return (most + math.log(sum(math.exp(x - most) for x in logs) / bets)) / math.log(10)


def likelier(target: Any) -> Any:
    """Returns [V, V]: whether a token is in the smallest set of likeliest tokens of its row with half of the mass."""
    order = (-target).argsort(1)
    ranked = np.take_along_axis(target, order, 1)
    likely = np.zeros(target.shape, bool)
    np.put_along_axis(likely, order, np.cumsum(ranked, 1) - ranked < 0.5, 1)
    return likely


def least_seen(target: Any, tokens: int, count: int) -> float:
    """Returns the least total variation that `count` texts of `tokens` tokens reveal: if this mass is moved in each row
    from the `likelier` tokens to the other tokens, the product of the texts' e-values is 10^9. The e-values are
    computed from expected counts, for contexts of one token only."""
    likely = likelier(target)
    mass = (target * likely).sum(1, keepdims=True)

    def after(share: float) -> float:
        distribution = np.where(likely, target * (1 - share / mass), target * (1 + share / (1 - mass)))
        stationary = np.linalg.matrix_power(distribution, 64)[0]
        return count * log_e([tokens * stationary[:, None] * distribution], target)

    low, high = 0.0, 0.4
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if after(middle) >= 9 else (middle, high)
    return high


def distance(counts: list[Any], target: Any) -> float:
    """Returns the total variation between counts and target for the next token, as a mean over the token before it."""
    totals = counts[0].sum(1)
    seen = counts[0] / totals.clip(1)[:, None]
    return float((totals / totals.sum() * np.abs(seen - target).sum(1) / 2).sum())
