"""The end of a least length inside a step: a request that must not stop with its next token, and may stop with each one
after it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from draftproof.declare import adapter


def least_length(engine: str, sample: Callable[..., Any]) -> Any:
    """sample(logits [n + 1, V + 1], proposal [n, V + 1], drafts [n]) -> tokens, of an engine whose token 0 stops.

    Token 0 takes the place of token 0 of the rows, but in the first row: there it has as much mass as all tokens of the
    row together, whose numbers are one higher, and must not come out. In later rows token 1 stands for token 0 too, and
    comes out where the stop token leaves no other."""
    import torch

    def placed(rows: Any, empty: float) -> Any:
        wide = torch.nn.functional.pad(rows, (1, 0), value=empty)
        wide[1:, 0], wide[1:, 1] = rows[1:, 0], empty
        return wide

    def verify(p: Any, q: Any, drafts: Any) -> Any:
        first = torch.arange(len(p)) == 0
        logits = placed(torch.log(p), -torch.inf)
        logits[0, 0] = 0.0
        logits[1:, 1] = -20.0  # 2e-9 of a row: rounding of float32 explains a hundred times as much
        theirs = torch.where(first[:-1] | (drafts > 0), drafts + 1, drafts)
        out = torch.as_tensor(sample(logits, placed(q, 0.0), theirs))
        first = torch.arange(len(out)) == 0
        return torch.where(out > 0, out - 1, torch.where(first & (out == 0), p.shape[-1], out))

    return adapter(verify, arrays="torch", races=False, name=f"{engine}_least_length")
