"""Drafted trees of a batch: their nodes, and the rows of p and q at them.

    node     0 is the root, the context itself; node i + 1 is reached by draft i
    merged   drafts of one token after one node reach one node, which has the number of the first of them

Paths [B, K, L] are a tree of K L drafts in which draft (k, i) has number k L + i.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from .draws import Uniforms
from .inputs import Options, drafts_of, want, want_integers, want_rows, want_temperature, want_tensors
from .rows import Rows


@dataclass
class Tree:
    """Trees of up to n drafts; n may be 0."""

    tokens: Tensor  # [B, n] int64
    there: Tensor  # [B, n] whether entry i is a draft, not padding
    parent: Tensor  # [B, n] node after which draft i was drawn
    node: Tensor  # [B, n] node that draft i reaches
    depth: Tensor  # [B, n + 1] number of drafted tokens from the root to each node
    longest: int  # L, tokens of the longest path of the batch
    most: int  # most drafts after one node

    @property
    def first(self) -> Tensor:
        """Whether draft i is the first that reaches its node, [B, n]."""
        return self.there & (self.node == torch.arange(1, self.node.shape[1] + 1, device=self.node.device))

    def draws(self, rows: Tensor, nodes: Tensor) -> Tensor:
        """Returns [R, n]: whether draft i of batch row rows[r] was drawn after node nodes[r]."""
        return self.there[rows] & (self.parent[rows] == nodes[:, None])

    def path(self, at: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the tokens from the root to node `at` [B] as [B, L], with 0 after the last token, and their number
        [B]."""
        length = self.depth.gather(1, at[:, None]).squeeze(1)
        tokens = torch.zeros(len(at), self.longest + 1, dtype=torch.int64, device=at.device)
        for _ in range(self.longest):
            draft, place = (at - 1).clamp(min=0)[:, None], self.depth.gather(1, at[:, None])
            tokens.scatter_(1, place, self.tokens.gather(1, draft))  # column 0 is not used
            at = torch.where(at > 0, self.parent.gather(1, draft).squeeze(1), 0)
        return tokens[:, 1:], length


def tree_of(tokens: Tensor, there: Tensor, parents: Tensor) -> Tree:
    """Returns the trees of drafts. `parents`: the number of an earlier draft for each draft, or -1 for the context."""
    b, n = tokens.shape
    node = torch.zeros(b, n + 1, dtype=torch.int64, device=tokens.device)  # column i + 1 belongs to draft i
    parent, depth = torch.full_like(tokens, -1), torch.zeros_like(node)
    for i in range(n):
        after = node.gather(1, parents[:, i : i + 1] + 1)
        same = there[:, :i] & (parent[:, :i] == after) & (tokens[:, :i] == tokens[:, i : i + 1])
        found = same.long().argmax(1) + 1 if i > 0 else torch.zeros_like(after[:, 0])
        node[:, i + 1] = torch.where(same.any(1), found, i + 1)
        parent[:, i : i + 1] = after
        depth[:, i + 1] = depth.gather(1, after).squeeze(1) + 1
    longest = most = 0
    if tokens.numel() > 0:
        counts = torch.zeros_like(depth).scatter_add(1, parent, there.long())
        longest, most = torch.stack([(depth[:, 1:] * there).max(), counts.max()]).tolist()
    return Tree(tokens, there, parent, node[:, 1:], depth, longest, most)


def tree_of_paths(tokens: Tensor, lengths: Tensor) -> Tree:
    """Returns the tree of paths [B, K, L] of lengths [B]."""
    b, k, n = tokens.shape
    shared = (tokens[:, :, None] == tokens[:, None]).long().cumprod(-1)  # [B, K, K, L]: equal prefixes of two paths
    place = torch.arange(n, device=tokens.device)
    node = shared.argmax(2) * n + place + 1
    parent = torch.nn.functional.pad(node, (1, 0))[:, :, :n].clone()
    parent[:, :, :1] = 0
    there = (place < lengths[:, None, None]).expand(b, k, n)
    depth = torch.nn.functional.pad((place + 1).expand(b, k, n).flatten(1), (1, 0))
    return Tree(tokens.flatten(1), there.flatten(1), parent.flatten(1), node.flatten(1), depth, n, k)


@dataclass
class TreeInputs:
    """The inputs of a verifier of trees."""

    p: Rows
    q: Rows
    tree: Tree
    uniforms: Uniforms
    p_place: Tensor  # [n + 1] the row of p after each node

    @property
    def device(self) -> torch.device:
        return self.tree.tokens.device

    def p_row(self, rows: Tensor, nodes: Tensor) -> Tensor:
        """Returns [R, V]: the target's row after node nodes[r] of batch row rows[r]."""
        return self.p.row(rows, self.p_place[nodes])

    def p_entry(self, rows: Tensor, nodes: Tensor, tokens: Tensor) -> Tensor:
        """Returns [R]: the target probability of tokens[r] after node nodes[r] of batch row rows[r]."""
        return self.p.entry(rows, self.p_place[nodes], tokens)

    def of_drafts(self) -> tuple[Tensor, Tensor]:
        """Returns the target probability and the proposal probability of each draft, both [B, n]."""
        b, n = self.tree.tokens.shape
        rows = torch.arange(b, device=self.device).repeat_interleave(n)
        tokens, parents = self.tree.tokens.flatten(), self.tree.parent.flatten()
        drafts = torch.arange(n, device=self.device).repeat(b)
        p, q = self.p_entry(rows, parents, tokens), self.q.entry(rows, drafts, tokens)
        return p.reshape(b, n), q.reshape(b, n)


