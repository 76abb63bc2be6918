"""A minimum length that ends inside a step: a request must not stop with its next token, but may stop with every later
token."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from draftproof.declare import adapter


def least_length(engine: str, sample: Callable[..., Any]) -> Any:
    """Returns a subject that verifies with sample(logits [n + 1, V + 1], proposal [n, V + 1], drafts [n]) -> tokens, a
    step of an engine whose stop token is 0.

    The engine's token x + 1 stands for token x of the rows. In the first row, the stop token has as much mass as all
    others together and must not be emitted. In later rows, the stop token stands for token 0 and has its mass. The
    engine's token 1 stands for token 0 too and has almost no mass there, so it is emitted only if the engine masks the
    stop token in a row without other tokens."""
    import torch

    def placed(rows: Any, empty: float) -> Any:
        wide = torch.nn.functional.pad(rows, (1, 0), value=empty)
        wide[1:, 0], wide[1:, 1] = rows[1:, 0], empty
        return wide

    def verify(p: Any, q: Any, drafts: Any) -> Any:
        first = torch.arange(len(p)) == 0
        logits = placed(torch.log(p), -torch.inf)
        logits[0, 0] = 0.0
        logits[1:, 1] = -20.0  # probability 2e-9, a hundredth of a rounding error in float32
        theirs = torch.where(first[:-1] | (drafts > 0), drafts + 1, drafts)
        out = torch.as_tensor(sample(logits, placed(q, 0.0), theirs))
        first = torch.arange(len(out)) == 0
        return torch.where(out > 0, out - 1, torch.where(first & (out == 0), p.shape[-1], out))

    return adapter(verify, arrays="torch", races=False, name=f"{engine}_least_length")
