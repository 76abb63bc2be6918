"""Rows of models as distributions: checked, normalised in double precision, filtered, truncated by mass, drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import CaptureError
from .options import Filter

Distribution = NDArray[np.float64]

SUM_TOLERANCE = 1e-2
"""Largest |sum - 1| of a row of probabilities that a callable returns. Probabilities in bfloat16 are off by at most
2^-8 each, so the sum of a right row is off by at most 2^-8 = 0.004. The row is normalised after the check."""


def log_distribution(row: NDArray[Any], values: str | None, place: str) -> Distribution:
    """Returns the row [V] as natural logarithms of normalised probabilities, in double precision.

    values: the kind of `row`, `logit` or `probability`; None for logits that may be probabilities by mistake.

    Raises: CaptureError if the row is not a distribution, or if `values` is None and the row looks like probabilities.
    """
    given = np.asarray(row, dtype=np.float64)
    bad = ~((given >= 0) & (given < np.inf)) if values == "probability" else ~(given < np.inf)
    if bad.any():
        token = int(np.argmax(bad))
        wanted = "a probability (or values='logit')" if values == "probability" else "finite or -inf"
        raise CaptureError(f"{place}, token {token}", str(given[token]), wanted)
    if values is None and looks_like_probabilities(given):
        found = f"numbers >= 0 of sum {given.sum():.6g}, as probabilities have"
        raise CaptureError(place, found, "logits: say values='probability', or values='logit' if they are logits")
    if values != "probability":
        largest = given.max(initial=-np.inf)
        if largest == -np.inf:
            raise CaptureError(place, "-inf for every token", "a token that can occur")
        shifted: Distribution = given - largest
        shifted -= np.log(np.exp(shifted).sum())
        return shifted
    total = float(given.sum())
    if not abs(total - 1) <= SUM_TOLERANCE:
        raise CaptureError(place, f"probabilities that sum to {total:.6g}", "1 (or values='logit')")
    with np.errstate(divide="ignore"):
        logs: Distribution = np.log(given / total)
    return logs


def looks_like_probabilities(row: Distribution) -> bool:
    """Whether a row [V] of finite numbers or -inf may be a result of softmax: not negative, of sum 1 up to rounding.

    Returns False for rows of equal numbers, every row of V = 1 among them: as logits they are the same distribution.

    Tolerance of the sum of p_i = e_i / S in a type with a significand of `bits` bits, u = 2^-bits: each quotient has a
    relative error of u, and S of u, plus V min(u, 2^-24) if it was added sequentially (half types are added in
    float32). If p_i = exp(l_i), l_i has an error of u |l_i|, which changes the sum by u times the entropy, at most
    u ln V. Twice the total covers products of these errors and float16's subnormal numbers, with an error of 2^-25
    each. Because rows are often widened before, `bits` is the fewest bits that represent all numbers of the row.

    The probability that logits with a joint density of at most f^V pass with tolerance t is at most f^V times the
    volume ((1 + t)^V - (1 - t)^V) / V! of the set where all are >= 0 and sum to 1 +- t. Normal logits of standard
    deviation 1 have f = 0.4, so the probability is at most 2e-7 at V = 2 and 1e-12 at V = 8 in float32, 1e-2 and 1e-8
    in bfloat16, and below 1e-40 from V = 32 on in any type.
    """
    if not (row >= 0).all() or row.min() == row.max():
        return False
    significand, v = np.frexp(row)[0], len(row)
    bits = next((b for b in (8, 11, 24) if (np.ldexp(significand, b) % 1 == 0).all()), 53)
    unit = 2.0**-bits
    return abs(float(row.sum()) - 1) <= 2 * (unit * (2 + float(np.log(v))) + v * min(unit, 2.0**-24))


def padded(distribution: Distribution, vocabulary: int) -> Distribution:
    """Returns the logarithms, with -inf for tokens of the common vocabulary that the model does not have."""
    if distribution.shape[0] == vocabulary:
        return distribution
    return np.concatenate([distribution, np.full(vocabulary - distribution.shape[0], -np.inf)])


def stored(log_distributions: Sequence[Distribution], dtype: str) -> NDArray[Any]:
    """Returns the rows as they are stored, [n, V]. A logarithm below the range of float16 (-65504) becomes -inf; its
    exp is 0 in double precision, too."""
    with np.errstate(over="ignore"):
        return np.stack(log_distributions).astype(dtype)


def distribution_of_stored(row: NDArray[Any]) -> Distribution:
    """Returns the probabilities [V] of a stored row of logarithms or logits."""
    return np.exp(log_distribution(row, "logit", "stored row"))


def acceptance(p: Distribution, q: Distribution) -> float:
    """Returns sum over x of min(p(x), q(x)), the probability that one draft of q is accepted.

    p, q: [V], as logarithms.
    """
    return float(np.exp(np.minimum(p, q)).sum())


def filtered(log_row: Distribution, by: Filter) -> Distribution:
    """Returns the probabilities [V] after temperature, top-k and top-p, normalised.

    Among equally likely tokens the lower id is kept, and temperature 0 takes the lowest id of the largest entry, as
    the program does when it loads rows (captures/filter.hpp).
    """
    if by.temperature == 0:
        distribution = np.zeros_like(log_row)
        distribution[int(np.argmax(log_row))] = 1
        return distribution
    weights = np.exp((log_row - log_row.max()) / by.temperature)
    order = _likeliest(log_row, by.top_k or len(log_row))
    if by.top_p < 1:
        mass = np.cumsum(weights[order])
        order = order[: int(np.searchsorted(mass, by.top_p * mass[-1])) + 1]
    distribution = np.zeros_like(weights)
    distribution[order] = weights[order]
    distribution /= distribution.sum()
    return distribution


def draw(distribution: Distribution, generator: np.random.Generator) -> int:
    """Draws a token from probabilities [V], by inversion of one uniform number. A token of probability 0 is never
    drawn."""
    sums = np.cumsum(distribution)
    token = int(np.searchsorted(sums, generator.random() * sums[-1], side="right"))
    return min(token, int(np.flatnonzero(distribution)[-1]))


def kept_tokens(log_distributions: Sequence[Distribution], mass: float, most: int) -> NDArray[np.int64]:
    """Returns the ids, ascending, of at most `most` tokens that cover the probability `mass` of each distribution.

    For each distribution, the fewest likeliest tokens with at least that mass are taken. If these are more than
    `most`, the tokens with the largest probability under any distribution stay, among equal ones the lower id.
    """
    kept = np.zeros(len(log_distributions[0]), dtype=bool)
    for log_row in log_distributions:
        run = _run(log_row, mass)
        kept[run[log_row[run] > -np.inf]] = True
    ids = np.flatnonzero(kept)
    if len(ids) > most:
        largest = np.max(np.stack(log_distributions)[:, ids], axis=0)
        ids = np.sort(ids[np.argsort(-largest, kind="stable")[:most]])
    return ids


def _run(log_row: Distribution, mass: float) -> NDArray[np.int64]:
    """Returns the fewest likeliest ids that cover `mass` of a distribution, the likeliest first.

    Cost: a sort of at most 8 times as many entries as are returned, at least 4,096; a sort of a whole row of 262,144
    tokens takes longer than a pass of a small model.
    """
    wanted = mass * float(np.exp(log_row).sum())
    count = 4096
    while True:
        order = _likeliest(log_row, count)
        sums = np.cumsum(np.exp(log_row[order]))
        if len(order) == len(log_row):
            wanted = mass * sums[-1]  # With another order of additions the sum may not reach the mass 1.
        if sums[-1] >= wanted:
            return order[: int(np.searchsorted(sums, wanted)) + 1]
        count *= 8


def _likeliest(log_row: Distribution, count: int) -> NDArray[np.int64]:
    """Returns the ids of the `count` largest entries, the largest first; among equal ones the lower id comes first."""
    ids = np.arange(len(log_row))
    if count < len(log_row):
        least = np.partition(log_row, len(log_row) - count)[len(log_row) - count]
        ids = np.flatnonzero(log_row >= least)
    chosen: NDArray[np.int64] = ids[np.argsort(-log_row[ids], kind="stable")][:count]
    return chosen


def truncated(log_row: Distribution, ids: NDArray[np.int64]) -> tuple[Distribution, float]:
    """Returns the probabilities of `ids`, and the sum of all other probabilities. The sum is computed by addition,
    because 1 minus the probabilities of `ids` would lose digits by cancellation."""
    distribution = np.exp(log_row)
    others = np.ones(len(distribution), dtype=bool)
    others[ids] = False
    return distribution[ids], float(distribution[others].sum())
