"""Slips with several drafts at one position."""

from __future__ import annotations

import torch
from catalogue import slip

TWO = "p=(1 1)/2 q=(1 1)/2 K=2"
REPEAT = "p=(0 1 1)/2 q=(2 0 1)/3 K=2"


def recursive(p, q, drafts):
    """Right for i.i.d. drafts in the order in which they were drawn."""
    for x in drafts:
        if torch.rand(()) * q[x] < p[x]:
            return int(x)
        rest = (p - q).clamp(min=0)
        if rest.sum() > 0:
            p = rest / rest.sum()
    return int(torch.multinomial(p, 1))


@slip(
    "Drafts sorted by token favour small tokens: the first test is no longer a test of a draw from q.",
    level="position",
    on=TWO,
)
def drafts_sorted(p, q, drafts):
    return recursive(p, q, drafts.sort().values)


@slip("unique sorts, so the drafts are no longer in the order in which they were drawn.", level="position", on=TWO)
def drafts_made_unique(p, q, drafts):
    return recursive(p, q, drafts.unique())


@slip("The draft with the best ratio p / q is tested first.", level="position", on="p=(1 2)/3 q=(2 1)/3 K=2")
def best_draft_first(p, q, drafts):
    return recursive(p, q, drafts[(p[drafts] / q[drafts]).argsort(descending=True)])


@slip(
    "The target is renormalised over the drafts, so nothing else can be emitted.",
    on="p=(0 1)/1 q=(1 0)/1 K=1",
    level="position",
)
def renormalised_over_drafts(p, q, drafts):
    scores = p[drafts] + 1e-10
    return int(drafts[torch.multinomial(scores / scores.sum(), 1)])


@slip(
    "Every draft is tested against p, as if none had been rejected before.",
    level="position",
    on="p=(1 1)/2 q=(0 1)/1 K=2",
)
def residual_not_carried(p, q, drafts):
    for x in drafts:
        if torch.rand(()) * q[x] < p[x]:
            return int(x)
    return int(torch.multinomial((p - q).clamp(min=0), 1))


@slip(
    "The residual is not divided by its sum before the next test.", level="position", on="p=(0 1 2)/3 q=(1 0 1)/2 K=2"
)
def residual_not_normalised(p, q, drafts):
    for x in drafts:
        if torch.rand(()) * q[x] < p[x]:
            return int(x)
        p = (p - q).clamp(min=0)
    return int(torch.multinomial(p, 1))


@slip("The last rejection is not taken out of the residual.", level="position", on="p=(1 1)/2 q=(0 1)/1 K=1")
def last_rejection_not_subtracted(p, q, drafts):
    for n, x in enumerate(drafts.tolist()):
        if torch.rand(()) * q[x] < p[x]:
            return x
        if n + 1 < len(drafts):
            rest = (p - q).clamp(min=0)
            p = rest / rest.sum() if rest.sum() > 0 else p
    return int(torch.multinomial(p, 1))


@slip(
    "A repeated draft is skipped, but the next one is tested as if it had been drawn from all of q.",
    level="position",
    on="p=(0 1 1)/2 q=(2 0 1)/3 K=2",
)
def repeats_skipped(p, q, drafts):
    return recursive(p, q, torch.tensor(list(dict.fromkeys(drafts.tolist()))))


@slip("One coin serves all drafts.", level="position", on="p=(1 1 1)/3 q=(0 1 3)/4 K=2")
def one_coin_for_all_drafts(p, q, drafts):
    u = torch.rand(())
    for x in drafts:
        if u * q[x] < p[x]:
            return int(x)
        rest = (p - q).clamp(min=0)
        if rest.sum() > 0:
            p = rest / rest.sum()
    return int(torch.multinomial(p, 1))


@slip(
    "Drafts without replacement are tested against all of q.",
    level="position",
    drafts="without_replacement",
    on=REPEAT,
)
def whole_proposal_without_replacement(p, q, drafts):
    return recursive(p, q, drafts)


@slip(
    "I.i.d. drafts are tested as drawn without replacement, and a repeat counts as a rejection.",
    level="position",
    on=REPEAT,
)
def repeats_count_as_rejected(p, q, drafts):
    q = q.clone()
    for x in drafts:
        if q[x] > 0 and torch.rand(()) * q[x] < p[x] * q.sum():
            return int(x)
        rest = (p - q / q.sum()).clamp(min=0) if q.sum() > 0 else p
        p = rest / rest.sum() if rest.sum() > 0 else p
        q[x] = 0
    return int(torch.multinomial(p, 1))


@slip(
    "K-SEQ with factor 1: K tests of p against q accept more than the residual can make good.",
    level="position",
    on="p=(1 2)/3 q=(2 1)/3 K=2",
)
def k_seq_of_factor_one(p, q, drafts):
    ok = torch.rand(len(drafts)) * q[drafts] < p[drafts]
    if ok.any():
        return int(drafts[ok.int().argmax()])
    reached = 1 - (1 - torch.minimum(p, q).sum()) ** len(drafts)
    rest = (p - torch.minimum(p, q) / torch.minimum(p, q).sum() * reached).clamp(min=0)
    return int(torch.multinomial(rest if rest.sum() > 0 else p, 1))


@slip(
    "The draft is chosen by p among the drafts and then tested against q, which did not choose it.",
    level="position",
    on="p=(1 2)/3 q=(2 1)/3 K=2",
)
def chosen_then_tested(p, q, drafts):
    x = drafts[torch.multinomial(p[drafts] + 1e-12, 1)]
    if torch.rand(()) * q[x] < p[x]:
        return int(x)
    return int(torch.multinomial((p - q).clamp(min=0), 1))
