"""The functions of mlx that decisions on drafts call, by torch, whose random numbers the gate can replace."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch


def categorical(logits: Any) -> Any:
    """Draws a token of each row as mlx does, which adds Gumbel noise of float32. Because the noise's values are less
    than 25 apart, a token whose logit is 25 below the likeliest token's is never drawn."""
    near = logits > logits.max(-1, keepdim=True).values - 25
    return torch.multinomial(torch.softmax(logits, -1) * near, 1)[..., 0]


class Mlx:
    """Replaces mlx.core in functions that are compiled from a package's file."""

    int32 = torch.int32
    array = staticmethod(torch.as_tensor)
    arange = staticmethod(torch.arange)
    argmax = staticmethod(torch.argmax)
    exp = staticmethod(torch.exp)
    where = staticmethod(torch.where)
    cumprod = staticmethod(lambda rows, axis=-1: torch.cumprod(rows, axis))
    log = staticmethod(torch.log)
    softmax = staticmethod(lambda rows, axis=-1: torch.softmax(rows, axis))
    sum = staticmethod(torch.sum)
    random = SimpleNamespace(uniform=lambda shape=(): torch.rand(shape), categorical=categorical)

    @staticmethod
    def maximum(a: Any, b: Any) -> Any:
        return torch.maximum(torch.as_tensor(a), torch.as_tensor(b))

    @staticmethod
    def minimum(a: Any, b: Any) -> Any:
        return torch.minimum(torch.as_tensor(a), torch.as_tensor(b))
