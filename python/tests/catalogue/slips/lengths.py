"""Slips in the number of accepted drafts and in the token after them."""

from __future__ import annotations

import torch
from catalogue import slip

NEXT = "L=1 K=1 [] p=(1 0)/1 q=(1 0)/1 [0] p=(0 1)/1 q=(1 0)/1"
EQUAL = "L=1 K=1 [] p=(0 1)/1 q=(0 1)/1"


def kept(p, q, drafts):
    """Which drafts pass their test, [L] of bool."""
    at = torch.arange(len(drafts))
    return torch.rand(len(drafts)) * q[at, drafts] < p[at, drafts]


def last(p, q, n):
    weights = p[n] if n == len(q) else (p[n] - q[n]).clamp(min=0)
    return int(torch.multinomial(weights, 1))


@slip("The token after the last draft is drawn from the row before it.", on=NEXT)
def bonus_of_last_draft(p, q, drafts):
    n = int(kept(p, q, drafts).long().cumprod(0).sum())
    token = int(torch.multinomial(p[-2], 1)) if n == len(drafts) else last(p, q, n)
    return [*drafts[:n].tolist(), token]


@slip(
    "The token after the last draft is drawn from a residual although nothing was rejected.",
    on="L=1 K=1 [] p=(1 1)/2 q=(0 1)/1",
)
def bonus_from_residual(p, q, drafts):
    n = int(kept(p, q, drafts).long().cumprod(0).sum())
    rest = (p[n] - q[min(n, len(q) - 1)]).clamp(min=0)
    return [*drafts[:n].tolist(), int(torch.multinomial(rest if rest.sum() > 0 else p[n], 1))]


@slip("Nothing is emitted for a rejected draft.", "answers", "L=1 K=1 [] p=(0 1)/1 q=(1 0)/1")
def correction_forgotten(p, q, drafts):
    n = int(kept(p, q, drafts).long().cumprod(0).sum())
    return [*drafts.tolist(), last(p, q, n)] if n == len(drafts) else drafts[:n].tolist()


@slip(
    "argmax over no rejection is 0, so a chain accepted as a whole is corrected at its first draft.", "answers", EQUAL
)
def first_rejection_by_argmax(p, q, drafts):
    n = int((~kept(p, q, drafts)).int().argmax())
    return [*drafts[:n].tolist(), last(p, q, n)]


@slip("The count stops one late: the rejected draft is emitted.", on="L=1 K=1 [] p=(0 1)/1 q=(1 0)/1")
def stops_one_late(p, q, drafts):
    n = min(int(kept(p, q, drafts).long().cumprod(0).sum()) + 1, len(drafts))
    return [*drafts[:n].tolist(), int(torch.multinomial(p[n], 1))]


@slip(
    "The count stops one early: the last accepted draft is replaced by a draw from its residual.",
    on="L=1 K=1 [] p=(1 1)/2 q=(0 1)/1",
)
def stops_one_early(p, q, drafts):
    n = max(int(kept(p, q, drafts).long().cumprod(0).sum()) - 1, 0)
    rest = (p[n] - q[n]).clamp(min=0)
    return [*drafts[:n].tolist(), int(torch.multinomial(rest if rest.sum() > 0 else p[n], 1))]


@slip(
    "Accepted drafts behind the first rejection are counted too.",
    on="L=2 K=1 [] p=(0 1)/1 q=(1 0)/1 [0] p=(1 0)/1 q=(1 0)/1",
)
def counts_all_accepted(p, q, drafts):
    n = int(kept(p, q, drafts).sum())
    return [*drafts[:n].tolist(), last(p, q, n)]


@slip(
    "A rejected draft is left out, and the walk goes on behind it.",
    on="L=2 K=1 [] p=(0 1)/1 q=(1 0)/1 [0] p=(1 0)/1 q=(1 0)/1 [1] p=(0 1)/1 q=(1 0)/1",
)
def rejected_drafts_left_out(p, q, drafts):
    ok = kept(p, q, drafts)
    if not ok.any():
        return [last(p, q, 0)]
    return drafts[ok].tolist()


@slip(
    "The bonus token follows a correction too, from a row after the rejected draft.",
    on="L=1 K=1 [] p=(0 1)/1 q=(1 0)/1 [0] p=(1 0)/1 q=(1 0)/1",
)
def bonus_after_correction(p, q, drafts):
    n = int(kept(p, q, drafts).long().cumprod(0).sum())
    if n == len(drafts):
        return [*drafts.tolist(), last(p, q, n)]
    tokens = [*drafts[:n].tolist(), last(p, q, n)]
    return [*tokens, int(torch.multinomial(p[n + 1], 1))]


@slip("The first draft is kept without a test.", on="L=1 K=1 [] p=(0 1)/1 q=(1 0)/1")
def first_draft_unchecked(p, q, drafts):
    for i, x in enumerate(drafts.tolist()):
        if i > 0 and not torch.rand(()) * q[i, x] < p[i, x]:
            return [*drafts[:i].tolist(), last(p, q, i)]
    return [*drafts.tolist(), last(p, q, len(drafts))]
