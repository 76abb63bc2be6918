"""Right verifiers of logits, which are natural logarithms of probabilities; 0 is minus infinity."""

from __future__ import annotations

import torch
from catalogue import correct


@correct("The test in logarithms, the residual in probabilities.", logits=True)
def log_test(p, q, drafts):
    for i, x in enumerate(drafts.tolist()):
        if not torch.rand(()).log() < p[i, x] - q[i, x]:
            rest = (p[i].exp() - q[i].exp()).clamp(min=0)
            return [*drafts[:i].tolist(), int(torch.multinomial(rest if rest.sum() > 0 else p[i].exp(), 1))]
    return [*drafts.tolist(), int(torch.multinomial(p[-1].exp(), 1))]


@correct("softmax first, then as probabilities.", logits=True)
def softmax_first(p, q, drafts):
    p, q = p.softmax(-1), q.softmax(-1)
    at = torch.arange(len(drafts))
    keep = torch.rand(len(drafts)) * q[at, drafts] < p[at, drafts]
    n = int(keep.long().cumprod(0).sum())
    weights = p[n]
    if n < len(drafts) and ((p[n] - q[n]) > 0).any():
        weights = (p[n] - q[n]).clamp(min=0)
    return [*drafts[:n].tolist(), int(weights.multinomial(1))]
