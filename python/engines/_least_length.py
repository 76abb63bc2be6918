"""A minimum length that ends inside a step: a request must not stop with its next token, but may stop with every later
token."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from draftproof.declare import adapter


def least_length(engine: str, sample: Callable[..., Any]) -> Any:
    """sample(logits [n + 1, V + 1], proposal [n, V + 1], drafts [n]) -> tokens, of an engine whose token 0 stops.

    The engine's token x + 1 is token x of the rows. In the first row, the stop token has as much mass as all others
    together and must not be emitted. In later rows, it has the mass of token 0; the engine's token 1, which is token 0
    too, has almost none, and is emitted only if the row has no other token."""
    import torch

    def placed(rows: Any, empty: float) -> Any:
        wide = torch.nn.functional.pad(rows, (1, 0), value=empty)
        wide[1:, 0], wide[1:, 1] = rows[1:, 0], empty
        return wide

    def verify(p: Any, q: Any, drafts: Any) -> Any:
        first = torch.arange(len(p)) == 0
        logits = placed(torch.log(p), -torch.inf)
        logits[0, 0] = 0.0
        logits[1:, 1] = -20.0  # probability 2e-9, a hundredth of what rounding in float32 explains
        theirs = torch.where(first[:-1] | (drafts > 0), drafts + 1, drafts)
        out = torch.as_tensor(sample(logits, placed(q, 0.0), theirs))
        first = torch.arange(len(out)) == 0
        return torch.where(out > 0, out - 1, torch.where(first & (out == 0), p.shape[-1], out))

    return adapter(verify, arrays="torch", races=False, name=f"{engine}_least_length")
