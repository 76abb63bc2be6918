"""Slips in the acceptance test and in the use of its coin."""

from __future__ import annotations

import torch
from catalogue import slip

HALF = "L=1 K=1 [] p=(1 1)/2 q=(0 1)/1"
SURE = "L=1 K=1 [] p=(0 1)/1 q=(1 0)/1"


def finished(p, q, drafts, n):
    """Accepted drafts and a right last token."""
    weights = p[n] if n == len(drafts) else (p[n] - q[n]).clamp(min=0)
    return [*drafts[:n].tolist(), int(torch.multinomial(weights, 1))]


def inverted(weights, u):
    cdf = weights.cumsum(-1)
    return int((u * cdf[-1] < cdf).int().argmax())


@slip(
    "The coin that rejected a draft also inverts the residual, which then sees only its upper part.",
    on="L=1 K=1 [] p=(1 1 1)/3 q=(0 0 1)/1",
)
def coin_reused_in_residual(p, q, drafts):
    for i, x in enumerate(drafts.tolist()):
        u = torch.rand(())
        if not u * q[i, x] < p[i, x]:
            return [*drafts[:i].tolist(), inverted((p[i] - q[i]).clamp(min=0), u)]
    return finished(p, q, drafts, len(drafts))


@slip("The coin that accepted the last draft also draws the token after it.", on=HALF)
def coin_reused_in_bonus(p, q, drafts):
    u = torch.rand(())
    for i, x in enumerate(drafts.tolist()):
        if not u * q[i, x] < p[i, x]:
            return finished(p, q, drafts, i)
        if i + 1 < len(drafts):
            u = torch.rand(())
    return [*drafts.tolist(), inverted(p[-1], u)]


@slip("One coin serves all positions.", on="L=2 K=1 [] p=(1 1)/2 q=(0 1)/1")
def one_coin_for_all_positions(p, q, drafts):
    at = torch.arange(len(drafts))
    accepted = torch.rand(1) * q[at, drafts] < p[at, drafts]
    return finished(p, q, drafts, int(accepted.long().cumprod(0).sum()))


@slip("A coin of 0 accepts a draft with p = 0, because the test is <= in place of <.", "zero_support", SURE)
def accept_equal(p, q, drafts):
    for i, x in enumerate(drafts.tolist()):
        if torch.rand(()) > p[i, x] / q[i, x]:
            return finished(p, q, drafts, i)
    return finished(p, q, drafts, len(drafts))


@slip("The ratio is upside down: min(1, q / p).", on="L=1 K=1 [] p=(1 2)/3 q=(2 1)/3")
def ratio_inverted(p, q, drafts):
    for i, x in enumerate(drafts.tolist()):
        if not torch.rand(()) < torch.clamp(q[i, x] / p[i, x], max=1):
            return finished(p, q, drafts, i)
    return finished(p, q, drafts, len(drafts))


@slip("A draft is accepted where p >= q, without a coin.", on=HALF)
def greedy_test(p, q, drafts):
    for i, x in enumerate(drafts.tolist()):
        if p[i, x] < q[i, x]:
            return finished(p, q, drafts, i)
    return finished(p, q, drafts, len(drafts))


@slip("Every draft is accepted.", on=SURE)
def accept_always(p, q, drafts):
    return finished(p, q, drafts, len(drafts))


@slip("A draft is accepted with probability p, as if q were 1.", "answers", "L=1 K=1 [] p=(1 1)/2 q=(1 1)/2")
def proposal_forgotten(p, q, drafts):
    for i, x in enumerate(drafts.tolist()):
        if not torch.rand(()) < p[i, x]:
            return finished(p, q, drafts, i)
    return finished(p, q, drafts, len(drafts))


@slip("The test is turned round: a draft is accepted where the coin is above the ratio.", on=SURE)
def test_turned_round(p, q, drafts):
    for i, x in enumerate(drafts.tolist()):
        if torch.rand(()) * q[i, x] < p[i, x]:
            return finished(p, q, drafts, i)
    return finished(p, q, drafts, len(drafts))


@slip("The coin is a multiple of 1/100.", on="L=1 K=1 [] p=(1 2)/3 q=(0 1)/1")
def coin_of_percents(p, q, drafts):
    for i, x in enumerate(drafts.tolist()):
        if not torch.randint(0, 100, (1,)).item() / 100 < p[i, x] / q[i, x]:
            return finished(p, q, drafts, i)
    return finished(p, q, drafts, len(drafts))


@slip("The coin has half precision, a grid of 2^-11.", on="L=1 K=1 [] p=(1 2)/3 q=(0 1)/1")
def coin_in_half(p, q, drafts):
    for i, x in enumerate(drafts.tolist()):
        if not torch.rand((), dtype=torch.float16).float() * q[i, x] < p[i, x]:
            return finished(p, q, drafts, i)
    return finished(p, q, drafts, len(drafts))


@slip("A draft is accepted with min(1, p / (0.8 q)), more often than its share allows.", on=HALF)
def lenient(p, q, drafts):
    for i, x in enumerate(drafts.tolist()):
        if not torch.rand(()) * 0.8 * q[i, x] < p[i, x]:
            return finished(p, q, drafts, i)
    return finished(p, q, drafts, len(drafts))


@slip("A draft is kept if it equals a draw from p or passes the ratio test.", on=HALF)
def match_or_ratio(p, q, drafts):
    for i, x in enumerate(drafts.tolist()):
        matches = int(torch.multinomial(p[i], 1)) == x
        if not (matches or torch.rand(()) * q[i, x] < p[i, x]):
            return finished(p, q, drafts, i)
    return finished(p, q, drafts, len(drafts))


@slip("A draft is kept untested where p and q differ by less than 0.1.", on="L=1 K=1 [] p=(1 2)/3 q=(1 3)/4")
def close_enough(p, q, drafts):
    for i, x in enumerate(drafts.tolist()):
        if not ((p[i, x] - q[i, x]).abs() < 0.1 or torch.rand(()) * q[i, x] < p[i, x]):
            return finished(p, q, drafts, i)
    return finished(p, q, drafts, len(drafts))


@slip("A draft is accepted where its target probability is above 0.3, a threshold of taste.", on=HALF)
def typical(p, q, drafts):
    n = int((p[:-1].gather(1, drafts[:, None])[:, 0] > 0.3).long().cumprod(0).sum())
    weights = p[n] if n == len(drafts) else (p[n] - q[n]).clamp(min=0)
    return [*drafts[:n].tolist(), int(torch.multinomial(weights, 1))]


@slip(
    "An epsilon in the denominator rejects drafts with p = q, whose residual is empty.",
    "answers",
    "L=1 K=1 [] p=(0 1)/1 q=(0 1)/1",
)
def epsilon_in_ratio(p, q, drafts):
    for i, x in enumerate(drafts.tolist()):
        if not torch.rand(()) < p[i, x] / (q[i, x] + 1e-5):
            return finished(p, q, drafts, i)
    return finished(p, q, drafts, len(drafts))


@slip(
    "The generator is seeded anew before each position, so all positions have one coin.",
    on="L=2 K=1 [] p=(1 1)/2 q=(0 1)/1",
    sampled=4000,
    gap="the tape gives new numbers to every draw, whatever seed its generator has",
)
def seeded_at_each_position(p, q, drafts):
    seed = int(torch.randint(0, 2**31 - 1, (1,)))
    for i, x in enumerate(drafts.tolist()):
        generator = torch.Generator().manual_seed(seed)
        if not torch.rand((), generator=generator) * q[i, x] < p[i, x]:
            return finished(p, q, drafts, i)
    return finished(p, q, drafts, len(drafts))
