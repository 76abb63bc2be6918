"""Functions run under a tape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from draftproof import intercept
from draftproof.tape import Tape


def run(fn: Callable[[], Any], *rows: list[float], vocabulary: int = 3, races: bool = False) -> tuple[Any, Tape]:
    """Returns the result of fn and its tape."""
    tape = Tape(rows, vocabulary, races)
    with intercept.intercepting(tape):
        result = fn()
    return result, tape


def kinds(tape: Tape) -> list[tuple[int, int, int]]:
    """Returns kind, size and bits of each draw."""
    return [(kind, size, bits) for kind, size, bits, _ in tape.log()[1].tolist()]