def tree_inputs(
    p: Tensor, q: Tensor, drafts: Tensor, parents: Tensor, places: int, given: Options, drawn: Tensor | None = None
) -> TreeInputs:
    """Returns the inputs of p [B, n + 1, V], q [B, n, V], drafts [B, n], parents [n] or [B, n], with `places` random
    numbers a row.

    `drawn` [B, n]: drafts whose rows of q are read; by default all.
    """
    want_tensors(p=p, q=q, drafts=drafts, parents=parents)
    want_rows("p", p, ("B", "n + 1", "V"), p.device)
    b, n, v = p.shape[0], p.shape[1] - 1, p.shape[2]
    want(n >= 0, "p: rows", n + 1, "at least 1")
    want_rows("q", q, (b, n, v), p.device)
    want(drafts.device == p.device, "drafts: device", drafts.device, p.device)
    want_temperature(given.logits, given.temperature, b)
    tokens, lengths = drafts_of(drafts, (b, n), v, given)
    there = torch.arange(n, device=p.device) < lengths[:, None]
    parents = of_each_draft("parents", parents, tokens)
    want_integers("parents", parents)
    place = torch.arange(n, device=p.device)
    if given.check:
        bad = (there & ((parents < -1) | (parents >= place))).nonzero()
        if len(bad) > 0:
            i, k = (int(x) for x in bad[0])
            want(False, f"parents[{i}, {k}]", int(parents[i, k]), f"-1 .. {k - 1}")
    parents = torch.where(there, parents.long(), -1)
    p_rows, q_rows = (Rows(name, x, given.logits, given.temperature) for name, x in (("p", p), ("q", q)))
    uniforms = Uniforms(b, places, p.device, given.generator, given.uniforms)
    if given.check:
        p_rows.check(lengths + 1)
        q_rows.check(lengths if drawn is None else there & drawn)
        uniforms.check()
    return TreeInputs(p_rows, q_rows, tree_of(tokens, there, parents), uniforms, torch.arange(n + 1, device=p.device))


def of_each_draft(name: str, values: Tensor, drafts: Tensor) -> Tensor:
    """Returns `values` [n] or [B, n] expanded to [B, n]."""
    b, n = drafts.shape
    want(tuple(values.shape) in ((n,), (b, n)), f"{name}: shape", tuple(values.shape), f"({n},) or {(b, n)}")
    want(values.device == drafts.device, f"{name}: device", values.device, drafts.device)
    return values.expand(b, n)


def drafted_inputs(
    p: Tensor, q: Tensor, drafts: Tensor, parents: Tensor | None, more_places: int, given: Options
) -> TreeInputs:
    """Returns the inputs of K paths, given as a tree if there are `parents`, else as separate paths. A row has
    1 + `more_places` n random numbers for a tree of n drafts, and 1 + `more_places` L for paths of L tokens."""
    want_tensors(p=p, q=q, drafts=drafts)
    want(drafts.dim() > 1, "drafts: shape", tuple(drafts.shape), "(B, n)" if parents is not None else "(B, K, L)")
    places = 1 + more_places * drafts.shape[-1]
    if parents is None:
        return path_inputs(p, q, drafts, places, given)
    return tree_inputs(p, q, drafts, parents, places, given)


def path_inputs(p: Tensor, q: Tensor, drafts: Tensor, places: int, given: Options) -> TreeInputs:
    """Returns the inputs of p [B, K, L + 1, V], q [B, K, L, V], drafts [B, K, L]; `places` random numbers a row."""
    want_rows("p", p, ("B", "K", "L + 1", "V"), p.device)
    b, k, n, v = p.shape[0], p.shape[1], p.shape[2] - 1, p.shape[3]
    want(k > 0 and n >= 0, "p: paths and rows", (k, n + 1), "at least 1 of both")
    want_rows("q", q, (b, k, n, v), p.device)
    want(drafts.device == p.device, "drafts: device", drafts.device, p.device)
    want_temperature(given.logits, given.temperature, b)
    tokens, lengths = drafts_of(drafts, (b, k, n), v, given)
    uniforms = Uniforms(b, places, p.device, given.generator, given.uniforms)
    if given.check:
        for name, x, counts in (("p", p, lengths + 1), ("q", q, lengths)):
            Rows(name, x.flatten(0, 1), given.logits, None).check(counts.repeat_interleave(k), k)
        uniforms.check()
    draft = torch.arange(k * n, device=p.device)
    p_place = torch.nn.functional.pad(draft + draft // max(n, 1) + 1, (1, 0))
    p_rows, q_rows = (Rows(name, x.flatten(1, 2), given.logits, given.temperature) for name, x in (("p", p), ("q", q)))
    return TreeInputs(p_rows, q_rows, tree_of_paths(tokens, lengths), uniforms, p_place)
