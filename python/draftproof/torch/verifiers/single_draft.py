"""Single-draft speculative sampling along a chain.

    u_i       uniform of token i          token i is accepted if u_i q_i(x_i) < p_i(x_i)
    residual  (p_i - q_i)+                distribution of the token that replaces the first rejected one

Correctness: an accepted token x is emitted with probability min(p(x), q(x)). The replacement of a rejected one adds
(p(x) - q(x))+, because the probability of a rejection is the sum of (p - q)+.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..draws import draw
from ..endings import above, with_extra
from ..inputs import Options, chain
from ..rows import Temperature


def single_draft(
    p: Tensor,
    q: Tensor,
    drafts: Tensor,
    *,
    lengths: Tensor | None = None,
    logits: bool = False,
    temperature: Temperature = None,
    generator: torch.Generator | None = None,
    uniforms: Tensor | None = None,
    check: bool = True,
) -> tuple[Tensor, Tensor]:
    """Token verification: accepts the drafts of a chain in turn, each as a single draft.

    Args:
        p: target rows [B, L + 1, V]; row i is the distribution after i drafts. Any floating type.
        q: proposal rows [B, L, V]; draft i was drawn from row i.
        drafts: [B, L], any integer type; -1 after the length of a row.
        lengths: [B], number of drafts of each row. By default drafts end before the first -1.
        logits: whether p and q are logits (natural logarithms up to a constant) rather than probabilities.
        temperature: divides logits; a number or a tensor [B], above 0.
        generator: source of the random numbers; the global one of the device by default.
        uniforms: [B, L + 1] of [0, 1) instead of a generator. A row reads one for each tested draft, in order, and the
            next one for its last token.
        check: whether to check values. It costs two passes over all rows, more than the decision itself.

    Returns:
        tokens [B, L + 1] int64, the accepted drafts and one more token, then -1; counts [B] of emitted tokens.

    Raises:
        ValueError: for shapes, types, devices or values that do not fit; the message has the location.

    Cost: L look-ups and one row of p and q a batch row; with logits one pass over all rows.
    Source: Leviathan et al. 2023, arXiv:2211.17192, algorithm 1; Chen et al. 2023, arXiv:2302.01318, algorithm 2.
    """
    at = chain(p, q, drafts, Options(lengths, logits, temperature, generator, uniforms, check))
    n = at.drafts.shape[1]
    u = at.uniforms.values
    passed = (u[:, :n] * at.q.at(at.drafts) < at.p.at(at.drafts)) & at.there
    accepted = passed.long().cumprod(1).sum(1)
    rejected = accepted < at.lengths
    rows = torch.arange(len(accepted), device=at.device)
    weights = at.p.row(rows, accepted)
    refused = rejected.nonzero().squeeze(1)
    if len(refused) > 0:
        weights[refused] = above(weights[refused], at.q.row(refused, accepted[refused]))
    last = u.gather(1, (accepted + rejected)[:, None]).squeeze(1)
    extra = draw(weights, last, lambda empty: at.p.row(empty, accepted[empty]), rows)
    return with_extra(at.drafts, accepted, extra)
