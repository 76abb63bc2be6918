"""Traversal verification: tests a tree from its leaves to its root, each path against the residual of the paths before
it.

    b            parameter of the residual (p - b q)+ / F(b) after a node; 0 while no child was refused
    F, F(b)      mass of (p - b q)+
    m            q-mass outside the refused children
    w            probability that the node or a node below it is accepted; 1 at the root
    w_c          min(1, w m (p(c) - b q(c)) / (F q(c))) for child c
    c refused    b' = b + F / (w m), F' = F(b'), w' = w F' / (w F' + (1 - w) F), m' = m - q(c)

Correctness: requires that the children of a node are draws of one row without replacement, in draw order. Merged paths
of independent draws, in order of first appearance, satisfy this.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..endings import above
from ..inputs import Options, want_tensors
from ..post_order import PostOrder
from ..rows import Temperature
from ..trees import TreeInputs, tree_inputs


def traversal(
    p: Tensor,
    q: Tensor,
    drafts: Tensor,
    parents: Tensor,
    *,
    lengths: Tensor | None = None,
    logits: bool = False,
    temperature: Temperature = None,
    generator: torch.Generator | None = None,
    uniforms: Tensor | None = None,
    check: bool = True,
) -> tuple[Tensor, Tensor, Tensor]:
    """Traversal verification. On a chain it is block verification, on a tree of depth 1 recursive rejection without
    replacement.

    Args:
        p: target rows [B, n + 1, V], 16 to 64 bits; row 0 is the distribution after the context, row i + 1 after
            draft i.
        q: proposal rows [B, n, V]; draft i was drawn from row i. Siblings have equal rows.
        drafts: [B, n], any integer type; -1 after the length of a row. Siblings are draws without replacement, in draw
            order, or independent draws: repeated siblings are one node.
        parents: [n], or [B, n] if rows have different trees; the draft before each draft, -1 for the context.
        lengths: [B], number of drafts of each row. By default drafts end before the first -1.
        logits: whether p and q are logits (natural logarithms up to a constant) rather than probabilities.
        temperature: divides logits; a number or a tensor [B], above 0.
        generator: source of the random numbers; the global one of the device by default.
        uniforms: [B, n + 1] of [0, 1) instead of a generator. A row reads one for each node that is tested, from the
            leaves up, except the root, and one for its last token.
        check: whether to check values, by two passes over all rows.

    Returns:
        tokens [B, L + 1] int64, the accepted drafts and one more token, then -1, L being the tokens of the longest
        path; counts [B] of emitted tokens; index [B] of the last accepted draft, -1 for none.

    Raises:
        ValueError: for shapes, types, devices or values that do not fit; the message has the location.

    Cost: a pass over one row of p and q for each refused node, and the last token; with logits one pass over all rows.
    The steps of post_order.py read from the device which rows take part.
    Source: Weng et al. 2025, arXiv:2505.12398; scalar form derived here, docs/paths.md.
    """
    given = Options(lengths, logits, temperature, generator, uniforms, check)
    want_tensors(drafts=drafts)
    return Traversal(tree_inputs(p, q, drafts, parents, drafts.shape[-1] + 1, given)).verdict()


class Traversal(PostOrder):
    def __init__(self, at: TreeInputs) -> None:
        super().__init__(at, torch.arange(at.tree.tokens.shape[1], device=at.device))
        self.p_at, self.q_at = at.of_drafts()
        self.b = torch.zeros_like(self.weight)
        self.mass, self.unseen = torch.ones_like(self.weight), torch.ones_like(self.weight)

    def weight_of(self, rows: Tensor, nodes: Tensor, children: Tensor) -> Tensor:
        q, weight = self.q_at[rows, children], self.weight[rows, nodes]
        wanted = (self.p_at[rows, children] - self.b[rows, nodes] * q).clamp(min=0)
        num, den = weight * self.unseen[rows, nodes] * wanted, self.mass[rows, nodes] * q
        return torch.where(num < den, num / den, (num > 0).double())

    def coin(self, rows: Tensor, nodes: Tensor) -> tuple[Tensor, Tensor]:
        weight = self.weight[rows, nodes]
        return weight, torch.ones_like(weight)

    def refused(self, rows: Tensor, nodes: Tensor, children: Tensor) -> None:
        live = self.weight[rows, nodes] > 0
        rows, nodes, children = rows[live], nodes[live], children[live]
        if len(rows) == 0:
            return
        weight, mass = self.weight[rows, nodes], self.mass[rows, nodes]
        most = torch.finfo(torch.float64).max  # limit of b: mass / 0 is inf, and inf times q = 0 is NaN
        b = (self.b[rows, nodes] + mass / (weight * self.unseen[rows, nodes])).clamp(max=most)
        p, q = self.at.p_row(rows, nodes), self.at.q.row(rows, children)
        seen = self.tree.draws(rows, nodes) & (self.rank[rows] <= self.tested[rows, nodes, None])
        # The scatter writes one zero for each draft: at the token of each tested draft, and for every other draft at
        # the token of the refused child, which is one of the tested drafts.
        token = self.tree.tokens[rows]
        token = torch.where(seen, token, token.gather(1, children[:, None]))
        unseen = q.scatter(1, token, 0.0).sum(1) / q.sum(1)
        left = above(p, q.mul_(b[:, None])).sum(1)
        # If no residual is left (F' = 0), w' is 0, and the node is refused with certainty. If the weight is 1, only
        # rounding can cause a refusal that leaves no residual, and the state of the node is kept.
        some = left > 0
        self.weight[rows, nodes] = torch.where(
            some, weight * left / (weight * left + (1 - weight) * mass), (weight == 1).double()
        )
        for held, value in ((self.b, b), (self.mass, left), (self.unseen, unseen)):
            held[rows, nodes] = torch.where(some, value, held[rows, nodes])

    def left(self, rows: Tensor, nodes: Tensor) -> Tensor:
        weights, b = self.at.p_row(rows, nodes), self.b[rows, nodes]
        some = (b > 0).nonzero().squeeze(1)
        if len(some) > 0:
            draft = self.tree.draws(rows[some], nodes[some]).long().argmax(1)
            q = self.at.q.row(rows[some], draft)
            weights[some] = above(weights[some], q.mul_(b[some, None]))
        return weights
