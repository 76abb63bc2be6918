"""Right batched verifiers: rows of tokens end in -1."""

from __future__ import annotations

import torch
from catalogue import correct
from catalogue.residual import left_of


@correct("Vectorised over rows and positions.", batched=True)
def batch_vectorised(p, q, drafts):
    rows, length = torch.arange(len(p)), drafts.shape[1]
    x = drafts[..., None]
    keep = torch.rand(drafts.shape) * q.gather(2, x)[..., 0] < p[:, :-1].gather(2, x)[..., 0]
    n = keep.long().cumprod(1).sum(1)
    proposal = torch.cat([q, torch.zeros_like(q[:, :1])], 1)[rows, n]
    token = torch.multinomial(left_of(p[rows, n], proposal), 1)
    at = torch.arange(length + 1)
    tokens = torch.cat([drafts, torch.full_like(token, -1)], 1)
    return torch.where(at < n[:, None], tokens, torch.where(at == n[:, None], token, -1))


@correct("A loop over positions with a mask of the rows that go on, inversion with float64 coins.", batched=True)
def batch_masked_loop(p, q, drafts):
    count, length = drafts.shape
    alive = torch.ones(count, dtype=torch.bool)
    tokens = torch.full((count, length + 1), -1)
    weights = p[:, -1].double()
    for i in range(length):
        x = drafts[:, i : i + 1]
        coin = torch.rand(count, 1, dtype=torch.float64)
        keep = (coin * q[:, i].gather(1, x) < p[:, i].gather(1, x))[:, 0]
        rest = left_of(p[:, i].double(), q[:, i].double())
        weights = torch.where((alive & ~keep)[:, None], rest, weights)
        alive &= keep
        tokens[:, i] = torch.where(alive, x[:, 0], -1)
    cdf = weights.cumsum(1)
    token = (torch.rand(count, 1, dtype=torch.float64) * cdf[:, -1:] < cdf).int().argmax(1)
    tokens[torch.arange(count), (tokens >= 0).sum(1)] = token
    return tokens


@correct("A loop over rows; each of them has its own coins.", batched=True)
def batch_of_lists(p, q, drafts):
    coins = torch.rand(drafts.shape)
    kept = []
    for row, some in enumerate(drafts.tolist()):
        n = 0
        while n < len(some) and coins[row, n] * q[row, n, some[n]] < p[row, n, some[n]]:
            n += 1
        kept.append(n)
    weights = [p[b, n] if n == drafts.shape[1] else left_of(p[b, n], q[b, n]) for b, n in enumerate(kept)]
    last = torch.multinomial(torch.stack(weights), 1)[:, 0].tolist()
    return [[*drafts[b, :n].tolist(), last[b]] for b, n in enumerate(kept)]


@correct("Several drafts at one position, rows side by side.", batched=True, level="position")
def batch_of_positions(p, q, drafts):
    rows = torch.arange(len(p))
    token = torch.full((len(p),), -1)
    for k in range(drafts.shape[1]):
        x = drafts[:, k]
        keep = (torch.rand(len(p)) * q[rows, x] < p[rows, x]) & (token < 0)
        token = torch.where(keep, x, token)
        rest = left_of(p, q)
        p = rest / rest.sum(1, keepdim=True)
    return torch.where(token < 0, torch.multinomial(p, 1)[:, 0], token)
