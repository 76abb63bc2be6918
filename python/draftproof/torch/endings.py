"""The end of a decision: the token that corrects a rejection or follows an accepted path, and the shape of the
answer."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from .draws import draw


def above(target: Tensor, rest: Tensor) -> Tensor:
    """Returns (target - rest)+, in the memory of `target`."""
    return target.sub_(rest).clamp_(min=0)


def with_extra(drafts: Tensor, accepted: Tensor, extra: Tensor) -> tuple[Tensor, Tensor]:
    """Returns tokens [B, L + 1], which are the accepted drafts, one more token, and -1 after it; and the numbers of
    emitted tokens [B]."""
    n = drafts.shape[1]
    place = torch.arange(n + 1, device=drafts.device)
    tokens = torch.cat([drafts, torch.zeros_like(extra[:, None])], dim=1)
    tokens = torch.where(place < accepted[:, None], tokens, -1)
    return tokens.scatter_(1, accepted[:, None], extra[:, None]), accepted + 1


def one_token(
    drafts: Tensor,
    accepted: Tensor,
    u: Tensor,
    residual: Callable[[Tensor], Tensor],
    target: Callable[[Tensor], Tensor],
) -> tuple[Tensor, Tensor]:
    """Returns the token [B] and the index of the accepted draft [B], which is `accepted` (-1: none).

    Rows without an accepted draft draw by u [B] from residual(rows), or from target(rows) if the residual has no mass.
    """
    token = drafts.gather(1, accepted.clamp(min=0)[:, None]).squeeze(1) if drafts.shape[1] > 0 else accepted.clone()
    rows = (accepted < 0).nonzero().squeeze(1)
    if len(rows) > 0:
        token[rows] = draw(residual(rows), u[rows], target, rows)
    return token, accepted
