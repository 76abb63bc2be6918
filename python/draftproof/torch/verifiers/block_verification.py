"""Block verification of a chain: accepts the largest prefix whose test on the product of ratios succeeds (block.py)."""

from __future__ import annotations

import torch
from torch import Tensor

from ..block import verify_block
from ..endings import with_extra
from ..inputs import Options, chain
from ..rows import Temperature


def block_verification(
    p: Tensor,
    q: Tensor,
    drafts: Tensor,
    *,
    lengths: Tensor | None = None,
    logits: bool = False,
    temperature: Temperature = None,
    generator: torch.Generator | None = None,
    uniforms: Tensor | None = None,
    check: bool = True,
) -> tuple[Tensor, Tensor]:
    """Block verification. No lossless rule that reads one chain once accepts more tokens on average.

    Args:
        p: target rows [B, L + 1, V]; row i is the distribution after i drafts. Any floating type.
        q: proposal rows [B, L, V]; draft i was drawn from row i.
        drafts: [B, L], any integer type; -1 after the length of a row.
        lengths: [B], number of drafts of each row. By default drafts end before the first -1.
        logits: whether p and q are logits (natural logarithms up to a constant) rather than probabilities.
        temperature: divides logits; a number or a tensor [B], above 0.
        generator: source of the random numbers; the global one of the device by default.
        uniforms: [B, L + 1] of [0, 1) instead of a generator. A row reads one for the whole chain, then one for each
            shorter prefix that is tested (block.py), and the next one for its last token.
        check: whether to check values, by two passes over all rows.

    Returns:
        tokens [B, L + 1] int64, the accepted drafts and one more token, then -1; counts [B] of emitted tokens.

    Raises:
        ValueError: for shapes, types, devices or values that do not fit; the message has the location.

    Cost: one row of p and q for each test below the end of the chain, and for the last token; with logits one pass over
    all rows. A test reads from the device which rows take part.
    Source: Sun et al. 2025, arXiv:2403.10444.
    """
    at = chain(p, q, drafts, Options(lengths, logits, temperature, generator, uniforms, check))
    p_at, q_at = at.p.at(at.drafts), at.q.at(at.drafts)

    def pair(rows: Tensor, places: Tensor) -> tuple[Tensor, Tensor]:
        return at.p.row(rows, places), at.q.row(rows, places)

    accepted, extra = verify_block(p_at, q_at, at.lengths, at.p.row, pair, at.uniforms)
    return with_extra(at.drafts, accepted, extra)
