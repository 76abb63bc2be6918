"""Slips in numbers: logits, temperatures, running sums, noise and the ends of a coin's grid."""

from __future__ import annotations

import torch
from catalogue import slip

HALF = "L=1 K=1 [] p=(1 1)/2 q=(0 1)/1"
SURE = "L=1 K=1 [] p=(0 1)/1 q=(1 0)/1"
EQUAL = "L=1 K=1 [] p=(0 1)/1 q=(0 1)/1"


def verified(p, q, drafts, draw=lambda weights: int(torch.multinomial(weights, 1))):
    """A right verifier of probabilities, if `draw` is right."""
    for i, x in enumerate(drafts.tolist()):
        if not torch.rand(()) * q[i, x] < p[i, x]:
            return [*drafts[:i].tolist(), draw((p[i] - q[i]).clamp(min=0))]
    return [*drafts.tolist(), draw(p[-1])]


@slip(
    "The temperature is applied to p alone after q was drawn with it, so p is sharpened twice.",
    on="L=1 K=1 [] p=(1 2)/3 q=(1 2)/3",
)
def temperature_twice(p, q, drafts):
    sharp = p ** (1 / 0.7)
    return verified(sharp / sharp.sum(-1, keepdim=True), q, drafts)


@slip("Rows that are probabilities go through softmax once more.", on=EQUAL)
def softmax_of_probabilities(p, q, drafts):
    return verified(p.softmax(-1), q.softmax(-1), drafts)


@slip("The ratio of logits stands for the ratio of probabilities.", logits=True, on="L=1 K=1 [] p=(1 1)/2 q=(1 3)/4")
def ratio_of_logits(p, q, drafts):
    for i, x in enumerate(drafts.tolist()):
        if not torch.rand(()) < p[i, x] / q[i, x]:
            rest = (p[i].exp() - q[i].exp()).clamp(min=0)
            return [*drafts[:i].tolist(), int(torch.multinomial(rest if rest.sum() > 0 else p[i].exp(), 1))]
    return [*drafts.tolist(), int(torch.multinomial(p[-1].softmax(-1), 1))]


@slip("The coin is compared with the difference of the logits; its logarithm was forgotten.", logits=True, on=HALF)
def logarithm_forgotten(p, q, drafts):
    for i, x in enumerate(drafts.tolist()):
        if not torch.rand(()) <= (p[i, x] - q[i, x]).clamp(max=0).add(1):
            rest = (p[i].exp() - q[i].exp()).clamp(min=0)
            return [*drafts[:i].tolist(), int(torch.multinomial(rest, 1))]
    return [*drafts.tolist(), int(torch.multinomial(p[-1].exp(), 1))]


@slip("The residual is a difference of logits, clipped, through softmax.", on=SURE, logits=True)
def residual_of_logits(p, q, drafts):
    for i, x in enumerate(drafts.tolist()):
        if not torch.rand(()).log() < p[i, x] - q[i, x]:
            rest = (p[i].clamp(min=-50) - q[i].clamp(min=-50)).clamp(min=0)
            return [*drafts[:i].tolist(), int(torch.multinomial((rest / 50).softmax(-1), 1))]
    return [*drafts.tolist(), int(torch.multinomial(p[-1].exp(), 1))]


@slip(
    "Logits are scaled by a temperature of 0.7 in p, and q is taken as it is.",
    logits=True,
    on="L=1 K=1 [] p=(1 2)/3 q=(1 2)/3",
)
def temperature_on_target_only(p, q, drafts):
    return verified(torch.softmax(p / 0.7, -1), torch.softmax(q, -1), drafts)


@slip(
    "A coin of 53 bits becomes 1 in single precision: a draft with p = q is rejected, and argmax of nothing is 0.",
    "zero_support",
    EQUAL,
)
def coin_rounded_to_one(p, q, drafts):
    for i, x in enumerate(drafts.tolist()):
        if not torch.rand((), dtype=torch.float64).float() * q[i, x] < p[i, x]:
            rest = (p[i] - q[i]).clamp(min=0).cumsum(-1)
            return [*drafts[:i].tolist(), int((torch.rand(()) * rest[-1] < rest).int().argmax())]
    return [*drafts.tolist(), int(torch.multinomial(p[-1], 1))]


@slip("searchsorted from the left gives token 0 for a coin of 0, whatever its weight.", "zero_support", EQUAL)
def searchsorted_left(p, q, drafts):
    def draw(weights):
        cdf = weights.cumsum(-1)
        return int(torch.searchsorted(cdf, torch.rand(1) * cdf[-1]))

    return verified(p, q, drafts, draw)


@slip("Gumbel noise is added to probabilities; it belongs to logarithms.", on=EQUAL, sampled=4000)
def gumbel_on_probabilities(p, q, drafts):
    def draw(weights):
        noise = -torch.log(-torch.log(torch.rand(len(weights)).clamp(1e-20, 1 - 2**-24)))
        return int((weights / weights.sum() + noise).argmax())

    return verified(p, q, drafts, draw)


@slip(
    "The weights are multiplied with exponential noise in place of divided by it.",
    on="L=1 K=1 [] p=(1 1 3)/5 q=(1 1 3)/5",
    open=True,
    sampled=24000,
)
def race_multiplied(p, q, drafts):
    return verified(p, q, drafts, lambda weights: int((weights * torch.empty_like(weights).exponential_()).argmax()))


@slip(
    "The noise of the first race is kept for all later ones, so draws are equal.",
    on="L=1 K=1 [] p=(1 1)/2 q=(1 0)/1",
    sampled=4000,
)
def gumbel_noise_reused(p, q, drafts):
    clocks = torch.empty(p.shape[-1]).exponential_().clamp(min=1e-30)
    for i, x in enumerate(drafts.tolist()):
        token = int((p[i] / clocks).argmax())
        if token != x:
            return [*drafts[:i].tolist(), token]
    return [*drafts.tolist(), int((p[-1] / clocks).argmax())]
