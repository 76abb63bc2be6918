"""Tests the nodes of trees from the leaves to the root, all rows of a batch at once.

A child under test gets a weight, the probability that it or a node below it is accepted. A child of weight 0 is refused
with all nodes below it. Any other child is entered: its own children are tested first, and if all of them are refused,
the node itself. The first node that is accepted ends the decision; the root always is.

    weight   weight of each node that was entered    1 at the root
    rank     place of each draft in the order of the tests of its siblings; MOST for a draft that is not tested

Cost: at most 2 n + 1 steps for n drafts, each of a few operations on [B, n] numbers. Each step reads from the device
which rows are not done.
"""

from __future__ import annotations

import torch
from torch import Tensor

from .draws import draw
from .endings import with_extra
from .trees import TreeInputs

MOST = 1 << 40


class PostOrder:
    """The state of all rows of a batch. A rule defines `weight_of`, `coin`, `left` and, if it has more state,
    `refused`. The arguments `rows` [R] are batch rows; `nodes` [R] and `children` [R] are nodes and drafts of these
    rows.
    """

    def __init__(self, at: TreeInputs, rank: Tensor) -> None:
        b, n = at.tree.tokens.shape
        self.at, self.tree, self.device = at, at.tree, at.device
        self.rank = torch.where(at.tree.first, rank, MOST)
        self.weight = torch.ones(b, n + 1, dtype=torch.float64, device=at.device)
        self.tested = torch.full((b, n + 1), -1, dtype=torch.int64, device=at.device)  # rank of the last test of a node

    def weight_of(self, rows: Tensor, nodes: Tensor, children: Tensor) -> Tensor:
        """Returns the weight [R] of the drafts `children`, which are tested next after these nodes."""
        raise NotImplementedError

    def coin(self, rows: Tensor, nodes: Tensor) -> tuple[Tensor, Tensor]:
        """Returns numerator [R] and denominator [R] of the probability that these nodes are accepted if all of their
        children were refused."""
        raise NotImplementedError

    def left(self, rows: Tensor, nodes: Tensor) -> Tensor:
        """Returns the weights of the last token after these nodes, [R, V], in new memory."""
        raise NotImplementedError

    def refused(self, rows: Tensor, nodes: Tensor, children: Tensor) -> None:
        """Changes the state of `nodes` after their children `children` were refused."""

    def verdict(self) -> tuple[Tensor, Tensor, Tensor]:
        """Returns tokens [B, L + 1], their number [B], and the index of the last accepted draft [B], -1 for none."""
        node = self.accepted()
        rows = torch.arange(len(node), device=self.device)
        last = self.at.uniforms.take(torch.ones_like(rows, dtype=torch.bool))
        extra = draw(self.left(rows, node), last, lambda empty: self.at.p_row(empty, node[empty]), rows)
        tokens, length = self.tree.path(node)
        return *with_extra(tokens, length, extra), node - 1

    def accepted(self) -> Tensor:
        """Returns the accepted node of each row, [B]. Reads a random number for each tested node except the root."""
        b, n = self.tree.tokens.shape
        node = torch.zeros(b, dtype=torch.int64, device=self.device)
        done = torch.full((b,), n == 0, device=self.device)
        while len(live := (~done).nonzero().squeeze(1)) > 0:
            here = node[live]
            rank = torch.where(self.tree.draws(live, here), self.rank[live], MOST)
            next_rank, child = torch.where(rank > self.tested[live, here, None], rank, MOST).min(1)
            more = next_rank < MOST
            rows, nodes, children = live[more], here[more], child[more]
            self.tested[rows, nodes] = next_rank[more]
            weight = self.weight_of(rows, nodes, children)
            entered = weight > 0
            self.weight[rows[entered], children[entered] + 1] = weight[entered]
            node[rows[entered]] = children[entered] + 1
            refused = [(rows[~entered], nodes[~entered], children[~entered])]

            rows, nodes = live[~more], here[~more]
            num, den = self.coin(rows, nodes)
            below = torch.zeros_like(done)
            below[rows] = nodes > 0
            coin = self.at.uniforms.take(below)[rows]
            passed = (nodes == 0) | (coin * den < num)
            done[rows] = passed
            rows, nodes = rows[~passed], nodes[~passed]
            up = self.tree.parent[rows, nodes - 1]
            node[rows] = up
            refused.append((rows, up, nodes - 1))
            self.refused(*(torch.cat(parts) for parts in zip(*refused, strict=True)))
        return node
