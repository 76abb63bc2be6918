"""Several drafts at one position, and trees of drafts, that are verified wrongly in one line.

Row i + 1 of p follows draft i of a tree; the root has parent -1.
"""

from __future__ import annotations

from typing import Any

import torch

from catalogue import wrong
from catalogue.parts import NEXT, by_weights, left_of

TWO = "p=(1 1)/2 q=(1 1)/2 K=2"
REPEAT = "p=(0 1 1)/2 q=(2 0 1)/3 K=2"
THIRDS = "p=(1 2)/3 q=(2 1)/3 K=2"
SIBLINGS = "L=1 K=2 [] p=(1 1)/2 q=(1 1)/2"
HALF = "L=1 K=1 [] p=(1 1)/2 q=(0 1)/1"


def position(why: str, on: str, drafts: str = "iid") -> Any:
    return wrong(why, on=on, level="position", drafts=drafts)


def tree(why: str, on: str, **known: Any) -> Any:
    return wrong(why, on=on, level="tree", drafts="iid_paths", **known)


def rejected(p, q):
    """Returns the residual of p after a rejection by q, normalised."""
    rest = left_of(p, q)
    return rest / rest.sum()


def recursive(p, q, drafts):
    """Verifies i.i.d. drafts at one position. This is right if the drafts are in the order in which they were drawn."""
    for x in drafts:
        if torch.rand(()) * q[x] < p[x]:
            return int(x)
        p = rejected(p, q)
    return by_weights(p)


@position("Drafts sorted by token: the first test is no longer a test of a draw from q.", TWO)
def drafts_sorted(p, q, drafts):
    return recursive(p, q, drafts.sort().values)


@position("unique sorts, so the drafts are no longer in the order in which they were drawn.", TWO)
def drafts_made_unique(p, q, drafts):
    return recursive(p, q, drafts.unique())


@position("The draft with the best ratio p / q is tested first.", THIRDS)
def best_draft_first(p, q, drafts):
    return recursive(p, q, drafts[(p[drafts] / q[drafts]).argsort(descending=True)])


@position("The target is renormalised over the drafts, so nothing else can be emitted.", "p=(0 1)/1 q=(1 0)/1 K=1")
def renormalised_over_drafts(p, q, drafts):
    return int(drafts[by_weights(p[drafts] + 1e-10)])


@position("Every draft is tested against p, as if none had been rejected before.", "p=(1 1)/2 q=(0 1)/1 K=2")
def residual_not_carried(p, q, drafts):
    for x in drafts:
        if torch.rand(()) * q[x] < p[x]:
            return int(x)
    return by_weights((p - q).clamp(min=0))


@position("The residual is not divided by its sum before the next test.", "p=(0 1 2)/3 q=(1 0 1)/2 K=2")
def residual_not_normalised(p, q, drafts):
    for x in drafts:
        if torch.rand(()) * q[x] < p[x]:
            return int(x)
        p = (p - q).clamp(min=0)
    return by_weights(p)


@position("The last rejection is not taken out of the residual.", "p=(1 1)/2 q=(0 1)/1 K=1")
def last_rejection_not_subtracted(p, q, drafts):
    for n, x in enumerate(drafts.tolist()):
        if torch.rand(()) * q[x] < p[x]:
            return x
        p = rejected(p, q) if n + 1 < len(drafts) else p
    return by_weights(p)


@position("A repeated draft is skipped, but the next one is tested as if it had been drawn from all of q.", REPEAT)
def repeats_skipped(p, q, drafts):
    return recursive(p, q, torch.tensor(list(dict.fromkeys(drafts.tolist()))))


@position("One coin serves all drafts.", "p=(1 1 1)/3 q=(0 1 3)/4 K=2")
def one_coin_for_all_drafts(p, q, drafts):
    u = torch.rand(())
    for x in drafts:
        if u * q[x] < p[x]:
            return int(x)
        p = rejected(p, q)
    return by_weights(p)


@position("Drafts without replacement are tested against all of q.", REPEAT, "without_replacement")
def whole_proposal_without_replacement(p, q, drafts):
    return recursive(p, q, drafts)


@position("I.i.d. drafts are tested as drawn without replacement, and a repeat counts as a rejection.", REPEAT)
def repeats_count_as_rejected(p, q, drafts):
    q = q.clone()
    for x in drafts:
        if q[x] > 0 and torch.rand(()) * q[x] < p[x] * q.sum():
            return int(x)
        p = rejected(p, q / q.sum()) if q.sum() > 0 else p
        q[x] = 0
    return by_weights(p)


