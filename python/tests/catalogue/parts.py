"""Right verifiers in torch. Wrong verifiers are made from them by replacing one of their parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

HALF = "L=1 K=1 [] p=(1 1)/2 q=(0 1)/1"
SURE = "L=1 K=1 [] p=(0 1)/1 q=(1 0)/1"
EQUAL = "L=1 K=1 [] p=(0 1)/1 q=(0 1)/1"
NEXT = "L=1 K=1 [] p=(1 0)/1 q=(1 0)/1 [0] p=(0 1)/1 q=(1 0)/1"


def left_of(p, q):
    """Returns (p - q)+ along the last axis, or p where this is all zero. Rows next to p = q may be rounded so that p is
    below q at the rejected draft and above q at no token."""
    rest = (p - q).clamp(min=0)
    return torch.where(rest.sum(-1, keepdim=True) > 0, rest, p)


def by_weights(weights):
    return int(torch.multinomial(torch.as_tensor(weights), 1))


def inverted(weights, u):
    """Returns the first token whose running sum is above u times the total."""
    cdf = weights.cumsum(-1)
    return int((u * cdf[-1] < cdf).int().argmax())


def ratio(p, q, i, x):
    return torch.rand(()) * q[i, x] < p[i, x]


def rest_of(p, q, i, x):
    return (p[i] - q[i]).clamp(min=0)


def kept_rest(p, q, i, x):
    return left_of(p[i], q[i])


def chain(p, q, drafts, *, keep=ratio, rest=rest_of, pick=by_weights):
    """Emits drafts while `keep` accepts them, then one more token. This token is drawn from the weights that `rest`
    returns at the rejected draft or, if all drafts are accepted, from the last row of p."""
    tokens = [int(x) for x in drafts]
    for i, x in enumerate(tokens):
        if not keep(p, q, i, x):
            return [*tokens[:i], pick(rest(p, q, i, x))]
    return [*tokens, pick(p[len(tokens)])]


def by_sums(weights: Any, u: float) -> int:
    """Returns a token as `inverted` does, but sums in double and never returns a token without weight."""
    w = np.asarray(weights, np.float64)
    sums = w.cumsum()
    return min(int(np.searchsorted(sums, u * sums[-1], side="right")), int(np.flatnonzero(w)[-1]))


def left(p: Any, q: Any) -> Any:
    rest = (p - q).clip(0)
    return rest if rest.sum() > 0 else p


def verified(p: Any, q: Any, drafts: Any, uniform: Any = None, pick: Any = None, rest: Any = left) -> list[int]:
    """Verifies as `chain`, for rows of torch or numpy. If given, `uniform` draws every coin, also the coin that draws
    the last token."""
    coin = uniform or (lambda: float(torch.rand((), dtype=torch.float64)))
    return chain(
        p,
        q,
        drafts,
        keep=lambda p, q, i, x: coin() * float(q[i, x]) < float(p[i, x]),
        rest=lambda p, q, i, x: rest(p[i], q[i]),
        pick=pick or ((lambda w: by_sums(w, uniform())) if uniform else by_weights),
    )


def tests(p, q, drafts, coins):
    """Returns which drafts of a batch pass, [B, L] of bool."""
    x = drafts.clamp(min=0)[..., None]
    return coins * q.gather(2, x)[..., 0] < p[:, :-1].gather(2, x)[..., 0]


def padded(drafts, n, token):
    """Returns tokens [B, L + 1]: each row has its first n drafts, the token after them, then -1."""
    at = torch.arange(drafts.shape[1] + 1)
    tokens = torch.where(at < n[:, None], torch.nn.functional.pad(drafts, (0, 1), value=-1), -1)
    return torch.where(at == n[:, None], token[:, None], tokens)


def weights_after(p, q, n, lengths):
    """Returns the weights [B, V] of the token after n accepted drafts."""
    rows = torch.arange(len(p))
    rest = left_of(p[rows, n], q[rows, n.clamp(max=q.shape[1] - 1)])
    return torch.where((n < lengths)[:, None], rest, p[rows, n])


def batch(p, q, drafts, lengths=None, coins=None, count=lambda n: n):
    """Verifies a batch correctly, also if some rows have fewer drafts. Wrong functions pass a `count`, which changes
    the numbers of accepted drafts."""
    lengths = torch.full((len(p),), drafts.shape[1]) if lengths is None else lengths
    coins = torch.rand(drafts.shape) if coins is None else coins
    inside = torch.arange(drafts.shape[1]) < lengths[:, None]
    n = count((inside & tests(p, q, drafts, coins)).long().cumprod(1).sum(1))
    return padded(drafts, n, torch.multinomial(weights_after(p, q, n, lengths), 1)[:, 0])
