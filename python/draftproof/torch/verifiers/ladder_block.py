"""Ladders choose one of K i.i.d. paths token by token; block verification then verifies the chosen path as one path of
known distribution.

    u         node of the chosen path       the paths that pass through u are active, all K at the root
    mu        distribution of the number of active paths, given the prefix and the levels drawn so far; with `average`,
              given the prefix alone
    f(s)      sum of mu_m (1 - (1 - s)^m)   upper bound of the ladder at u, which approximates p(.|u)
    q_chosen  q(y|u) times the slope of G   proposal row of block verification; G of ladder_plan.py

Correctness: block verification is exact for a path of known distribution. If the distribution is known given the
levels, a token together with its level is a token of a larger alphabet, whose target distribution is p times the
proposal's distribution of the level, so that ratios, excesses and corrections equal those of the tokens alone
(docs/python-verifiers.md).
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..chosen_path import ChosenPath
from ..inputs import Options, want_count
from ..ladder_choice import active_after, choose, mean_share, number_distribution
from ..ladder_plan import Plan, plan
from ..rows import Temperature
from ..trees import TreeInputs, drafted_inputs

RARELY_TWO = 2.0**-8
"""If V > FEW and the probability that two or more paths are active is at most RARELY_TWO, no plan is made: one of the
active drafts is chosen uniformly, which is lossless too and costs less."""
FEW = 64


def ladder_block(
    p: Tensor,
    q: Tensor,
    drafts: Tensor,
    parents: Tensor | None = None,
    *,
    lengths: Tensor | None = None,
    logits: bool = False,
    temperature: Temperature = None,
    generator: torch.Generator | None = None,
    uniforms: Tensor | None = None,
    check: bool = True,
    buckets: int | None = None,
    average: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """Multi-path verification by ladders and block verification, of K independent paths, given as paths or as a tree.

    Args:
        p: target rows [B, K, L + 1, V], 16 to 64 bits; row i of path k is the distribution after its first i
            drafts. With `parents` [B, n + 1, V]: row 0 after the context, row i + 1 after draft i.
        q: proposal rows [B, K, L, V]; draft i of path k was drawn from its row i. Paths that share a prefix share rows.
            With `parents` [B, n, V]: draft i was drawn from row i.
        drafts: [B, K, L], any integer type; K paths drawn independently; -1 after the length. With `parents` [B, n].
        parents: [n], or [B, n] if rows have different trees; the draft before each draft, -1 for the context. A node
            has a draft for each path through it, also for paths whose tokens are equal there; if more paths leave a
            node than arrive, as at the end of a common stem, all of them start there.
        lengths: [B], number of tokens of each path of a row, or of drafts of a tree. By default a path ends before the
            first -1, and drafts before the first -1.
        logits: whether p and q are logits (natural logarithms up to a constant) rather than probabilities.
        temperature: divides logits; a number or a tensor [B], above 0.
        generator: source of the random numbers; the global one of the device by default.
        uniforms: [B, 3 L + 1], or [B, 3 n + 1] for trees, of [0, 1) instead of a generator. A row reads at each node of
            the chosen path one for the levels if a plan is made, and one for the choice if several paths are in the
            group; then as many as `block_verification`. At a node where all active paths have the same next token, it
            reads none if no plan is made or with `average`.
        check: whether to check values, by two passes over all rows.
        buckets: bins of a plan, as in `ladder`.
        average: whether the distribution of the number of active paths is the mean over the levels, instead of the
            distribution given the levels drawn. Without `buckets` the tokens then equal those of the C++ form.

    Returns:
        tokens [B, L + 1] int64, the accepted drafts and one more token, then -1, L being the tokens of the longest
        path; counts [B] of emitted tokens; index [B] of the chosen path. For trees the index [B] of the last accepted
        draft, -1 for none.

    Raises:
        ValueError: for shapes, types, devices or values that do not fit; the message has the location.

    Cost: one plan for each node of the chosen path where more than one active path is not rare, and the cost of block
    verification. `average` adds a pass over the bins for each group of the chosen token, up to one for each bin.
    Source: derived here, docs/ladder.md; block verification of Sun et al. 2025, arXiv:2403.10444.
    """
    if buckets is not None:
        want_count("buckets", buckets, 1)
    given = Options(lengths, logits, temperature, generator, uniforms, check)
    at = drafted_inputs(p, q, drafts, parents, 3, given)
    return LadderPath(at, buckets, average).verify(parents is None)


class LadderPath(ChosenPath):
    def __init__(self, at: TreeInputs, buckets: int | None, average: bool) -> None:
        super().__init__(at)
        self.buckets, self.average, self.most = buckets, average, max(at.tree.most, 1)
        self.distribution = torch.ones(len(self.node), self.most, dtype=torch.float64, device=at.device)
        self.plans: list[tuple[Tensor, Plan]] = []  # for each depth: each batch row's row of the plan, or -1

    def choose(self, i: int, rows: Tensor, draws: Tensor, starting: Tensor) -> Tensor:
        self.distribution[rows[starting]] = number_distribution(draws[starting].sum(1), self.most)
        busy = 1 - self.distribution[rows, 0] > (RARELY_TWO if self.at.p.vocabulary > FEW else 0)
        chosen = torch.zeros_like(rows)
        planned, others = busy.nonzero().squeeze(1), (~busy).nonzero().squeeze(1)
        chosen[planned] = self.by_plan(i, rows[planned], draws[planned])
        chosen[others] = self.plainly(i, rows[others], draws[others])
        return chosen

    def by_plan(self, i: int, rows: Tensor, draws: Tensor) -> Tensor:
        """Returns the chosen draft [R], selected by a plan."""
        at, places = torch.full_like(self.node, -1), torch.full_like(rows, i)
        at[rows] = torch.arange(len(rows), device=rows.device)
        mu = self.distribution[rows]
        made = plan(self.target(rows, places), self.proposal(rows, places), mu, self.buckets)
        self.plans.append((at, made))
        if len(rows) == 0:
            return rows
        # With `average`, no level is drawn if all active paths have the same token, which every level chooses.
        choice = self.differ(rows, draws) if self.average else torch.ones_like(rows, dtype=torch.bool)
        tokens = self.tree.tokens[rows]
        chosen, _, a, end = choose(made, tokens, draws & choice[:, None], self.at.uniforms.of(rows))
        chosen = torch.where(choice, chosen, draws.long().argmax(1))
        y = tokens.gather(1, chosen[:, None])
        bin_, c = made.bins.gather(1, y).squeeze(1), made.q.gather(1, y).squeeze(1)
        self.p_at[rows, i] = made.p.gather(1, y).squeeze(1)
        self.q_at[rows, i] = c * made.slope_at(bin_)
        groups = made.groups(bin_) if self.average else [(a, end, torch.ones_like(c))]
        mean = torch.zeros(len(rows), self.most, self.most, dtype=torch.float64, device=self.device)
        for a, end, share in groups:
            s_a, s_b = (made.s.gather(1, x[:, None]).squeeze(1) for x in (a, end))
            mean += share[:, None, None] * mean_share((s_b - s_a - c).clamp(min=0), 1 - s_b, self.most)
        self.distribution[rows] = active_after(mu, c, mean)
        return chosen

    def plainly(self, i: int, rows: Tensor, draws: Tensor) -> Tensor:
        """Returns the chosen draft [R] for rows in which two active paths are improbable. One of the drafts is chosen
        uniformly, so that its token is a draw from q."""
        size, choice = draws.sum(1), self.differ(rows, draws)
        rank = (self.at.uniforms.of(rows).take(choice) * size).long() * choice
        chosen = (draws & (draws.long().cumsum(1) == rank[:, None] + 1)).long().argmax(1)
        self.p_at[rows, i], self.q_at[rows, i] = self.p_of[rows, chosen], self.q_of[rows, chosen]
        c = self.q_at[rows, i]
        mean = mean_share((1 - c).clamp(min=0), torch.zeros_like(c), self.most)
        self.distribution[rows] = active_after(self.distribution[rows], c, mean)
        return chosen

    def differ(self, rows: Tensor, draws: Tensor) -> Tensor:
        """Returns [R]: whether the drafts `draws` of a row have several different tokens."""
        return (draws & self.tree.first[rows]).sum(1) > 1

    def pair(self, rows: Tensor, places: Tensor) -> tuple[Tensor, Tensor]:
        """Returns rows of the target, and rows of the distribution of the chosen path's next token."""
        self.keep_ids(rows)
        p, q = self.target(rows, places), self.proposal(rows, places)
        for i, (at, made) in enumerate(self.plans):
            mine = ((places == i) & (at[rows] >= 0)).nonzero().squeeze(1)
            if len(mine) > 0:
                planned = at[rows[mine]]
                p[mine], q[mine] = made.p[planned], made.selected(planned)
                if self.average:
                    order = self.reorder(rows[mine], p[mine], q[mine])
                    p[mine], q[mine] = p[mine].gather(1, order), q[mine].gather(1, order)
        return p, q
