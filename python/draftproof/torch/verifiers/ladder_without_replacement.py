"""The ladder for drafts without replacement: selects one of K drafts such that its distribution is the best possible,
then verifies it as a single draft.

The breaks of ladder_plan.py that are up, with the f of ladder_race.py, cut the bins into groups. The group of the draft
with the highest p / q is taken; the choice among its drafts depends on the order of the draw.

    H, G, Z    bins above the group taken, the group, the bins below it
    g_1 .. g_j drafts in G, in the order of the draw
    k          j minus the number of tokens of Z that ring before any of H if the race goes on after the drafts; >= 1

If H is empty, g_1 is chosen. Otherwise g_i is chosen with probability q(g_i) / q(G) if i < k, and g_k with the rest.
Correctness: the choice has distribution q on G given that G is hit and H is not. The distribution of the selected draft
is thus known for any levels and bins (docs/ladder.md, "Without replacement"), and verifying it is lossless.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from ..draws import Uniforms, inverse
from ..inputs import Options, position, want_count
from ..kernels import verified
from ..ladder_choice import group_of, number_distribution, verify_selected
from ..ladder_plan import Plan, plan
from ..ladder_race import FAINTEST, coverage
from ..rows import Temperature
from .recursive_rejection_without_replacement import want_distinct, want_drafted

SINGLES = 1024
"""With `buckets`, the SINGLES + K - 1 tokens of largest q have a bin each. Any other token has less than 1 / 1024 of
the q-mass outside the K - 1 largest tokens, so the sums of the first seven powers of q suffice (ladder_race.py)."""


def ladder_without_replacement(
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
    buckets: int | None = None,
) -> tuple[Tensor, Tensor]:
    """The ladder for K different drafts of one proposal, each drawn from q without the drafts before it. No lossless
    rule for such drafts accepts more often.

    Rows of p and q are normalised in float64. Drafts with less than 2^-960 of the mass of q are ignored.

    Where the library of CUDA kernels is built, rows on a device are decided by a kernel (docs/python-verifiers.md).

    Args:
        p: target [B, V]. Any floating type.
        q: proposal [B, V]; draft k was drawn from q without the drafts before it.
        drafts: [B, K], any integer type, in the order of the draw (`draft_gumbel_top_k`); -1 after the drafts of a
            row, which must not depend on the tokens, as where q has fewer than K tokens.
        lengths: [B], number of drafts of each row. By default drafts end before the first -1.
        logits: whether p and q are logits (natural logarithms up to a constant) rather than probabilities.
        temperature: divides logits; a number or a tensor [B], above 0.
        generator: source of the random numbers; the global one of the device by default.
        uniforms: [B, K + 3] of [0, 1) instead of a generator. A row reads one for the levels; if its group has several
            drafts and is not the first, one for the choice, and unless that is g_1 one for each step of the race; one
            for the test, and one for its token if the test fails.
        check: whether to check values, by two passes over all rows.
        buckets: bins of equal log p / q from 2^8 to 2^-8 instead of a sort, for all but the 1,024 + K - 1 tokens of
            largest q: lossless, slightly below the optimum. By default single tokens.

    Returns:
        token [B] int64; index [B] of the accepted draft, -1 for none.

    Raises:
        ValueError: for shapes, types, devices or values that do not fit, a repeated draft, or a draft with q = 0 among
            them; the message has the location.

    Cost: that of `ladder`; for K > 2 O(K^2 n M) more for n bins and M nodes of an integral (ladder_race.py); a pass
        over a row for each step of a race.
    Source: derived here, docs/ladder.md, "Without replacement"; the optimum is that of Hu et al., arXiv:2502.18779.
    """
    if buckets is not None:
        want_count("buckets", buckets, 1)
    given = Options(lengths, logits, temperature, generator, uniforms, check)
    if buckets is None and (found := verified("ladder_wor", p, q, drafts, given)) is not None:
        return found
    at = position(p, q, drafts, 3, given)
    if check:
        want_distinct(at.drafts, at.there)
        want_drafted(at.drafts, at.there, at.q.of(at.drafts))
    k, q_rows = drafts.shape[1], at.q.single()
    # Tokens with less than FAINTEST of the mass are the last drafts, with a probability of at least 1 - V FAINTEST.
    # Without them, the first drafts are those of a row that lacks these tokens.
    q_rows = torch.where(q_rows < FAINTEST * q_rows.sum(1, keepdim=True), 0.0, q_rows)
    at = replace(at, lengths=(at.there & (q_rows.gather(1, at.drafts) > 0)).sum(1))
    made = plan(
        at.p.single(),
        q_rows,
        number_distribution(at.lengths, k),
        buckets,
        SINGLES + max(k, 1) - 1,
        lambda q_rows, bins, q_bin: coverage(q_rows, bins, q_bin, at.lengths),
    )
    chosen, bin_ = choose_distinct(made, at.drafts, at.there, at.uniforms)
    return verify_selected(at, made, chosen, bin_)


def choose_distinct(made: Plan, drafts: Tensor, there: Tensor, uniforms: Uniforms) -> tuple[Tensor, Tensor]:
    """Returns index and bin of the selected draft, [R].

    Cost: for each of at most K - 1 steps, a pass over the rows whose race goes on.
    """
    if drafts.shape[1] == 0:
        none = torch.zeros(len(drafts), dtype=torch.int64, device=drafts.device)
        return none, none
    bins, group, a, b = group_of(made, drafts, there, uniforms)
    size = group.sum(1)
    top, end = (made.s.gather(1, place[:, None]).squeeze(1) for place in (a, b))
    asked = (size > 1) & (top > 0)
    # Number, from 0, of the draft that a draw from q restricted to G gives. If the draw gives a token that is not
    # drafted, it is the number of the last draft of the group.
    masses = torch.where(group, made.q.gather(1, drafts), 0.0).cumsum(1)
    goal = uniforms.take(asked) * torch.maximum(end - top, masses[:, -1])
    wanted = torch.minimum((group & (masses <= goal[:, None])).sum(1), size - 1) * asked
    left = size - 1  # k - 1
    rows = (wanted > 0).nonzero().squeeze(1)
    seen = torch.zeros_like(made.q[rows]).scatter_add_(1, drafts[rows], there[rows].double())
    below = torch.where((made.bins[rows] >= b[rows, None]) & (seen == 0), made.q[rows], 0.0)
    while len(rows) > 0:
        u = uniforms.of(rows).take(torch.ones_like(rows, dtype=torch.bool))
        cell = inverse(torch.cat([top[rows, None], below], dim=1), u[:, None])[0].squeeze(1)
        left[rows] -= (cell > 0).long()
        live = ((cell > 0) & (left[rows] > 0)).nonzero().squeeze(1)
        rows, below = rows[live], below[live].scatter(1, cell[live, None] - 1, 0.0)
    rank = torch.minimum(wanted, left)
    chosen = (group & (group.cumsum(1) == rank[:, None] + 1)).long().argmax(1)
    return chosen, bins.gather(1, chosen[:, None]).squeeze(1).clamp(max=made.size - 1)
