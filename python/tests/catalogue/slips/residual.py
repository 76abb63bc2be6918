"""Slips in the law that replaces a rejected draft."""

from __future__ import annotations

import torch
from catalogue import slip

HALF = "L=1 K=1 [] p=(1 1)/2 q=(0 1)/1"
SURE = "L=1 K=1 [] p=(0 1)/1 q=(1 0)/1"
THREE = "L=1 K=1 [] p=(0 1 1)/2 q=(1 0 1)/2"


def first_rejected(p, q, drafts):
    for i, x in enumerate(drafts.tolist()):
        if not torch.rand(()) * q[i, x] < p[i, x]:
            return i
    return len(drafts)


def draw(weights):
    return int(torch.multinomial(weights, 1))


@slip("A rejected draft is replaced by a draw from p, so tokens with p < q come too often.", on=HALF)
def residual_is_target(p, q, drafts):
    n = first_rejected(p, q, drafts)
    return [*drafts[:n].tolist(), draw(p[n])]


@slip("The difference p - q keeps its negative entries, and multinomial takes no negative weights.", "answers", SURE)
def residual_not_clipped(p, q, drafts):
    n = first_rejected(p, q, drafts)
    if n == len(drafts):
        return [*drafts.tolist(), draw(p[n])]
    residual = p[n] - q[n]
    return [*drafts[:n].tolist(), draw(residual / residual.abs().sum())]


@slip("The absolute difference gives weight to tokens with p < q.", on=HALF)
def residual_absolute(p, q, drafts):
    n = first_rejected(p, q, drafts)
    weights = p[n] if n == len(drafts) else (p[n] - q[n]).abs()
    return [*drafts[:n].tolist(), draw(weights)]


@slip("The residual is (q - p)+, which draws the tokens that were proposed too often.", on=SURE)
def residual_reversed(p, q, drafts):
    n = first_rejected(p, q, drafts)
    weights = p[n] if n == len(drafts) else torch.relu(q[n] - p[n])
    return [*drafts[:n].tolist(), draw(weights)]


@slip("The most probable residual token is emitted in place of a draw.", on="L=1 K=1 [] p=(0 1 1)/2 q=(1 0 0)/1")
def residual_argmax(p, q, drafts):
    n = first_rejected(p, q, drafts)
    if n == len(drafts):
        return [*drafts.tolist(), draw(p[n])]
    return [*drafts[:n].tolist(), int((p[n] - q[n]).clamp(min=0).argmax())]


@slip("Only the rejected token is taken out of p; other tokens with p < q keep their weight.", on=THREE)
def residual_without_rejected(p, q, drafts):
    n = first_rejected(p, q, drafts)
    weights = p[n].clone()
    if n < len(drafts):
        weights[drafts[n]] = 0
    return [*drafts[:n].tolist(), draw(weights)]


@slip("The floor of 1e-5, meant against an empty residual, gives weight to tokens with p = 0.", on=SURE)
def residual_floor(p, q, drafts):
    n = first_rejected(p, q, drafts)
    if n == len(drafts):
        return [*drafts.tolist(), draw(p[n])]
    residual = torch.clamp(p[n] - q[n], min=1e-5)
    return [*drafts[:n].tolist(), draw(residual / residual.sum())]


@slip("An epsilon in the sum leaves the last values of the coin without a cell; argmax then says 0.", on=SURE)
def epsilon_in_sum(p, q, drafts):
    n = first_rejected(p, q, drafts)
    residual = p[n] if n == len(drafts) else (p[n] - q[n]).clamp(min=0)
    cdf = torch.cumsum(residual / (residual.sum() + 1e-5), dim=-1)
    return [*drafts[:n].tolist(), int((torch.rand(()) < cdf).int().argmax())]


@slip("The residual is inverted without being divided by its sum, so the last token takes the rest.", on=HALF)
def residual_cdf_not_normalised(p, q, drafts):
    n = first_rejected(p, q, drafts)
    weights = p[n] if n == len(drafts) else (p[n] - q[n]).clamp(min=0)
    below = torch.rand(()) >= weights.cumsum(-1)
    return [*drafts[:n].tolist(), int(below.sum().clamp(max=len(weights) - 1))]


@slip("The residual is rounded to half precision, an error of 2^-12.", on="L=1 K=1 [] p=(2 3 0)/5 q=(0 0 1)/1")
def residual_half(p, q, drafts):
    n = first_rejected(p, q, drafts)
    if n == len(drafts):
        return [*drafts.tolist(), draw(p[n])]
    residual = (p[n].half() - q[n].half()).clamp(min=0)
    return [*drafts[:n].tolist(), draw(residual.float())]


@slip("The draw is cut to the two most probable tokens.", on="L=1 K=1 [] p=(1 1 1)/3 q=(1 0 0)/1")
def draw_of_top_two(p, q, drafts):
    n = first_rejected(p, q, drafts)
    weights = p[n] if n == len(drafts) else (p[n] - q[n]).clamp(min=0)
    top = weights.topk(min(2, len(weights)))
    return [*drafts[:n].tolist(), int(top.indices[draw(top.values)])]


@slip(
    "The last entry of the vocabulary is cut off, as if it were padding.", "answers", "L=1 K=1 [] p=(0 1)/1 q=(0 1)/1"
)
def last_entry_dropped(p, q, drafts):
    n = first_rejected(p, q, drafts)
    weights = p[n] if n == len(drafts) else (p[n] - q[n]).clamp(min=0)
    return [*drafts[:n].tolist(), draw(weights[:-1])]


@slip("The correction is a draw from p, drawn once more if it is the rejected draft.", on=HALF)
def residual_by_resampling(p, q, drafts):
    n = first_rejected(p, q, drafts)
    token = draw(p[n])
    if n < len(drafts) and token == int(drafts[n]):
        token = draw(p[n])
    return [*drafts[:n].tolist(), token]
