"""Slips in the choice of the row: another position's target or proposal."""

from __future__ import annotations

import torch
from catalogue import slip


@slip(
    "Draft i is held against p[i + 1], the target after it.",
    on="L=1 K=1 [] p=(1 0)/1 q=(1 0)/1 [0] p=(0 1)/1 q=(1 0)/1",
)
def target_one_row_late(p, q, drafts):
    for i, x in enumerate(drafts.tolist()):
        if not torch.rand(()) < p[i + 1, x] / q[i, x]:
            residual = (p[i + 1] - q[i]).clamp(min=0)
            return [*drafts[:i].tolist(), int(torch.multinomial(residual / residual.sum(), 1))]
    return [*drafts.tolist(), int(torch.multinomial(p[-1], 1))]


@slip(
    "All drafts are held against the first target row.",
    on="L=2 K=1 [] p=(1 0)/1 q=(1 0)/1 [0] p=(0 1)/1 q=(1 0)/1",
)
def target_row_zero(p, q, drafts):
    accepted = torch.rand(len(drafts)) * q.gather(1, drafts[:, None])[:, 0] < p[0, drafts]
    n = int(accepted.long().cumprod(0).sum())
    weights = p[n] if n == len(drafts) else (p[0] - q[n]).clamp(min=0)
    return [*drafts[:n].tolist(), int(weights.multinomial(1))]


@slip(
    "All drafts are held against the first proposal row.",
    on="L=2 K=1 [] p=(1 1)/2 q=(1 1)/2 [0] p=(1 1)/2 q=(1 0)/1 [1] p=(1 1)/2 q=(1 0)/1",
)
def proposal_row_zero(p, q, drafts):
    first = q[0]
    for i, x in enumerate(drafts):
        if torch.rand(()) * first[x] >= p[i, x]:
            return [*drafts[:i].tolist(), int(torch.multinomial((p[i] - q[i]).clamp(min=0), 1))]
    return [*drafts.tolist(), int(torch.multinomial(p[-1], 1))]


@slip(
    "Draft i is held against q[i + 1], the next draft's proposal.",
    on="L=2 K=1 [] p=(1 1)/2 q=(0 1)/1 [1] p=(1 1)/2 q=(1 1)/2",
)
def proposal_one_row_late(p, q, drafts):
    late = torch.cat([q[1:], q[-1:]])
    for i, x in enumerate(drafts.tolist()):
        if not float(torch.rand(())) * float(late[i, x]) < float(p[i, x]):
            return [*drafts[:i].tolist(), int(torch.multinomial((p[i] - q[i]).clamp(min=0), 1))]
    return [*drafts.tolist(), int(torch.multinomial(p[-1], 1))]


@slip(
    "The correction is drawn from the row after the rejected draft.",
    on="L=1 K=1 [] p=(0 1)/1 q=(1 0)/1 [0] p=(1 0)/1 q=(1 0)/1",
)
def correction_one_row_late(p, q, drafts):
    ratios = p[:-1].gather(1, drafts[:, None]) / q.gather(1, drafts[:, None])
    keep = (torch.rand_like(ratios) < ratios).squeeze(1)
    n = int(keep.int().cumprod(0).sum())
    if n < len(drafts):
        return [*drafts[:n].tolist(), int(torch.multinomial(p[n + 1], 1))]
    return [*drafts.tolist(), int(torch.multinomial(p[n], 1))]


@slip(
    "The residual takes the last proposal row, whichever draft was rejected.",
    on="L=2 K=1 [] p=(1 1)/2 q=(0 1)/1 [1] p=(1 1)/2 q=(1 0)/1",
)
def residual_of_last_proposal(p, q, drafts):
    for i, x in enumerate(drafts.tolist()):
        if not torch.rand(()) * q[i, x] < p[i, x]:
            rest = (p[i] - q[-1]).clamp(min=0)
            return [*drafts[:i].tolist(), int(torch.multinomial(rest if rest.sum() > 0 else p[i], 1))]
    return [*drafts.tolist(), int(torch.multinomial(p[-1], 1))]