@position("K-SEQ with factor 1: K tests of p against q accept more than the residual can make good.", THIRDS)
def k_seq_of_factor_one(p, q, drafts):
    ok = torch.rand(len(drafts)) * q[drafts] < p[drafts]
    if ok.any():
        return int(drafts[ok.int().argmax()])
    once = torch.minimum(p, q)
    return by_weights(left_of(p, once / once.sum() * (1 - (1 - once.sum()) ** len(drafts))))


@position("The draft is chosen by p among the drafts and then tested against q, which did not choose it.", THIRDS)
def chosen_then_tested(p, q, drafts):
    x = drafts[by_weights(p[drafts] + 1e-12)]
    return int(x) if torch.rand(()) * q[x] < p[x] else by_weights((p - q).clamp(min=0))


def children_of(parents, node):
    return [i for i, parent in enumerate(parents.tolist()) if parent == node]


def descend(p, q, drafts, parents, order=lambda some: some, row=lambda node: node + 1, reject=rejected, end=None):
    """Verifies a tree. This is right if `order` keeps the order of children, `row` returns the number of the target's
    row after a node, and `reject` returns the residual after a rejected child. `end` replaces the weights of the last
    token."""
    node, tokens = -1, []
    while True:
        distribution = p[row(node)]
        for child in order(children_of(parents, node)):
            x = int(drafts[child])
            if torch.rand(()) * q[child, x] < distribution[x]:
                tokens.append(x)
                node = child
                break
            distribution = reject(distribution, q[child])
        else:
            return [*tokens, by_weights(end(node) if end else distribution)]


@tree("Children are tested in the order of their tokens.", SIBLINGS)
def children_sorted(p, q, drafts, parents):
    return descend(p, q, drafts, parents, order=lambda some: sorted(some, key=lambda i: int(drafts[i])))


@tree("Children are tested by falling p.", SIBLINGS.replace("p=(1 1)/2", "p=(1 2)/3"))
def children_by_target(p, q, drafts, parents):
    def best_first(some):
        return sorted(some, key=lambda i: -float(p[int(parents[i]) + 1, int(drafts[i])]))

    return descend(p, q, drafts, parents, order=best_first)


@tree("Row i of p is read for draft i; the first row belongs to the root.", NEXT)
def rows_without_root(p, q, drafts, parents):
    return descend(p, q, drafts, parents, row=lambda node: max(node, 0))


@tree("The last token is drawn from the root's row.", NEXT)
def last_token_of_root(p, q, drafts, parents):
    tokens = descend(p, q, drafts, parents)
    return tokens if len(tokens) == 1 else [*tokens[:-1], by_weights(p[0])]


@tree("Each child is tested against p, as if its siblings had not been rejected.", "L=1 K=2 [] p=(1 1)/2 q=(0 1)/1")
def siblings_not_carried(p, q, drafts, parents):
    def end(node):
        children = children_of(parents, node)
        return left_of(p[node + 1], q[children[0]]) if children else p[node + 1]

    return descend(p, q, drafts, parents, reject=lambda distribution, _: distribution, end=end)


@tree("After all children are rejected the token is drawn from p, not from what they left.", HALF)
def target_after_children(p, q, drafts, parents):
    return descend(p, q, drafts, parents, end=lambda node: p[node + 1])


@tree(
    "The drafts of a level are all taken for children of the accepted one.",
    "L=2 K=2 [] p=(1 1)/2 q=(1 1)/2 [0] p=(1 1)/2 q=(0 1)/1 [1] p=(1 0)/1 q=(1 0)/1",
)
def cousins_taken_for_children(p, q, drafts, parents):
    depth = []
    for parent in parents.tolist():
        depth.append(0 if parent < 0 else depth[parent] + 1)
    tokens, node = [], -1
    for level in range(max(depth, default=-1) + 1):
        distribution = p[node + 1]
        for child in [i for i, d in enumerate(depth) if d == level]:
            x = int(drafts[child])
            if torch.rand(()) * q[child, x] < distribution[x]:
                tokens.append(x)
                node = child
                break
            distribution = rejected(distribution, q[child])
        else:
            return [*tokens, by_weights(distribution)]
    return [*tokens, by_weights(p[node + 1])]
