"""K independent draws of one proposal."""

from __future__ import annotations

import torch
from torch import Tensor

from ..draws import Uniforms, inverse
from ..inputs import Options, want_count, want_rows, want_temperature, want_tensors
from ..rows import Rows, Temperature


def draft_iid(
    q: Tensor,
    k: int,
    *,
    logits: bool = False,
    temperature: Temperature = None,
    generator: torch.Generator | None = None,
    uniforms: Tensor | None = None,
    check: bool = True,
) -> Tensor:
    """Draws k tokens of each row, with replacement, by the inverse of its running sums.

    Args:
        q: proposal [B, V]. Any floating type.
        k: number of drafts of a row.
        logits: whether q is logits (natural logarithms up to a constant) rather than probabilities.
        temperature: divides logits; a number or a tensor [B], above 0.
        generator: source of the random numbers; the global one of the device by default.
        uniforms: [B, k] of [0, 1) instead of a generator, one for each draft in order.
        check: whether to check values, by two passes over the rows.

    Returns:
        drafts [B, k] int64. A token with q = 0 is never drawn.

    Raises:
        ValueError: for shapes, types, devices or values that do not fit; the message has the location.

    Cost: one pass over q; O(k sqrt V) a row for the draws.
    Source: inversion, Devroye 1986, Non-Uniform Random Variate Generation, chapter III.2.
    """
    Options(None, logits, temperature, generator, uniforms, check)  # checks their types
    want_tensors(q=q)
    want_rows("q", q, ("B", "V"), q.device)
    want_temperature(logits, temperature, len(q))
    want_count("k", k, 0)
    rows = Rows("q", q[:, None], logits, temperature)
    numbers = Uniforms(len(q), k, q.device, generator, uniforms)
    if check:
        rows.check(torch.ones(len(q), dtype=torch.int64, device=q.device))
        numbers.check()
    return inverse(rows.single(), numbers.values)[0]
