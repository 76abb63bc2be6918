"""Block verification of one path whose tokens were drawn from known rows.

    p_i, q_i    target and proposal of token i + 1 after node i, i = 0 .. L - 1
    c_i         c_0 = 1, c_(i+1) = min(1, c_i p_i / q_i)
    A_i         sum over the vocabulary of (c_i p - q)+ after node i

Test i < L succeeds with probability A_i / (A_i + 1 - c_i), test L with probability c_L. The highest test that succeeds
gives the accepted tokens. The correction after node i < L has weights (c_i p - q)+; the bonus after node L has p.
Correctness: the mass accepted at a node or below it is a(x) = q(x) c(x), so a(xy) = min(q(xy), a(x) p(y|x)), and the
correction emits y with the remaining mass, a(x) p(y|x) - a(xy).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import torch
from torch import Tensor

from .draws import Uniforms, draw
from .endings import above

Row: TypeAlias = Callable[[Tensor, Tensor], Tensor]
"""A function of batch rows [R] and positions [R]. Returns rows [R, V], float64, in new memory."""
Pair: TypeAlias = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
"""A function with the arguments of a Row. Returns the rows of p and the rows of q, as a Row does."""


def verify_block(
    p_at: Tensor, q_at: Tensor, lengths: Tensor, bonus: Row, pair: Pair, uniforms: Uniforms
) -> tuple[Tensor, Tensor]:
    """Returns the number of accepted tokens [B] and the extra token [B].

    `p_at`, `q_at` [B, L] are the probabilities of the drafted tokens; `bonus` returns p after the last drafted token,
    `pair` returns p and q after earlier drafted tokens. `pair` may return rows in any order of tokens; an extra token
    drawn from these rows is an index in this order. A batch row reads a random number for test L unless L = 0, then one
    for each test i = L - 1 .. 1 with 0 < c_i < 1 until a test succeeds, and one for the extra token. A test with c_i =
    1 succeeds without a random number.
    Cost: one row of p and q for each test below the end, and for the extra token.
    """
    b, n = p_at.shape
    device = p_at.device
    clipped = [torch.ones(b, dtype=torch.float64, device=device)]
    for i in range(n):
        product = clipped[i] * p_at[:, i]
        # If both are 0, q was rounded to 0, because the token was drafted; the target cannot emit it.
        whole = (product > 0).double()
        clipped.append(torch.where(product < q_at[:, i], product / q_at[:, i], whole))
    c = torch.stack(clipped, dim=1)

    def c_of(place: Tensor, rows: Tensor | None = None) -> Tensor:
        return (c if rows is None else c[rows]).gather(1, place[:, None]).squeeze(1)

    def correction(rows: Tensor, place: Tensor) -> Tensor:
        p, q = pair(rows, place)
        return above(p.mul_(c_of(place, rows)[:, None]), q)

    accepted = lengths.clone()
    everyone = torch.ones(b, dtype=torch.bool, device=device)
    pending = (lengths > 0) & ~(uniforms.take(lengths > 0) < c_of(lengths))
    for below in range(1, n):
        place = (lengths - below).clamp(min=0)
        here = pending & (lengths - below > 0)
        accepted = torch.where(pending, place, accepted)
        factor = c_of(place)
        certain = here & (factor == 1)
        tested = here & (factor > 0) & ~certain
        coin = uniforms.take(tested)
        rows = tested.nonzero().squeeze(1)
        passed = torch.zeros_like(pending)
        if len(rows) > 0:
            excess = correction(rows, place[rows]).sum(1)
            passed[rows] = coin[rows] * (excess + (1 - factor[rows])) < excess
        pending = pending & ~passed & ~certain
    accepted = torch.where(pending, 0, accepted)

    def bonus_after(rows: Tensor) -> Tensor:
        return bonus(rows, accepted[rows])

    def target(rows: Tensor) -> Tensor:
        return pair(rows, accepted[rows])[0]

    last = uniforms.take(everyone)
    extra = torch.empty_like(lengths)
    ended = accepted == lengths
    rows, others = ended.nonzero().squeeze(1), (~ended).nonzero().squeeze(1)
    if len(rows) > 0:
        extra[rows] = draw(bonus_after(rows), last[rows], bonus_after, rows)
    if len(others) > 0:
        extra[others] = draw(correction(others, accepted[others]), last[others], target, others)
    return accepted, extra
