"""converts the accepted lengths that engines print, and computes how many prompts are needed to show a loss

`draftproof.acceptance(fn, rows, at_least=..)`, a call of the module itself, measures how many drafts a verifier
accepts; docs/acceptance.md describes it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from draftproof.acceptance.lengths import Lengths, Pooled, pooled
from draftproof.acceptance.measure import AcceptedLengths, TooFewAccepted, accepted_lengths
from draftproof.acceptance.planning import Bound, bound, steps_for

__all__ = [
    "AcceptedLengths",
    "Bound",
    "Lengths",
    "Pooled",
    "TooFewAccepted",
    "accepted_lengths",
    "bound",
    "main",
    "pooled",
    "steps_for",
]


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line `argv` without the verb, sys.argv[1:] if None. Returns: the exit code."""
    from .command import run_command

    return run_command(sys.argv[1:] if argv is None else argv)


class _Callable(ModuleType):
    """A module that can be called, with the path of a capture or with rows."""

    def __call__(self, fn: Any, rows: Any, *arguments: Any, **named: Any) -> Any:
        if not isinstance(rows, str | os.PathLike):
            return accepted_lengths(fn, rows, *arguments, **named)
        from draftproof.survey import acceptance

        return acceptance(fn, rows, *arguments, **named)


sys.modules[__name__].__class__ = _Callable
