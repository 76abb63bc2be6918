"""The table of faults: an entry for each function, how it is judged, and a right verifier that the functions change.

An entry names the wanted status, or several (`error`: check itself raises), and words of the text, in any case.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

import draftproof


@dataclass(frozen=True)
class Entry:
    """A function as a user declares it, and what must be said of it.

    check   the finding that must be violated or undecided; empty for any
    words   a pattern of the verdict's text, or of the exception's
    """

    name: str
    fn: Callable[..., Any]
    status: str
    check: str = ""
    words: str = ""
    declared: dict[str, Any] = field(default_factory=dict)


TABLE: list[Entry] = []


# Of the proof tier: what one fault or one right function needs.
FEW: dict[str, Any] = {"tier": ("proof", "edge"), "models": 6, "predictions": 32}


def judge(entry: Entry, **changes: Any) -> str:
    """Empty if what is said of the function is as wanted, else what was said."""
    few = FEW if entry.declared.get("scripted", True) else {}
    try:
        verdict = draftproof.check(entry.fn, **{"raises": False, "keep": False, **few, **entry.declared, **changes})
        status, said = verdict.status, str(verdict)
        found = {finding.check for finding in verdict.findings if finding.status == status}
    except Exception as error:
        status, said, found = "error", f"{type(error).__name__}: {error}", set()
    good = status in entry.status.split("|") and (not entry.check or entry.check in found)
    own_name = getattr(entry.fn, "__name__", "")  # is in every text, and may have the words
    if good and re.search(entry.words, said.replace(own_name, "it"), re.IGNORECASE):
        return ""
    wanted = " ".join(filter(None, (entry.status, entry.check, entry.words)))
    return f"{said}\n        WANTED {wanted}"


def enter(status: str, check: str = "", words: str = "", **declared: Any) -> Callable[[Any], Any]:
    """Enters a function."""

    def entered(fn: Any) -> Any:
        declared.setdefault("arrays", "torch")
        TABLE.append(Entry(fn.__name__, fn, status, check, words, declared))
        return fn

    return entered


def left(p: Any, q: Any) -> Any:
    rest = (p - q).clip(0)
    return rest if rest.sum() > 0 else p


def by_sums(weights: Any, u: float) -> int:
    """The first token whose running sum is above u of the total, in double, never one without weight."""
    w = np.asarray(weights, np.float64)
    sums = w.cumsum()
    return min(int(np.searchsorted(sums, u * sums[-1], side="right")), int(np.flatnonzero(w)[-1]))


def by_weights(weights: Any) -> int:
    return int(torch.multinomial(torch.as_tensor(weights), 1))


def chain(p: Any, q: Any, drafts: Any, uniform: Any = None, pick: Any = None, rest: Any = left) -> list[int]:
    """A right verifier of rows of torch or numpy. `uniform` gives every coin, that of the last token too."""
    coin = uniform or (lambda: float(torch.rand((), dtype=torch.float64)))
    pick = pick or ((lambda w: by_sums(w, uniform())) if uniform else by_weights)
    tokens = [int(x) for x in drafts]
    for i, x in enumerate(tokens):
        if not coin() * float(q[i, x]) < float(p[i, x]):
            return [*tokens[:i], pick(rest(p[i], q[i]))]
    return [*tokens, pick(p[len(tokens)])]
