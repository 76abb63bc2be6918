"""Slips that carry something from call to call, or draw where nobody looks."""

from __future__ import annotations

import os
from collections import deque

import torch
from catalogue import slip

_calls = [0]
_coins: deque[float] = deque()
_residuals: dict[tuple[int, int], torch.Tensor] = {}


def chain(p, q, drafts, coin, residual):
    for i, x in enumerate(drafts.tolist()):
        if not coin() * q[i, x] < p[i, x]:
            return [*drafts[:i].tolist(), int(torch.multinomial(residual(i, x), 1))]
    return [*drafts.tolist(), int(torch.multinomial(p[-1], 1))]


@slip("Every third call leaves out the token after the drafts.", "function")
def every_third_call(p, q, drafts):
    _calls[0] += 1
    tokens = chain(p, q, drafts, lambda: torch.rand(()), lambda i, x: (p[i] - q[i]).clamp(min=0))
    return tokens[:-1] if _calls[0] % 3 == 0 and len(tokens) > 1 else tokens


@slip("Residuals are cached by position and draft, and calls with other rows find them.")
def residual_cached(p, q, drafts):
    def residual(i, x):
        found = _residuals.get((i, x))
        if found is None or len(found) != p.shape[-1]:
            _residuals[i, x] = found = (p[i] - q[i]).clamp(min=0)
        return found

    return chain(p, q, drafts, lambda: torch.rand(()), residual)


@slip("Coins are drawn eight at a time and kept for later calls.", "function")
def coins_kept(p, q, drafts):
    def coin():
        if not _coins:
            _coins.extend(torch.rand(8).tolist())
        return _coins.popleft()

    return chain(p, q, drafts, coin, lambda i, x: (p[i] - q[i]).clamp(min=0))


@slip("Coins come from the operating system, which no seed reaches.", "function")
def coins_of_the_system(p, q, drafts):
    def coin():
        return int.from_bytes(os.urandom(3), "little") / 2**24

    return chain(p, q, drafts, coin, lambda i, x: (p[i] - q[i]).clamp(min=0))


@slip("The first draft's test is left out when the call before it rejected.", "function")
def streak(p, q, drafts, last=[False]):  # noqa: B006 - the state is the slip
    tokens = chain(
        p,
        q,
        drafts,
        lambda: torch.rand(()) * (0.5 if last[0] else 1.0),
        lambda i, x: (p[i] - q[i]).clamp(min=0),
    )
    last[0] = len(tokens) <= len(drafts)
    return tokens
