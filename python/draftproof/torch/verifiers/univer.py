"""UniVer: verifies hybrid trees, whose nodes have fixed children and at most one drawn child, from the leaves to the
root.

    w       probability that the node or a node below it is accepted; 1 at the root
    s, m    drawn child of the node, and the row that it was drawn from; m = 0 without a drawn child
    E       sum of (w p - m)+ over the tokens without the fixed children
    w_s     min(1, w p(s) / m(s)); s is tested first
    w_k     w p(k) / (1 - w + E + sum of w p over k and the fixed children after it), for fixed child k
    node    accepted with E / (1 - w + E) after its children were refused; the token after it has weights (w p - m)+ on
            the tokens without the fixed children

Correctness: the drawn child is accepted as token x with probability min(m(x), w p(x)). It is refused with probability
Z = 1 - sum of min(m, w p) = 1 - w + E + w p(F); these parts are the probabilities of the parent, of the token after the
node and of the fixed children F. This holds for every m that is the distribution of s and is 0 on F. The paper has
quotients of P_s = w_s, P_k = w p(k) (1 - P_s) / Z and (1 - P_s) (1 - w) / Z; here the factor (1 - P_s) / Z is
cancelled, so no difference of nearly equal numbers is taken.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..endings import above
from ..inputs import Options, want, want_tensors
from ..post_order import MOST, PostOrder
from ..rows import Temperature
from ..trees import TreeInputs, of_each_draft, tree_inputs


def univer(
    p: Tensor,
    q: Tensor,
    drafts: Tensor,
    parents: Tensor,
    fixed: Tensor,
    *,
    lengths: Tensor | None = None,
    logits: bool = False,
    temperature: Temperature = None,
    generator: torch.Generator | None = None,
    uniforms: Tensor | None = None,
    check: bool = True,
) -> tuple[Tensor, Tensor, Tensor]:
    """UniVer's rule for trees of fixed and drawn children. On a chain of drawn children it is block verification.

    Args:
        p: target rows [B, n + 1, V], 16 to 64 bits; row 0 is the distribution after the context, row i + 1 after
            draft i.
        q: rows of the drawn children [B, n, V]; drawn child i has the distribution of row i, which is 0 on the fixed
            children of the same node: for instance the proposal without their tokens, normalised. Rows of fixed
            children are ignored.
        drafts: [B, n], any integer type; -1 after the length of a row. Of several drawn children of a node only the
            first is tested, and the others are never accepted.
        parents: [n], or [B, n] if rows have different trees; the draft before each draft, -1 for the context.
        fixed: [n] or [B, n] bool; whether draft i is fixed. The fixed children of a node and their order must be
            functions of the tokens up to the node.
        lengths: [B], number of drafts of each row. By default drafts end before the first -1.
        logits: whether p and q are logits (natural logarithms up to a constant) rather than probabilities.
        temperature: divides logits; a number or a tensor [B], above 0.
        generator: source of the random numbers; the global one of the device by default.
        uniforms: [B, n + 1] of [0, 1) instead of a generator. A row reads one for each node that is tested, from the
            leaves up, except the root, and one for its last token. The drawn child is tested before the fixed ones.
        check: whether to check values, by two passes over all rows.

    Returns:
        tokens [B, L + 1] int64, the accepted drafts and one more token, then -1, L being the tokens of the longest
        path; counts [B] of emitted tokens; index [B] of the last accepted draft, -1 for none.

    Raises:
        ValueError: for shapes, types, devices or values that do not fit; the message has the location.

    Cost: a pass over one row of p and q for each node with children that is tested, and for the last token; with logits
    one pass over all rows. The steps of post_order.py read from the device which rows take part.
    Source: UniVer, arXiv:2605.04543.
    """
    given = Options(lengths, logits, temperature, generator, uniforms, check)
    want_tensors(drafts=drafts, fixed=fixed)
    want(fixed.dtype == torch.bool, "fixed: dtype", fixed.dtype, torch.bool)
    fixed = of_each_draft("fixed", fixed, drafts)
    at = tree_inputs(p, q, drafts, parents, drafts.shape[-1] + 1, given, ~fixed)
    return Univer(at, fixed, check).verdict()


class Univer(PostOrder):
    def __init__(self, at: TreeInputs, fixed: Tensor, check: bool) -> None:
        tree, n = at.tree, at.tree.tokens.shape[1]
        drafts = torch.arange(n, device=at.device).expand_as(tree.node)
        # The first drawn child of each node, or n if the node has no drawn child. Column n + 1 collects fixed and
        # missing drafts.
        after = torch.where(tree.there & ~fixed, tree.parent, n + 1)
        drawn = torch.full((len(drafts), n + 2), n, device=at.device).scatter_reduce(1, after, drafts, "amin")
        self.fixed, self.drawn = fixed & tree.there, drawn[:, : n + 1]
        beside = drawn.gather(1, tree.parent)
        super().__init__(at, torch.where(fixed, n + drafts, torch.where(beside == drafts, drafts, MOST)))
        self.p_at, self.q_at = at.of_drafts()
        self.excess = torch.full_like(self.weight, -1.0)  # E of each node, -1 until it is needed
        if check:
            self.want_none_drawn_twice(beside)

    def want_none_drawn_twice(self, beside: Tensor) -> None:
        """Raises: ValueError at the first fixed child whose token has q > 0 in the row of its drawn sibling.

        beside: [B, n] the drawn sibling of each draft; n if there is none.
        """
        rows, drafts = (self.fixed & (beside < beside.shape[1])).nonzero().unbind(1)
        drawn = beside[rows, drafts]
        q = self.at.q.entry(rows, drawn, self.tree.tokens[rows, drafts])
        bad = (q != 0).nonzero()
        if len(bad) > 0:
            i = int(bad[0])
            place = f"q[{int(rows[i])}, {int(drawn[i])}]"
            raise ValueError(f"{place}: got {float(q[i])} at the token of fixed draft {int(drafts[i])}, expected 0")

    def left(self, rows: Tensor, nodes: Tensor) -> Tensor:
        weights, drawn = self.at.p_row(rows, nodes), self.drawn[rows, nodes]
        weights.mul_(self.weight[rows, nodes, None])
        some = (drawn < self.fixed.shape[1]).nonzero().squeeze(1)
        if len(some) > 0:
            weights[some] = above(weights[some], self.at.q.row(rows[some], drawn[some]))
        off, child = (self.tree.draws(rows, nodes) & self.fixed[rows]).nonzero().unbind(1)
        weights[off, self.tree.tokens[rows[off], child]] = 0
        return weights

    def excess_of(self, rows: Tensor, nodes: Tensor) -> Tensor:
        """Returns E of these nodes, [R]; at a leaf E is w, since all tokens have p-mass 1."""
        unknown = self.excess[rows, nodes] < 0
        leaf = ~self.tree.draws(rows, nodes).any(1)
        ends, new = (unknown & leaf).nonzero().squeeze(1), (unknown & ~leaf).nonzero().squeeze(1)
        self.excess[rows[ends], nodes[ends]] = self.weight[rows[ends], nodes[ends]]
        if len(new) > 0:
            self.excess[rows[new], nodes[new]] = self.left(rows[new], nodes[new]).sum(1)
        return self.excess[rows, nodes]

    def weight_of(self, rows: Tensor, nodes: Tensor, children: Tensor) -> Tensor:
        weight = self.weight[rows, nodes]
        num, den = weight * self.p_at[rows, children], self.q_at[rows, children]
        fixed = self.fixed[rows, children].nonzero().squeeze(1)
        if len(fixed) > 0:
            rows, nodes, weight = rows[fixed], nodes[fixed], weight[fixed]
            later = self.tree.draws(rows, nodes) & self.fixed[rows] & self.tree.first[rows]
            later &= self.rank[rows] >= self.tested[rows, nodes, None]
            rest = (torch.where(later, self.p_at[rows], 0.0) * weight[:, None]).sum(1)
            den[fixed] = 1 - weight + self.excess_of(rows, nodes) + rest
        return torch.where(num < den, num / den, (num > 0).double())

    def coin(self, rows: Tensor, nodes: Tensor) -> tuple[Tensor, Tensor]:
        excess = torch.zeros(len(rows), dtype=torch.float64, device=self.device)
        below = (nodes > 0).nonzero().squeeze(1)
        if len(below) > 0:
            excess[below] = self.excess_of(rows[below], nodes[below])
        return excess, 1 - self.weight[rows, nodes] + excess
