"""Right verifiers of several drafts at one position."""

from __future__ import annotations

import torch
from catalogue import correct
from catalogue.residual import left_of


def rejected(law, q):
    """What a rejection by q leaves of a law, normalised."""
    rest = left_of(law, q)
    return rest / rest.sum()


@correct("Recursive rejection of i.i.d. drafts.", level="position")
def recursive_rejection(p, q, drafts):
    for x in drafts.tolist():
        if torch.rand(()) * q[x] < p[x]:
            return x
        p = rejected(p, q)
    return torch.multinomial(p, 1)


@correct("Recursive rejection of drafts without replacement.", level="position", drafts="without_replacement")
def recursive_rejection_without_replacement(p, q, drafts):
    q = q.clone()
    for x in drafts.tolist():
        law = q / q.sum()
        if torch.rand(()) * law[x] < p[x]:
            return x
        p = rejected(p, law)
        q[x] = 0
    return torch.multinomial(p, 1)


@correct("Repeats are left out, and the others are verified as drawn without replacement.", level="position")
def distinct_drafts(p, q, drafts):
    return recursive_rejection_without_replacement(p, q, torch.tensor(list(dict.fromkeys(drafts.tolist()))))


@correct("Only the first draft is tested.", level="position")
def first_draft_alone(p, q, drafts):
    x = drafts[0]
    return x if torch.rand(()) * q[x] < p[x] else torch.multinomial(rejected(p, q), 1)


@correct("Drafts are tested in an order that a coin chose.", level="position")
def random_order(p, q, drafts):
    if len(drafts) > 1 and torch.rand(()) < 0.5:
        drafts = drafts.flip(0)
    return recursive_rejection(p, q, drafts)


@correct(
    "K-SEQ with factor K: each draft is held against p / K, which any number of tests can afford.", level="position"
)
def k_seq(p, q, drafts):
    count = len(drafts)
    held = torch.minimum(p.double() / count, q.double())
    for x in drafts.tolist():
        if torch.rand((), dtype=torch.float64) * q[x].double() < held[x]:
            return x
    once = held.sum()
    reached = sum((1 - once) ** n for n in range(count))
    return torch.multinomial(left_of(p.double(), held * reached), 1)
