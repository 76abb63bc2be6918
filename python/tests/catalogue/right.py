"""Right verifiers in torch, in styles that `written` does not have."""

from __future__ import annotations

import torch

from catalogue import right
from catalogue.parts import by_weights, chain, inverted, kept_rest, left_of

TINY = torch.finfo(torch.float32).tiny


@right("In place, on the function's own copies and buffers, with uniform_.")
def in_place(p, q, drafts):
    rest, coin = p.clone(), torch.empty(len(drafts)).uniform_()
    for i, x in enumerate(drafts.tolist()):
        coin[i].mul_(q[i, x])
        if not coin[i] < p[i, x]:
            if (p[i] > q[i]).any():  # otherwise rounding leaves no residual, and `rest` stays p
                rest[i].sub_(q[i]).clamp_(min=0)
            break
    else:
        i = len(drafts)
    tokens = torch.empty(i + 1, dtype=torch.long)
    tokens[:i].copy_(drafts[:i])
    tokens[i] = rest[i].div_(rest[i].sum()).multinomial(1)
    return tokens


@right("One uniform for everything: what a decision leaves of it is stretched to the next decision.")
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
    return [*drafts[:i].tolist(), inverted(weights, u)]


@right("No branch: one call draws a correction for every position, and the first rejection chooses among them.")
def all_corrections(p, q, drafts):
    at = torch.arange(len(drafts))
    accepted = torch.rand(len(drafts)) * q[at, drafts] < p[at, drafts]
    last = torch.multinomial(torch.cat([left_of(p[:-1], q), p[-1:]]), 1)[:, 0]
    n = torch.where(accepted.all(), len(drafts), (~accepted).int().argmax())
    return torch.cat([drafts[:n], last[n : n + 1]])


@right("One call draws from every row of p; tokens are emitted as long as they are the drafts. q is not read.")
def sample_and_match(p, q, drafts):
    tokens = torch.multinomial(p, 1)[:, 0]
    return tokens[: int((tokens[:-1] == drafts).long().cumprod(0).sum()) + 1]


@right("No token after the last draft: a token less, the same distribution.")
def without_bonus(p, q, drafts):
    return chain(p, q, drafts, rest=kept_rest)[: len(drafts)]


@right("Block verification: the longest prefix whose joint test succeeds (arXiv 2403.10444, algorithm 2).")
def block(p, q, drafts):
    # The rows are converted to double, because the joint ratio is a product. p[i] and q[i] are rows after i drafts; q
    # has no last row.
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
    return [*drafts[:kept].tolist(), by_weights(weights if weights.sum() > 0 else p[kept])]


@right("The test in logarithms, the residual in probabilities.", logits=True)
def log_test(p, q, drafts):
    def keep(_, __, i, x):
        return torch.rand(()).log() < p[i, x] - q[i, x]

    return chain(p.exp(), q.exp(), drafts, keep=keep, rest=kept_rest)


@right("Exponential race: the greatest weight over its clock.", sampled=4000)
def exponential_race(p, q, drafts):
    def draw(weights):
        return int((weights / torch.empty_like(weights).exponential_().clamp_(min=TINY)).argmax())

    return chain(p, q, drafts, rest=kept_rest, pick=draw)


@right("Gumbel noise -log(-log u) on logarithms of weights, u clamped inside (0, 1).", sampled=4000)
def gumbel_of_uniforms(p, q, drafts):
    def draw(weights):
        u = torch.rand(len(weights)).clamp(TINY, 1 - 2**-24)
        return int((weights.log() - (-u.log()).log()).argmax())

    return chain(p, q, drafts, rest=kept_rest, pick=draw)


@right("The least clock over its weight, tokens without weight left out, in double.", sampled=4000)
def first_arrival(p, q, drafts):
    def draw(weights):
        live = weights.nonzero()[:, 0]
        times = torch.empty(len(weights), dtype=torch.float64).exponential_()[live] / weights[live].double()
        return int(live[times.argmin()])

    return chain(p, q, drafts, rest=kept_rest, pick=draw)


# Functions with several drafts at one position, and with children drawn without replacement.


def rejected(distribution, q):
    """Returns the residual of a distribution after a rejection by q, normalised."""
    rest = left_of(distribution, q)
    return rest / rest.sum()


@right("Repeats are left out, and the others are verified as drawn without replacement.", level="position")
def distinct_drafts(p, q, drafts):
    for x in dict.fromkeys(drafts.tolist()):
        distribution = q / q.sum()
        if torch.rand(()) * distribution[x] < p[x]:
            return x
        p, q = rejected(p, distribution), q.index_fill(0, torch.tensor(x), 0.0)
    return torch.multinomial(p, 1)


@right("Only the first draft is tested.", level="position")
def first_draft_alone(p, q, drafts):
    x = drafts[0]
    return x if torch.rand(()) * q[x] < p[x] else torch.multinomial(rejected(p, q), 1)


@right("Drafts are tested in an order that a coin chose.", level="position")
def random_order(p, q, drafts):
    if len(drafts) > 1 and torch.rand(()) < 0.5:
        drafts = drafts.flip(0)
    for x in drafts.tolist():
        if torch.rand(()) * q[x] < p[x]:
            return x
        p = rejected(p, q)
    return torch.multinomial(p, 1)


@right("Children without replacement.", level="tree", drafts="without_replacement_tree")
def tree_without_replacement(p, q, drafts, parents):
    node, tokens = -1, []
    while True:
        distribution, used = p[node + 1], []
        for child in torch.where(parents == node)[0].tolist():
            x = int(drafts[child])
            proposal = q[child].index_fill(0, torch.tensor(used, dtype=torch.long), 0.0)
            proposal = proposal / proposal.sum()
            if torch.rand(()) * proposal[x] < distribution[x]:
                node = child
                tokens.append(x)
                break
            distribution = rejected(distribution, proposal)
            used.append(x)  # each rejection takes the token out of the proposal
        else:
            return [*tokens, by_weights(distribution)]


# Functions of batches. The rows of tokens that they return end in -1.


@right("A loop over rows; each of them has its own coins.", batched=True)
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


@right("Several drafts at one position, rows side by side.", batched=True, level="position")
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
