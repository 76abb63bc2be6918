"""What a rejection leaves of a row of p, for right verifiers in torch."""

from __future__ import annotations

import torch


def left_of(p, q):
    """(p - q)+ along the last axis; p itself where nothing is left: rows next to p = q round so that p is below q at
    the rejected draft and above it nowhere."""
    rest = (p - q).clamp(min=0)
    return torch.where(rest.sum(-1, keepdim=True) > 0, rest, p)
