"""Rows of models as laws: checked, normalised in double precision, filtered, truncated by mass, drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import CaptureError
from .options import Filter

Law = NDArray[np.float64]

SUM_TOLERANCE = 1e-2
"""Largest |sum - 1| of a row of probabilities that a callable returns. Probabilities in bfloat16 are off by at most
2^-8 each, so the sum of a right row is off by at most 2^-8 = 0.004. The row is normalised after the check."""


def log_law(row: NDArray[Any], values: str, place: str) -> Law:
    """The row [V] as natural logarithms of normalised probabilities, in double precision.

    values: `logit` or `probability`.

    Raises: CaptureError, with the token, if the row is no law.
    """
    given = np.asarray(row, dtype=np.float64)
    bad = ~(given < np.inf) if values == "logit" else ~((given >= 0) & (given < np.inf))
    if bad.any():
        token = int(np.argmax(bad))
        wanted = "finite or -inf" if values == "logit" else "a probability"
        raise CaptureError(f"{place}, token {token}", str(given[token]), wanted)
    if values == "logit":
        largest = given.max(initial=-np.inf)
        if largest == -np.inf:
            raise CaptureError(place, "-inf for every token", "a token that can occur")
        shifted: Law = given - largest
        shifted -= np.log(np.exp(shifted).sum())
        return shifted
    total = float(given.sum())
    if not abs(total - 1) <= SUM_TOLERANCE:
        raise CaptureError(place, f"probabilities that sum to {total:.6g}", "1 (or values='logit')")
    with np.errstate(divide="ignore"):
        logs: Law = np.log(given / total)
    return logs


def padded(law: Law, vocabulary: int) -> Law:
    """The logarithms with -inf for the tokens that the model does not have."""
    if law.shape[0] == vocabulary:
        return law
    return np.concatenate([law, np.full(vocabulary - law.shape[0], -np.inf)])


def stored(log_laws: Sequence[Law], dtype: str) -> NDArray[Any]:
    """Rows as they are stored, [n, V]. Logarithms below the range of float16 become -inf; exp of them is 0 anyway."""
    with np.errstate(over="ignore"):
        return np.stack(log_laws).astype(dtype)


def law_of_stored(row: NDArray[Any]) -> Law:
    """The probabilities [V] that a reader finds in a stored row of logarithms or logits."""
    return np.exp(log_law(row, "logit", "stored row"))


def acceptance(p: Law, q: Law) -> float:
    """sum over x of min(p(x), q(x)), from logarithms: the probability that one draft of q is accepted."""
    return float(np.exp(np.minimum(p, q)).sum())


def filtered(log_row: Law, by: Filter) -> Law:
    """The probabilities [V] after temperature, top-k and top-p, normalised.

    Among equal tokens the lower id is kept, and temperature 0 takes the lowest id of the largest entry, as the
    program does on loading (captures/filter.hpp).
    """
    if by.temperature == 0:
        law = np.zeros_like(log_row)
        law[int(np.argmax(log_row))] = 1
        return law
    weights = np.exp((log_row - log_row.max()) / by.temperature)
    order = np.argsort(-log_row, kind="stable")
    if by.top_k:
        order = order[: by.top_k]
    if by.top_p < 1:
        mass = np.cumsum(weights[order])
        order = order[: int(np.searchsorted(mass, by.top_p * mass[-1])) + 1]
    law = np.zeros_like(weights)
    law[order] = weights[order]
    law /= law.sum()
    return law


def draw(law: Law, generator: np.random.Generator) -> int:
    """One token from probabilities [V], by inversion of one uniform number. No token of probability 0 is drawn."""
    sums = np.cumsum(law)
    token = int(np.searchsorted(sums, generator.random() * sums[-1], side="right"))
    return min(token, int(np.flatnonzero(law)[-1]))


def kept_tokens(log_laws: Sequence[Law], mass: float, most: int) -> NDArray[np.int64]:
    """Ids, ascending, of the tokens that hold `mass` of one of the laws, at most `most`.

    For each law the shortest descending run of at least that mass is taken. If there are too many, those with the
    largest probability under any of the laws stay, among equals the lower id.
    """
    kept: set[int] = set()
    for log_row in log_laws:
        order = np.argsort(-log_row, kind="stable")
        sums = np.cumsum(np.exp(log_row[order]))
        run = order[: int(np.searchsorted(sums, mass * sums[-1])) + 1]
        kept.update(int(x) for x in run if log_row[x] > -np.inf)
    ids = np.array(sorted(kept), dtype=np.int64)
    if len(ids) > most:
        largest = np.max(np.stack(log_laws)[:, ids], axis=0)
        ids = np.sort(ids[np.argsort(-largest, kind="stable")[:most]])
    return ids


def truncated(log_row: Law, ids: NDArray[np.int64]) -> tuple[Law, float]:
    """Probabilities of `ids`, and the probability of all other tokens, summed and not subtracted."""
    law = np.exp(log_row)
    others = np.ones(len(law), dtype=bool)
    others[ids] = False
    return law[ids], float(law[others].sum())
