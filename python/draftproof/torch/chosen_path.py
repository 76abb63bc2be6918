"""The path that a verifier chooses in a tree of K paths, token by token from the root, to be verified as a block."""

from __future__ import annotations

import torch
from torch import Tensor

from .block import verify_block
from .endings import with_extra
from .trees import TreeInputs


class ChosenPath:
    """The chosen path of each batch row. A rule defines `choose`, and `pair`, the rows that block verification reads.

    node      [B] last node of the path so far
    nodes     [B, L + 1] node of the path after i tokens; after its end the last node is repeated
    draws     [B, n] whether draft i was drawn after the last node
    starting  [B] whether more paths leave the last node than arrive there, so that all of them start at it
    p_at      [B, L] target probability of each token of the path; q_at: its probability in the path's distribution
    p_of      [B, n] target probability of each draft; q_of: proposal probability
    """

    def __init__(self, at: TreeInputs) -> None:
        b = len(at.tree.tokens)
        self.at, self.tree, self.device = at, at.tree, at.device
        self.everyone = torch.arange(b, device=at.device)
        self.node = torch.zeros(b, dtype=torch.int64, device=at.device)
        self.lengths, self.arrived = torch.zeros_like(self.node), torch.zeros_like(self.node)
        self.nodes = torch.zeros(b, at.tree.longest + 1, dtype=torch.int64, device=at.device)
        self.p_at = torch.ones(b, at.tree.longest, dtype=torch.float64, device=at.device)
        self.q_at = torch.ones_like(self.p_at)
        self.p_of, self.q_of = at.of_drafts()
        self.order: Tensor | None = None  # [B, V] order of tokens in the last rows of `pair`

    def choose(self, i: int, rows: Tensor, draws: Tensor, starting: Tensor) -> Tensor:
        """Returns the draft [R] that continues the path after i tokens. `rows` [R] are batch rows that have draws after
        the last node; `draws` [R, n] and `starting` [R] are the entries of these rows."""
        raise NotImplementedError

    def extend(self) -> None:
        """Chooses all tokens of all paths."""
        for i in range(self.tree.longest):
            draws = self.tree.draws(self.everyone, self.node)
            rows = draws.any(1).nonzero().squeeze(1)
            drawn, count = draws[rows], draws[rows].sum(1)
            chosen = self.choose(i, rows, drawn, count > self.arrived[rows])
            node = self.tree.node[rows, chosen]
            self.arrived[rows] = (drawn & (self.tree.node[rows] == node[:, None])).sum(1)
            self.node[rows] = node
            self.lengths[rows] += 1
            self.nodes[:, i + 1] = self.node

    def target(self, rows: Tensor, places: Tensor) -> Tensor:
        """Returns the target after `places` tokens, [R, V]."""
        return self.at.p_row(rows, self.nodes[rows, places])

    def proposal(self, rows: Tensor, places: Tensor) -> Tensor:
        """Returns the proposal after `places` tokens, [R, V]."""
        draft = self.tree.draws(rows, self.nodes[rows, places]).long().argmax(1)
        return self.at.q.row(rows, draft)

    def pair(self, rows: Tensor, places: Tensor) -> tuple[Tensor, Tensor]:
        """Returns p and q as `block.Pair` does. A rule that calls `reorder` returns the rows in that order of tokens,
        not in the order of ids."""
        raise NotImplementedError

    def reorder(self, rows: Tensor, p: Tensor, q: Tensor) -> Tensor:
        """Returns [R, V]: the tokens of each row by p / q descending, tokens with q = 0 first, ties by ascending id.
        Stores this order for `verify`."""
        if self.order is None:
            self.order = torch.arange(p.shape[1], device=self.device).repeat(len(self.node), 1)
        order = ratios(p, q).argsort(dim=1, descending=True, stable=True)
        self.order[rows] = order
        return order

    def keep_ids(self, rows: Tensor) -> None:
        """Restores the order of ids for these rows, after `reorder`."""
        if self.order is not None:
            self.order[rows] = torch.arange(self.order.shape[1], device=self.device)

    def verify(self, paths: bool) -> tuple[Tensor, Tensor, Tensor]:
        """Returns tokens [B, L + 1], their number [B], and an index [B]. If `paths` is true, the input was K paths, and
        the index is the number of the chosen path; else it is the number of the last accepted draft.
        """
        self.extend()
        accepted, extra = verify_block(self.p_at, self.q_at, self.lengths, self.target, self.pair, self.at.uniforms)
        if self.order is not None:
            token = self.order.gather(1, extra[:, None]).squeeze(1)
            extra = torch.where(accepted < self.lengths, token, extra)
        tokens, _ = self.tree.path(self.node)
        last = self.nodes.gather(1, accepted[:, None]).squeeze(1)
        # If the input is paths, draft i of path k has number k L + i, and its node is k L + i + 1.
        index = (self.node - 1).clamp(min=0) // max(self.tree.longest, 1) if paths else last - 1
        return *with_extra(tokens, accepted, extra), index


def ratios(p: Tensor, q: Tensor) -> Tensor:
    """Returns p / q, infinite where q = 0."""
    return torch.where(q > 0, p / q, torch.inf)
