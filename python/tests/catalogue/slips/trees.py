"""Slips in walks through a tree of drafts. Row i + 1 of p follows draft i; the root has parent -1."""

from __future__ import annotations

import torch
from catalogue import slip

SIBLINGS = "L=1 K=2 [] p=(1 1)/2 q=(1 1)/2"
NEXT = "L=1 K=1 [] p=(1 0)/1 q=(1 0)/1 [0] p=(0 1)/1 q=(1 0)/1"


def children_of(parents, node):
    return [i for i, parent in enumerate(parents.tolist()) if parent == node]


def walk(p, q, drafts, parents, order=lambda some: some, row=lambda node: node + 1):
    """A right walk, if the children keep their order and `row` is the target after a node."""
    node, tokens = -1, []
    while True:
        law = p[row(node)]
        for child in order(children_of(parents, node)):
            x = int(drafts[child])
            if torch.rand(()) * q[child, x] < law[x]:
                tokens.append(x)
                node = child
                break
            rest = (law - q[child]).clamp(min=0)
            law = rest / rest.sum() if rest.sum() > 0 else law
        else:
            return [*tokens, int(torch.multinomial(law, 1))]


@slip("Children are tested in the order of their tokens.", level="tree", drafts="iid_paths", on=SIBLINGS)
def children_sorted(p, q, drafts, parents):
    return walk(p, q, drafts, parents, order=lambda some: sorted(some, key=lambda i: int(drafts[i])))


@slip(
    "Children are tested by falling p.", level="tree", drafts="iid_paths", on=SIBLINGS.replace("p=(1 1)/2", "p=(1 2)/3")
)
def children_by_target(p, q, drafts, parents):
    def best_first(some):
        return sorted(some, key=lambda i: -float(p[int(parents[i]) + 1, int(drafts[i])]))

    return walk(p, q, drafts, parents, order=best_first)


@slip("Row i of p is read for draft i; the first row belongs to the root.", level="tree", drafts="iid_paths", on=NEXT)
def rows_without_root(p, q, drafts, parents):
    return walk(p, q, drafts, parents, row=lambda node: max(node, 0))


@slip("The last token is drawn from the root's row.", level="tree", drafts="iid_paths", on=NEXT)
def last_token_of_root(p, q, drafts, parents):
    tokens = walk(p, q, drafts, parents)
    return tokens if len(tokens) == 1 else [*tokens[:-1], int(torch.multinomial(p[0], 1))]


@slip(
    "Each child is tested against p, as if its siblings had not been rejected.",
    level="tree",
    drafts="iid_paths",
    on="L=1 K=2 [] p=(1 1)/2 q=(0 1)/1",
)
def siblings_not_carried(p, q, drafts, parents):
    node, tokens = -1, []
    while True:
        children = children_of(parents, node)
        for child in children:
            if torch.rand(()) * q[child, drafts[child]] < p[node + 1, drafts[child]]:
                tokens.append(int(drafts[child]))
                node = child
                break
        else:
            law = p[node + 1]
            if children and ((law - q[children[0]]) > 0).any():
                law = (law - q[children[0]]).clamp(min=0)
            return [*tokens, int(torch.multinomial(law, 1))]


@slip(
    "After all children are rejected the token is drawn from p, not from what they left.",
    level="tree",
    drafts="iid_paths",
    on="L=1 K=1 [] p=(1 1)/2 q=(0 1)/1",
)
def target_after_children(p, q, drafts, parents):
    node, tokens, found = -1, [], True
    while found:
        found, law = False, p[node + 1]
        for child in children_of(parents, node):
            if torch.rand(()) * q[child, drafts[child]] < law[drafts[child]]:
                node, found = child, True
                tokens.append(int(drafts[child]))
                break
            rest = (law - q[child]).clamp(min=0)
            law = rest / rest.sum() if rest.sum() > 0 else law
    return [*tokens, int(torch.multinomial(p[node + 1], 1))]


@slip(
    "The drafts of a level are all taken for children of the accepted one.",
    level="tree",
    drafts="iid_paths",
    on="L=2 K=2 [] p=(1 1)/2 q=(1 1)/2 [0] p=(1 1)/2 q=(0 1)/1 [1] p=(1 0)/1 q=(1 0)/1",
    gap="it shows on four drafts, and models of the profile quick have two",
)
def cousins_taken_for_children(p, q, drafts, parents):
    depth = []
    for parent in parents.tolist():
        depth.append(0 if parent < 0 else depth[parent] + 1)
    tokens, node = [], -1
    for level in range(max(depth, default=-1) + 1):
        law = p[node + 1]
        for child in [i for i, d in enumerate(depth) if d == level]:
            x = int(drafts[child])
            if torch.rand(()) * q[child, x] < law[x]:
                tokens.append(x)
                node = child
                break
            rest = (law - q[child]).clamp(min=0)
            law = rest / rest.sum() if rest.sum() > 0 else law
        else:
            return [*tokens, int(torch.multinomial(law, 1))]
    return [*tokens, int(torch.multinomial(p[node + 1], 1))]
