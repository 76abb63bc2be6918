"""One call of a verifier on a tree of drafts."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .. import torch as functions
from .drafters import ROOT, Proposal
from .settings import CHAIN, HYBRID


def verify(name: str, made: Proposal, p: Tensor, generator: torch.Generator) -> tuple[list[int], list[int]]:
    """Runs a verifier on the drafts of one step.

    name: a function of draftproof.torch. Functions of chains and of paths decide on the whole tree. Functions of one
        position decide at the text's end and then after each accepted draft, on the drafts that follow it: given the
        accepted tokens, these drafts are still independent draws (or draws without replacement) from their q row.
    p: [n + 1, V], the target's distribution at the text's end and after each of n nodes.

    Returns: the emitted tokens, which are the accepted drafts and one more token; and the nodes of these drafts.
    """
    function = getattr(functions, name)
    if not made.tokens:
        return draw(p[0], generator), []
    if name in CHAIN:
        q = torch.stack([made.rows[node] for node in range(-1, len(made.tokens) - 1)])
        drafts = torch.tensor([made.tokens], device=p.device)
        tokens, counts = function(p[None], q[None], drafts, generator=generator, check=False)
        count = int(counts[0])
        return tokens[0, :count].tolist(), list(range(count - 1))
    if name in ("ladder_block", "greedy_multipath_block"):
        return _paths(function, made, p, generator)
    if name == "traversal":
        return _tree(function, made, p, generator)
    if name in HYBRID:
        return _tree(function, made, p, generator, torch.tensor([i in made.fixed for i in range(len(made.tokens))]))
    emitted: list[int] = []
    path: list[int] = []
    node = ROOT
    while children := made.children(node):
        drafts = torch.tensor([[child.token for child in children]], device=p.device)
        token, index = function(p[node + 1][None], made.rows[node][None], drafts, generator=generator, check=False)
        emitted.append(int(token[0]))
        if int(index[0]) < 0:
            return emitted, path
        node = children[int(index[0])].node
        path.append(node)
    return emitted + draw(p[node + 1], generator), path


def draw(row: Tensor, generator: torch.Generator) -> list[int]:
    """Draws a token from a distribution [V], and returns it in a list."""
    drawn: list[int] = functions.draft_iid(row[None], 1, generator=generator, check=False)[0].tolist()
    return drawn


def _tree(
    function: Any, made: Proposal, p: Tensor, generator: torch.Generator, fixed: Tensor | None = None
) -> tuple[list[int], list[int]]:
    q = torch.stack([made.rows[parent] for parent in made.parents])
    drafts, parents = (torch.tensor(one, device=p.device) for one in (made.tokens, made.parents))
    trees = [parents]
    if fixed is not None:
        # The drawn child of a node was drawn from the node's row without the fixed children, so q of the fixed children
        # is set to 0.
        beside = (parents[:, None] == parents[None]) & fixed.to(p.device)[None]
        rows, siblings = beside.nonzero().unbind(1)
        q[rows, drafts[siblings]] = 0
        q = q / q.sum(1, keepdim=True).clamp_min(torch.finfo(q.dtype).tiny)
        trees.append(fixed.to(p.device)[None])
    tokens, counts, index = function(p[None], q[None], drafts[None], *trees, generator=generator, check=False)
    path, node = list[int](), int(index[0])
    while node != ROOT:
        path.insert(0, node)
        node = made.parents[node]
    return tokens[0, : int(counts[0])].tolist(), path


def _paths(function: Any, made: Proposal, p: Tensor, generator: torch.Generator) -> tuple[list[int], list[int]]:
    paths = made.paths()
    at = torch.tensor([[ROOT, *path] for path in paths], device=p.device)
    q = torch.stack([torch.stack([made.rows[node] for node in (ROOT, *path[:-1])]) for path in paths])
    drafts = torch.tensor([[[made.tokens[node] for node in path] for path in paths]], device=p.device)
    tokens, counts, index = function(p[at + 1][None], q[None], drafts, generator=generator, check=False)
    count = int(counts[0])
    return tokens[0, :count].tolist(), paths[int(index[0])][: count - 1]
