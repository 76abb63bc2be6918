"""decodes texts speculatively with real models: accepted tokens per call, tokens per second, an audit of the text

    draftproof.decode("gpt2", ["a text .."], drafts=["lookup"], shapes=["1x8"], verifiers=["single_draft"])

The module itself can be called, see `decode`. The library of a model is imported when the model is opened.
docs/decode.md describes the loop and the figures.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from ..capture.errors import CaptureError
from .settings import DRAFTS, Settings, Shape

__all__ = ["DRAFTS", "CaptureError", "Settings", "Shape", "decode", "main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line `argv` without the verb, sys.argv[1:] if None. Returns: the exit code."""
    from .command import run_command

    return run_command(sys.argv[1:] if argv is None else argv)


def decode(target: Any, texts: Any, settings: Settings | None = None, **named: Any) -> dict[str, Any]:
    """Decodes texts with every combination of drafts, shape and verifier that fits, and without drafts.

    target, texts, settings: as in the docstring of `draftproof.decode.run.decode`, whose other arguments are `named`.

    Returns: the document that docs/decode.md describes; times are in seconds.

    Raises: CaptureError for input that cannot be used, or if torch or transformers is not installed. KeyboardInterrupt
        in the first round.
    Cost: rounds * (settings + 1) texts of `tokens` tokens.
    Source: docs/decode.md; the verifiers are those of `draftproof.torch`, which name their papers.
    """
    from ..capture.hub import library

    library("torch")
    from .run import decode as run

    return run(target, texts, settings, **named)


class _Callable(ModuleType):
    """A module that can be called; the call decodes."""

    def __call__(self, *arguments: Any, **named: Any) -> dict[str, Any]:
        return decode(*arguments, **named)


sys.modules[__name__].__class__ = _Callable
