"""The functions of mlx that decisions on drafts call, on tensors of torch: mlx draws on a device of its own."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch


def categorical(logits: Any) -> Any:
    """A draw as by mlx, which adds Gumbel noise of float32: its values are less than 25 apart, so that a token this far
    below the likeliest one is never drawn."""
    near = logits > logits.max(-1, keepdim=True).values - 25
    return torch.multinomial(torch.softmax(logits, -1) * near, 1)[..., 0]


class Mlx:
    """mlx.core for functions that are compiled from a package's file."""

    int32 = torch.int32
    array = staticmethod(torch.as_tensor)
    arange = staticmethod(torch.arange)
    argmax = staticmethod(torch.argmax)
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
