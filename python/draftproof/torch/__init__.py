"""Verifiers and drafters for torch, to be called by an engine: batched, on any device, on probabilities or logits.

    tokens, counts = draftproof.torch.single_draft(p, q, drafts)
    token, accepted = draftproof.torch.ladder(p, q, draftproof.torch.draft_iid(q, 4))

Each file in the folders `verifiers` and `drafters` is one function of the same name. The folders are listed on
import, so a new file is offered without another edit. torch is imported on first use of a function.

Chains: p [B, L + 1, V], q [B, L, V], drafts [B, L] -> tokens [B, L + 1] padded with -1, and counts [B].
One position: p [B, V], q [B, V], drafts [B, K] -> token [B], and the index of the accepted draft [B], -1 for none.
docs/python-verifiers.md has the conventions, the order of random numbers and measured times.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from ..arrays import torch_for

_module_of = {
    file.name: f"{__name__}.{folder}.{file.name}"
    for folder in ("verifiers", "drafters")
    for file in iter_modules([str(Path(__file__).with_name(folder))])
}
__all__ = sorted(_module_of)


def __getattr__(name: str) -> Any:
    if name not in _module_of:
        raise AttributeError(f"draftproof.torch.{name}: got no such function, expected one of {', '.join(__all__)}")
    torch_for(f"draftproof.torch.{name}")
    function = getattr(import_module(_module_of[name]), name)
    globals()[name] = function
    return function


def __dir__() -> list[str]:
    return [*globals(), *__all__]
