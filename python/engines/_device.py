"""The device on which engines' kernels run, and draws by torch on it, whose numbers the gate can replace."""

from __future__ import annotations

from typing import Any

from draftproof.engines import Missing

DEVICE = "cuda"


def want_device() -> None:
    """Raises: Missing if torch finds no CUDA device."""
    import torch

    if not torch.cuda.is_available():
        raise Missing("torch finds no CUDA device")


def uniforms(*shape: int) -> Any:
    import torch

    return torch.rand(*shape, device=DEVICE)


def picks(rows: Any) -> Any:
    """Draws a token of each row [B, V] with probability proportional to its weight. Returns [B]."""
    import torch

    return torch.multinomial(rows.to(DEVICE), 1)[:, 0]
