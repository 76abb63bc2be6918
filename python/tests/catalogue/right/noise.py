"""Right verifiers whose last token wins a race of noise."""

from __future__ import annotations

import torch
from catalogue import correct
from catalogue.residual import left_of

TINY = torch.finfo(torch.float32).tiny


def walk(p, q, drafts, draw):
    for i, x in enumerate(drafts.tolist()):
        if not torch.rand(()) * q[i, x] < p[i, x]:
            return [*drafts[:i].tolist(), draw(left_of(p[i], q[i]))]
    return [*drafts.tolist(), draw(p[-1])]


@correct("Exponential race: the greatest weight over its clock.", sampled=4000)
def exponential_race(p, q, drafts):
    def draw(weights):
        clocks = torch.empty_like(weights).exponential_().clamp_(min=TINY)
        return int((weights / clocks).argmax())

    return walk(p, q, drafts, draw)


@correct(
    "Gumbel noise -log(-log u) on logarithms of weights, u clamped inside (0, 1).",
    sampled=4000,
    gap="uniforms of a race of weights 57 to 1 are too coarse for its law: predictions fail",
)
def gumbel_of_uniforms(p, q, drafts):
    def draw(weights):
        u = torch.rand(len(weights)).clamp(TINY, 1 - 2**-24)
        return int((weights.log() - (-u.log()).log()).argmax())

    return walk(p, q, drafts, draw)


@correct("The least clock over its weight, tokens without weight left out, in double.", sampled=4000)
def first_arrival(p, q, drafts):
    def draw(weights):
        live = weights.nonzero()[:, 0]
        times = torch.empty(len(weights), dtype=torch.float64).exponential_()[live] / weights[live].double()
        return int(live[times.argmin()])

    return walk(p, q, drafts, draw)
