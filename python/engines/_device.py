"""The device that kernels of engines run on, and draws on it, whose numbers the gate replaces."""

from __future__ import annotations

from typing import Any

from draftproof.engines import Missing

DEVICE = "cuda"


def want_device() -> None:
    """Raises: Missing without a device."""
    import torch

    if not torch.cuda.is_available():
        raise Missing("torch finds no CUDA device")


def uniforms(*shape: int) -> Any:
    import torch

    return torch.rand(*shape, device=DEVICE)


def picks(rows: Any) -> Any:
    """A token of each row [B, V], by its weights."""
    import torch

    return torch.multinomial(rows.to(DEVICE), 1)[:, 0]
