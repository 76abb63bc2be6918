"""Recursive rejection of i.i.d. drafts: tests the drafts in turn; each rejection gives a new residual.

    b     parameter of the residual (p - b q)+; 0 is the target itself
    F(b)  mass of (p - b q)+; 1 for b = 0
    test  accepts draft x if u F(b) q(x) < p(x) - b q(x) for a uniform u; after a rejection b grows by F(b)

Correctness: after a rejection at b, the tokens that are still to be emitted have the masses (p - (b + F(b)) q)+.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..endings import above, one_token
from ..inputs import Options, position
from ..kernels import verified
from ..rows import Temperature


def recursive_rejection(
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
    """Recursive rejection of K i.i.d. drafts of one proposal.

    Where the library of CUDA kernels is built, rows on a device are decided by a kernel (docs/python-verifiers.md).

    Args:
        p: target [B, V]. Any floating type.
        q: proposal [B, V] that each draft was drawn from.
        drafts: [B, K], any integer type, drawn with replacement (`draft_iid`); -1 after the drafts of a row.
        lengths: [B], number of drafts of each row. By default drafts end before the first -1.
        logits: whether p and q are logits (natural logarithms up to a constant) rather than probabilities.
        temperature: divides logits; a number or a tensor [B], above 0.
        generator: source of the random numbers; the global one of the device by default.
        uniforms: [B, K + 1] of [0, 1) instead of a generator. A row reads one for each tested draft, in order, and
            after the last rejection one for its token.
        check: whether to check values, by two passes over all rows.

    Returns:
        token [B] int64; index [B] of the accepted draft, -1 for none.

    Raises:
        ValueError: for shapes, types, devices or values that do not fit; the message has the location.

    Cost: K look-ups, and a pass over p and q for each rejection. Each test reads from the device which rows take part.
    Source: multi-step speculative sampling of Miao et al. 2023 (SpecInfer), arXiv:2305.09781, algorithm 2.
    """
    given = Options(lengths, logits, temperature, generator, uniforms, check)
    if (found := verified("recursive_rejection", p, q, drafts, given)) is not None:
        return found
    at = position(p, q, drafts, 1, given)
    there = at.there
    b = torch.zeros(len(p), dtype=torch.float64, device=at.device)
    mass = torch.ones_like(b)
    accepted = torch.full_like(at.lengths, -1)
    for k in range(drafts.shape[1]):
        tested = there[:, k] & (accepted < 0)
        x = at.drafts[:, k : k + 1]
        p_x, q_x = at.p.of(x).squeeze(1), at.q.of(x).squeeze(1)
        passed = tested & (at.uniforms.take(tested) * (mass * q_x) < p_x - b * q_x)
        accepted = torch.where(passed, k, accepted)
        b = b + torch.where(tested, mass, 0.0)
        rows = (tested & ~passed).nonzero().squeeze(1)
        if len(rows) == 0:
            continue
        mass[rows] = above(at.p.single(rows), at.q.single(rows).mul_(b[rows, None])).sum(1)
    last = at.uniforms.take(accepted < 0)

    def residual(rows: Tensor) -> Tensor:
        return above(at.p.single(rows), at.q.single(rows).mul_(b[rows, None]))

    return one_token(at.drafts, accepted, last, residual, at.p.single)
