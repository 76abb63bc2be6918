"""Slips in batches: rows that read another row's numbers. One row in a batch of its own is right."""

from __future__ import annotations

import torch
from catalogue import slip


def tests(p, q, drafts, coins):
    """Which drafts pass, [B, L] of bool."""
    x = drafts[..., None]
    return coins * q.gather(2, x)[..., 0] < p[:, :-1].gather(2, x)[..., 0]


def emit(p, q, drafts, n):
    """Tokens [B, L + 1]: n drafts of each row, one more, then -1."""
    rows, longest = torch.arange(len(p)), drafts.shape[1]
    row = p[rows, n]
    rest = (row - q[rows, n.clamp(max=longest - 1)]).clamp(min=0)
    weights = torch.where(((n < longest) & (rest.sum(-1) > 0))[:, None], rest, row)
    return padded(drafts, n, torch.multinomial(weights, 1)[:, 0])


def padded(drafts, n, token):
    at = torch.arange(drafts.shape[1] + 1)
    tokens = torch.nn.functional.pad(drafts, (0, 1), value=-1)
    tokens = torch.where(at < n[:, None], tokens, -1)
    return torch.where(at == n[:, None], token[:, None], tokens)


@slip("All rows get the largest number of accepted drafts of the batch.", "row_alone", batched=True)
def batch_maximum(p, q, drafts):
    n = tests(p, q, drafts, torch.rand(drafts.shape)).long().cumprod(1).sum(1)
    return emit(p, q, drafts, n.max().expand_as(n))


@slip("All rows get the smallest number of accepted drafts of the batch.", "row_alone", batched=True)
def batch_minimum(p, q, drafts):
    n = tests(p, q, drafts, torch.rand(drafts.shape)).long().cumprod(1).sum(1)
    return emit(p, q, drafts, n.min().expand_as(n))


@slip("All rows are tested with the coins of the first row.", "row_alone", batched=True)
def coins_of_first_row(p, q, drafts):
    coins = torch.rand(drafts.shape)[0]
    return emit(p, q, drafts, tests(p, q, drafts, coins).long().cumprod(1).sum(1))


@slip(
    "One coin for each position is drawn for the whole batch.",
    "row_alone",
    batched=True,
    gap="a draw that has no entry for each row makes the door call rows one at a time, where nothing is shared",
)
def coins_without_batch(p, q, drafts):
    coins = torch.rand(drafts.shape[1])
    return emit(p, q, drafts, tests(p, q, drafts, coins).long().cumprod(1).sum(1))


@slip("The residual is divided by its sum over the batch.", "row_alone", batched=True)
def residual_sum_of_batch(p, q, drafts):
    n = tests(p, q, drafts, torch.rand(drafts.shape)).long().cumprod(1).sum(1)
    rows, longest = torch.arange(len(p)), drafts.shape[1]
    row = p[rows, n]
    rest = (row - q[rows, n.clamp(max=longest - 1)]).clamp(min=0)
    rest = torch.where(((n < longest) & (rest.sum(-1) > 0))[:, None], rest, row)
    cdf = (rest / rest.sum()).cumsum(-1)
    u = torch.rand(len(p), 1)
    return padded(drafts, n, (u >= cdf).sum(1).clamp(max=p.shape[-1] - 1))


@slip("The last token comes from the row of the neighbour.", "slots_permuted", batched=True)
def token_of_neighbour(p, q, drafts):
    n = tests(p, q, drafts, torch.rand(drafts.shape)).long().cumprod(1).sum(1)
    tokens = emit(p, q, drafts, n)
    last = tokens.gather(1, n[:, None])[:, 0].roll(1)
    return padded(drafts, n, last)


@slip("The loop over positions ends for all rows where the first one rejects.", "row_alone", batched=True)
def stops_for_all(p, q, drafts):
    count = torch.zeros(len(p), dtype=torch.long)
    alive = torch.ones(len(p), dtype=torch.bool)
    for i in range(drafts.shape[1]):
        x = drafts[:, i, None]
        alive &= torch.rand(len(p)) * q[:, i].gather(1, x)[:, 0] < p[:, i].gather(1, x)[:, 0]
        count += alive
        if not alive.all():
            break
    return emit(p, q, drafts, count)


@slip(
    "Rows that reject are written one after the other, so their tokens change places.", "slots_permuted", batched=True
)
def corrections_compacted(p, q, drafts):
    n = tests(p, q, drafts, torch.rand(drafts.shape)).long().cumprod(1).sum(1)
    tokens = emit(p, q, drafts, n)
    last = tokens.gather(1, n[:, None])[:, 0]
    rejected = n < drafts.shape[1]
    last = torch.cat([last[rejected], last[~rejected]])
    return padded(drafts, n, last)
