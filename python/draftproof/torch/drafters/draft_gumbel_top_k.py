"""K draws of one proposal without replacement, by a race of exponential clocks, which is Gumbel-top-k."""

from __future__ import annotations

import torch
from torch import Tensor

from ..draws import Uniforms
from ..inputs import Options, want, want_count, want_rows, want_temperature, want_tensors
from ..rows import Rows, Temperature


def draft_gumbel_top_k(
    q: Tensor,
    k: int,
    *,
    logits: bool = False,
    temperature: Temperature = None,
    generator: torch.Generator | None = None,
    uniforms: Tensor | None = None,
    check: bool = True,
) -> Tensor:
    """Draws k different tokens of each row, each from q without the tokens before it.

    Token x arrives at time E_x / q(x), E_x exponential; the first k arrivals are the drafts. With G = -log E this
    orders tokens by log q(x) + G(x), the perturbed logits of Gumbel-top-k.

    Args:
        q: proposal [B, V]. Any floating type.
        k: number of drafts of a row, at most V.
        logits: whether q is logits (natural logarithms up to a constant) rather than probabilities.
        temperature: divides logits; a number or a tensor [B], above 0.
        generator: source of the clocks, drawn by Tensor.exponential_; the global one of the device by default.
        uniforms: [B, V] of [0, 1) instead of a generator; the clock of token x is -log of its number.
        check: whether to check values, by two passes over the rows.

    Returns:
        drafts [B, k] int64 in the order of the draw; -1 at the end where q has fewer than k tokens.

    Raises:
        ValueError: for shapes, types, devices or values that do not fit; the message has the location.

    Cost: V random numbers a row, and a selection of the k least.
    Source: Kool et al. 2019, arXiv:1903.06059, section 2.3; the race is Efraimidis and Spirakis 2006, algorithm A.
    """
    Options(None, logits, temperature, generator, uniforms, check)  # checks their types
    want_tensors(q=q)
    want_rows("q", q, ("B", "V"), q.device)
    want_temperature(logits, temperature, len(q))
    want_count("k", k, 0)
    want(k <= q.shape[1], "k", k, f"0 .. {q.shape[1]}")
    rows = Rows("q", q[:, None], logits, temperature)
    if check:
        rows.check(torch.ones(len(q), dtype=torch.int64, device=q.device))
    distribution = rows.single()
    if uniforms is None:
        clocks = torch.empty_like(distribution).exponential_(generator=generator)
    else:
        numbers = Uniforms(distribution.shape[0], distribution.shape[1], q.device, generator, uniforms)
        if check:
            numbers.check()
        clocks = -numbers.values.log()
    arrivals = torch.where(distribution > 0, clocks / distribution, torch.inf)
    # The time of tokens with q = 0 and of tokens with an infinite clock is infinite; these tokens are not drawn.
    times, drafts = arrivals.topk(k, dim=1, largest=False, sorted=True)
    there = distribution.gather(1, drafts) > 0
    return torch.where(there & (times < torch.inf), drafts, -1)
