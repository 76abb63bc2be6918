"""Ladders choose one of K i.i.d. paths token by token; block verification then verifies it as one path of the
distribution it has.

    u         node of the chosen path       the paths that share it are active, all K at the root
    mu        distribution of their number           given the prefix and the levels drawn on the way
    f(s)      sum of mu_m (1 - (1 - s)^m)   upper bound of the ladder at u, which approximates p(.|u)
    q_chosen  q(y|u) times slope            the proposal row that block verification is given

Correctness: block verification is exact for a path of known distribution, given the levels drawn so far. A token
together with its level is a token of a larger alphabet, whose target distribution is p times the proposal's
distribution of the level, so that ratios, excesses and corrections equal those of the tokens
(docs/python-verifiers.md).
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..block import verify_block
from ..draws import Uniforms
from ..endings import with_extra
from ..inputs import Options, drafts_of, want, want_rows, want_temperature
from ..ladder_choice import active_after, choose, number_distribution
from ..ladder_plan import Plan, plan
from ..rows import Rows, Temperature

RARELY_TWO = 2.0**-8
"""Where two paths are active with less than this probability, and tokens are more than FEW, no break is taken."""
FEW = 64


def ladder_block(
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
) -> tuple[Tensor, Tensor, Tensor]:
    """Multi-path verification by ladders and block verification.

    Args:
        p: target rows [B, K, L + 1, V], any floating type; row i of path k is the distribution after its first i
            drafts.
        q: proposal rows [B, K, L, V]; draft i of path k was drawn from its row i. Paths that share a prefix share rows.
        drafts: [B, K, L], any integer type; K paths drawn independently; -1 after the length.
        lengths: [B], number of tokens of each path of a row. By default a path ends before the first -1.
        logits: whether p and q are logits (natural logarithms up to a constant) rather than probabilities.
        temperature: divides logits; a number or a tensor [B], above 0.
        generator: source of the random numbers; the global one of the device by default.
        uniforms: [B, 3 L + 1] of [0, 1) instead of a generator. A row reads at each node of the chosen path one for the
            levels if a plan is made, and one for the choice if several paths are in the group; then those of
            `block_verification`.
        check: whether to check values, by two passes over all rows.
        buckets: bins of a plan, as in `ladder`.

    Returns:
        tokens [B, L + 1] int64, the accepted drafts and one more token, then -1; counts [B] of emitted tokens; index
        [B] of the chosen path.

    Raises:
        ValueError: for shapes, types, devices or values that do not fit; the message has the location.

    Cost: one plan a node where two paths are not rare, else nothing; then that of block verification.
    Source: derived here, docs/ladder.md; block verification of Sun et al. 2025, arXiv:2403.10444.
    """
    want_rows("p", p, ("B", "K", "L + 1", "V"), p.device)
    b, k, n, v = p.shape[0], p.shape[1], p.shape[2] - 1, p.shape[3]
    want(k > 0 and n >= 0, "p: paths and rows", (k, n + 1), "at least 1 of both")
    want_rows("q", q, (b, k, n, v), p.device)
    want(drafts.device == p.device, "drafts: device", drafts.device, p.device)
    want_temperature(logits, temperature, b)
    want(buckets is None or buckets > 0, "buckets", buckets, "a number above 0, or None")
    given = Options(lengths, logits, temperature, generator, uniforms, check)
    tokens, length = drafts_of(drafts, (b, k, n), v, given)
    if isinstance(temperature, Tensor) and temperature.numel() == b:
        temperature = temperature.reshape(b).repeat_interleave(k)
    p_rows, q_rows = (Rows(name, x.flatten(0, 1), logits, temperature) for name, x in (("p", p), ("q", q)))
    numbers = Uniforms(b, 3 * n + 1, p.device, generator, uniforms)
    if check:
        p_rows.check((length + 1).repeat_interleave(k))
        q_rows.check(length.repeat_interleave(k))
        numbers.check()
    path = Path(p_rows, q_rows, tokens, length, numbers, buckets)
    for i in range(n):
        path.extend(i)
    chosen = tokens[torch.arange(b, device=p.device), path.index]
    accepted, extra = verify_block(path.p_at, path.q_at, length, path.p_row, path.q_row, numbers)
    return *with_extra(chosen, accepted, extra), path.index


class Path:
    """The chosen path of each batch row, and the distribution that it has."""

    def __init__(
        self, p: Rows, q: Rows, drafts: Tensor, lengths: Tensor, numbers: Uniforms, buckets: int | None
    ) -> None:
        b, self.k, n = drafts.shape
        self.p, self.q, self.drafts, self.lengths, self.buckets = p, q, drafts, lengths, buckets
        self.numbers, device = numbers, drafts.device
        self.index = torch.zeros(b, dtype=torch.int64, device=device)
        self.active = torch.ones(b, self.k, dtype=torch.bool, device=device)
        self.distribution = number_distribution(torch.full_like(lengths, self.k), self.k)
        self.p_at = torch.ones(b, n, dtype=torch.float64, device=device)
        self.q_at = torch.ones_like(self.p_at)
        self.plans: list[tuple[Tensor, Plan]] = []  # at each depth: the plan's row of each batch row, -1 for none

    def extend(self, i: int) -> None:
        """Chooses token i of the rows that are longer than i."""
        there = self.lengths > i
        two = 1 - self.distribution[:, 0]
        busy = there & (two > (RARELY_TWO if self.p.vocabulary > FEW else 0))
        rows, others = busy.nonzero().squeeze(1), (there & ~busy).nonzero().squeeze(1)
        at = torch.full_like(self.index, -1)
        at[rows] = torch.arange(len(rows), device=rows.device)
        made = plan(self.own_row(self.p, rows, i), self.own_row(self.q, rows, i), self.distribution[rows], self.buckets)
        self.plans.append((at, made))
        next_tokens = self.drafts[:, :, i]
        if len(rows) > 0:
            index, bin_, a, end = choose(made, next_tokens[rows], self.active[rows], self.numbers.of(rows))
            y = next_tokens[rows, index][:, None]
            c = made.q.gather(1, y).squeeze(1)
            self.p_at[rows, i] = made.p.gather(1, y).squeeze(1)
            self.q_at[rows, i] = c * made.slope_at(bin_)
            s_a, s_b = (made.s.gather(1, x[:, None]).squeeze(1) for x in (a, end))
            self.distribution[rows] = active_after(self.distribution[rows], c, (s_b - s_a - c).clamp(min=0), 1 - s_b)
            self.index[rows] = index
        if len(others) > 0:
            group = self.active[others]
            size = group.sum(1)
            rank = (self.numbers.of(others).take(size > 1) * size).long() * (size > 1)
            ahead = group.long().cumsum(1)
            self.index[others] = (group & (ahead == rank[:, None] + 1)).long().argmax(1)
            here, y = others * self.k + self.index[others], next_tokens[others, self.index[others]]
            where = torch.full_like(here, i)
            self.p_at[others, i] = self.p.entry(here, where, y)
            self.q_at[others, i] = c = self.q.entry(here, where, y)
            self.distribution[others] = active_after(
                self.distribution[others], c, (1 - c).clamp(min=0), torch.zeros_like(c)
            )
        taken = next_tokens.gather(1, self.index[:, None])
        self.active &= (next_tokens == taken) | ~there[:, None]

    def own_row(self, side: Rows, rows: Tensor, i: int) -> Tensor:
        return side.row(rows * self.k + self.index[rows], torch.full_like(rows, i))

    def p_row(self, rows: Tensor, places: Tensor) -> Tensor:
        """The target after `places` tokens of the chosen path, [R, V]."""
        distribution = self.p.row(rows * self.k + self.index[rows], places)
        for i, (at, made) in enumerate(self.plans):
            mine = ((places == i) & (at[rows] >= 0)).nonzero().squeeze(1)
            if len(mine) > 0:
                distribution[mine] = made.p[at[rows[mine]]]
        return distribution

    def q_row(self, rows: Tensor, places: Tensor) -> Tensor:
        """The distribution of the chosen path's token after `places` tokens, [R, V]."""
        distribution = self.q.row(rows * self.k + self.index[rows], places)
        for i, (at, made) in enumerate(self.plans):
            mine = ((places == i) & (at[rows] >= 0)).nonzero().squeeze(1)
            if len(mine) > 0:
                distribution[mine] = made.selected(at[rows[mine]])
        return distribution
