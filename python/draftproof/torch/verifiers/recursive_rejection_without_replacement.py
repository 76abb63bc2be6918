"""Recursive rejection of drafts drawn without replacement.

    b     parameter of the residual (p - b q)+; 0 is the target itself
    F(b)  mass of (p - b q)+; 1 for b = 0
    m     share of the proposal mass outside the drafts so far; 1 before the first
    test  u F(b) q(x) < (p(x) - b q(x)) m; after a rejection b grows by F(b) / m

Correctness: a token is rejected only if its mass in the next residual is 0, so the residual depends on the rejected
drafts through b and m alone.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..endings import above, one_token
from ..inputs import Options, position
from ..kernels import verified
from ..rows import Temperature


def recursive_rejection_without_replacement(
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
    """Recursive rejection of K different drafts of one proposal, each drawn from q without the drafts before it.

    Where the library of CUDA kernels is built, rows on a device are decided by a kernel (docs/python-verifiers.md).

    Args:
        p: target [B, V]. Any floating type.
        q: proposal [B, V]; draft k was drawn from q without the drafts before it.
        drafts: [B, K], any integer type, in the order of the draw (`draft_gumbel_top_k`); -1 after the drafts of a
            row, as where q has fewer than K tokens.
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
        ValueError: for shapes, types, devices or values that do not fit, a repeated draft, or a draft with q = 0 among
            them; the message has the location.

    Cost: K look-ups, and a pass over p and q for each rejection. Each test reads from the device which rows take part.
    Source: Jeon et al. 2024 (RSD), arXiv:2402.14160; Chen et al. 2024 (Sequoia), arXiv:2402.12374.
    """
    given = Options(lengths, logits, temperature, generator, uniforms, check)
    if (found := verified("recursive_rejection_wor", p, q, drafts, given)) is not None:
        return found
    at = position(p, q, drafts, 1, given)
    there = at.there
    if check:
        want_distinct(at.drafts, there)
        want_drafted(at.drafts, there, at.q.of(at.drafts))
    b = torch.zeros(len(p), dtype=torch.float64, device=at.device)
    mass, unseen = torch.ones_like(b), torch.ones_like(b)
    accepted = torch.full_like(at.lengths, -1)
    most = torch.finfo(torch.float64).max  # limit of b: mass / 0 is inf, and inf times q = 0 is NaN
    for k in range(drafts.shape[1]):
        tested = there[:, k] & (accepted < 0)
        x = at.drafts[:, k : k + 1]
        q_x = at.q.of(x).squeeze(1)
        wanted = at.p.of(x).squeeze(1) - b * q_x
        passed = tested & (at.uniforms.take(tested) * (mass * q_x) < wanted * unseen)
        accepted = torch.where(passed, k, accepted)
        rows = (tested & ~passed).nonzero().squeeze(1)
        if len(rows) == 0:
            continue
        b[rows] = (b[rows] + mass[rows] / unseen[rows]).clamp(max=most)
        proposal = at.q.single(rows)
        left = proposal.scatter(1, at.drafts[rows, : k + 1], 0.0)
        unseen[rows] = left.sum(1) / proposal.sum(1)
        mass[rows] = above(at.p.single(rows), proposal.mul_(b[rows, None])).sum(1)
        # If p(x) > b q(x) but the residual is empty, the test failed only by rounding, and the draft is accepted.
        rounded = rows[~(mass[rows] > 0) & (wanted[rows] > 0)]
        accepted[rounded] = k
    last = at.uniforms.take(accepted < 0)

    def residual(rows: Tensor) -> Tensor:
        return above(at.p.single(rows), at.q.single(rows).mul_(b[rows, None]))

    return one_token(at.drafts, accepted, last, residual, at.p.single)


def want_distinct(drafts: Tensor, there: Tensor) -> None:
    """Raises: ValueError at the first draft that repeats an earlier draft."""
    same = (drafts[:, :, None] == drafts[:, None, :]) & there[:, :, None] & there[:, None, :]
    bad = same.tril(-1).nonzero()
    if len(bad) > 0:
        i, k, j = (int(x) for x in bad[0])
        raise ValueError(f"drafts[{i}, {k}]: got {int(drafts[i, k])}, which is draft {j} too, expected another token")


def want_drafted(drafts: Tensor, there: Tensor, proposal: Tensor) -> None:
    """Raises: ValueError at the first draft with q = 0."""
    bad = (there & ~(proposal > 0)).nonzero()
    if len(bad) > 0:
        i, k = (int(x) for x in bad[0])
        raise ValueError(f"drafts[{i}, {k}]: got {int(drafts[i, k])} with q = 0, expected a token that q can give")
