"""captures rows of a target and of its drafts, and records running engines

`capture` writes the rows that `draftproof survey`, `optimum` and `survey-paths` read. `Recorder` writes what a running
engine did, for `draftproof audit`. docs/captures.md describes both files.

The module itself can be called: `draftproof.capture(target, draft, texts, output)`. The library of a model is imported
when the model is opened.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from .errors import CaptureError
from .models import Model
from .options import Filter, Options, Penalties, Trees
from .recorder import Recorder, recover
from .run import Captured, capture
from .scored_again import score_again
from .trace import Trace, read_trace

__all__ = [
    "CaptureError",
    "Captured",
    "Filter",
    "Model",
    "Options",
    "Penalties",
    "Recorder",
    "Trace",
    "Trees",
    "capture",
    "main",
    "read_trace",
    "recover",
    "score_again",
]


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line `argv` without the verb, sys.argv[1:] if None. Returns: the exit code."""
    from .command import run_command

    return run_command(sys.argv[1:] if argv is None else argv)


class _Callable(ModuleType):
    """A module that can be called; the call captures rows."""

    def __call__(self, *arguments: Any, **named: Any) -> Captured:
        return capture(*arguments, **named)


sys.modules[__name__].__class__ = _Callable
