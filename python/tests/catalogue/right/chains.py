"""Right verifiers of chains, one draft after the other, as people write them."""

from __future__ import annotations

import torch
from catalogue import correct
from catalogue.residual import left_of


@correct("A loop over positions, scalars, multinomial.")
def loop(p, q, drafts):
    for i, x in enumerate(drafts.tolist()):
        if not torch.rand(()) * q[i, x] < p[i, x]:
            return [*drafts[:i].tolist(), int(torch.multinomial(left_of(p[i], q[i]), 1))]
    return [*drafts.tolist(), int(torch.multinomial(p[-1], 1))]


@correct("All coins at once, the first rejection by cumprod, one draw at the end.")
def vectorised(p, q, drafts):
    ratio = p[:-1].gather(1, drafts[:, None]) / q.gather(1, drafts[:, None])
    n = int((torch.rand_like(ratio) < ratio).long().cumprod(0).sum())
    proposal = torch.cat([q, torch.zeros_like(q[:1])])[n]
    return torch.cat([drafts[:n], torch.multinomial(left_of(p[n], proposal), 1)])


@correct("No branch: every position draws its correction, and `where` chooses among them.")
def where(p, q, drafts):
    at = torch.arange(len(drafts))
    accepted = torch.rand(len(drafts)) * q[at, drafts] < p[at, drafts]
    rest = left_of(p[:-1], q)
    last = torch.multinomial(torch.cat([rest, p[-1:]]), 1)[:, 0]
    n = torch.where(accepted.all(), len(drafts), (~accepted).int().argmax())
    return torch.cat([drafts[:n], last[n : n + 1]])


@correct("The last token by inversion of the running sum with a coin.")
def inverse_cdf(p, q, drafts):
    n = 0
    while n < len(drafts) and torch.rand(()) * q[n, drafts[n]] < p[n, drafts[n]]:
        n += 1
    weights = p[n] if n == len(drafts) else left_of(p[n], q[n])
    cdf = weights.cumsum(0)
    return [*drafts[:n].tolist(), int((torch.rand(()) * cdf[-1] < cdf).int().argmax())]


@correct("searchsorted from the right on a running sum in double, coins of 53 bits.")
def searchsorted_right(p, q, drafts):
    p, q = p.double(), q.double()
    for i, x in enumerate(drafts):
        if not torch.rand((), dtype=torch.float64) * q[i, x] < p[i, x]:
            weights, kept = left_of(p[i], q[i]), drafts[:i]
            break
    else:
        weights, kept = p[-1], drafts
    cdf = weights.cumsum(0)
    u = torch.rand(1, dtype=torch.float64) * cdf[-1]
    return torch.cat([kept, torch.searchsorted(cdf, u, right=True)])


@correct("Float64 coins from one array, compared with ratios in double.")
def float64_coins(p, q, drafts):
    coins = torch.rand(len(drafts), dtype=torch.float64)
    for i, x in enumerate(drafts):
        if coins[i] >= p[i, x].double() / q[i, x].double():
            weights = left_of(p[i].double(), q[i].double())
            return [*drafts[:i].tolist(), weights.multinomial(1).item()]
    return [*drafts.tolist(), p[-1].double().multinomial(1).item()]


@correct("In place, on the function's own copies and buffers, with uniform_.")
def in_place(p, q, drafts):
    rest, coin = p.clone(), torch.empty(len(drafts)).uniform_()
    for i, x in enumerate(drafts.tolist()):
        coin[i].mul_(q[i, x])
        if not coin[i] < p[i, x]:
            if (p[i] > q[i]).any():  # else rounding leaves nothing, and p is the rest
                rest[i].sub_(q[i]).clamp_(min=0)
            break
    else:
        i = len(drafts)
    tokens = torch.empty(i + 1, dtype=torch.long)
    tokens[:i].copy_(drafts[:i])
    tokens[i] = rest[i].div_(rest[i].sum()).multinomial(1)
    return tokens


@correct("A torch.Generator is given to every draw.")
def with_generator(p, q, drafts, *, generator):
    coins = torch.rand(drafts.shape, generator=generator)
    for i, x in enumerate(drafts.tolist()):
        if not coins[i] * q[i, x] < p[i, x]:
            rest = left_of(p[i], q[i])
            return [*drafts[:i].tolist(), int(torch.multinomial(rest, 1, generator=generator))]
    return [*drafts.tolist(), int(torch.multinomial(p[-1], 1, generator=generator))]


@correct("bernoulli in place of a compared coin.")
def by_bernoulli(p, q, drafts):
    for i, x in enumerate(drafts.tolist()):
        if not torch.bernoulli((p[i, x] / q[i, x]).clamp(max=1)):
            return [*drafts[:i].tolist(), int(torch.multinomial(left_of(p[i], q[i]), 1))]
    return [*drafts.tolist(), int(torch.multinomial(p[-1], 1))]


@correct("One uniform for everything: what a decision leaves of it is stretched to the next decision.")
def one_uniform(p, q, drafts):
    below_one = 1 - 2.0**-53
    u = float(torch.rand((), dtype=torch.float64))
    for i, x in enumerate(drafts.tolist()):
        accept = min(1.0, float(p[i, x]) / float(q[i, x]))
        if not u < accept:
            u = min((u - accept) / (1 - accept), below_one)
            weights = left_of(p[i].double(), q[i].double())
            break
        u = min(u / accept, below_one)
    else:
        i, weights = len(drafts), p[-1].double()
    cdf = weights.cumsum(0)
    return [*drafts[:i].tolist(), int((u * cdf[-1] < cdf).int().argmax())]


@correct("Draw from p, emit it, go on while it is the draft; q is not read.")
def sample_and_match(p, q, drafts):
    tokens = torch.multinomial(p, 1)[:, 0]
    n = int((tokens[:-1] == drafts).long().cumprod(0).sum())
    return tokens[: n + 1]


@correct("No token after the last draft: a token less, the same law.")
def without_bonus(p, q, drafts):
    for i, x in enumerate(drafts.tolist()):
        if not torch.rand(()) * q[i, x] < p[i, x]:
            return [*drafts[:i].tolist(), int(torch.multinomial(left_of(p[i], q[i]), 1))]
    return drafts


@correct("Block verification: the longest prefix whose joint test succeeds (arXiv 2403.10444, algorithm 2).")
def block(p, q, drafts):
    # In double: the joint ratio is a product. p[i] and q[i] are rows after i drafts; q has none after the last one.
    p, q, joint, kept = p.double(), q.double(), 1.0, 0
    weights = (p[0] - q[0]).clamp(min=0)
    for i, x in enumerate(drafts.tolist()):
        joint = min(1.0, joint * float(p[i, x] / q[i, x]))
        if i + 1 < len(drafts):
            rest = (joint * p[i + 1] - q[i + 1]).clamp(min=0)
            mass = float(rest.sum())
            test = mass / (mass + 1 - joint) if mass > 0 else 0.0
        else:
            rest, test = p[-1], joint
        if torch.rand((), dtype=torch.float64) < test:
            kept, weights = i + 1, rest
    return [*drafts[:kept].tolist(), int(torch.multinomial(weights if weights.sum() > 0 else p[kept], 1))]
