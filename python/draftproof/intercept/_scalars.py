"""Draws of libraries whose functions take sizes: numpy and random. The tape of the running call is found here."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from draftproof.tape import CLOCK, RowsUnclear, Tape
from draftproof.tape_row import clock_of

_tape: Tape | None = None  # one for all threads: a thread that the function starts draws from the same tape


# Modules that are being imported, by importlib's locks. Libraries import others at the first call of a function, and
# some draw numbers then: they are no draws of the function, and would be missing from its second call.
_importing: dict[str, Any] = getattr(importlib._bootstrap, "_module_locks", {})
_imports_before = 0


def running() -> Tape | None:
    """The tape of the call that runs now; None outside of one, and in a module that the call imports."""
    return _tape if len(_importing) <= _imports_before else None


class Patches:
    """Attributes of modules that stand-ins take the place of while a call runs."""

    def __init__(self, changes: list[tuple[Any, str, Any]]) -> None:
        """`changes`: a module or class, the name of an attribute, its stand-in."""
        self._changes = [(owner, name, getattr(owner, name), stand_in) for owner, name, stand_in in changes]
        self._depth = 0

    @contextmanager
    def on(self, tape: Tape | None) -> Iterator[None]:
        """Puts the stand-ins in place, which draw from `tape`; as plain generators without one. Contexts within a
        context leave them there, so that a context around many calls saves their time."""
        global _tape, _imports_before
        outer = _tape, _imports_before
        _tape, _imports_before = tape, len(_importing)
        if self._depth == 0:
            for owner, name, _, new in self._changes:
                setattr(owner, name, new)
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if self._depth == 0:
                for owner, name, old, _ in self._changes:
                    setattr(owner, name, old)
            _tape, _imports_before = outer


def shape_of(size: Any) -> tuple[int, ...]:
    """The shape that a size argument of numpy means; () for None."""
    if size is None:
        return ()
    return (int(size),) if not hasattr(size, "__iter__") else tuple(int(n) for n in size)


def race_size(tape: Tape) -> int:
    """Entries of the race that a lone exponential belongs to: V where draws are raced, else 1."""
    return tape.vocabulary if tape.races else 1


def lone_clock(tape: Tape, operator: str, stream: str) -> float:
    """One exponential: a clock of its own, or the next of a race of V."""
    if tape.one is None:
        raise RowsUnclear(operator, (), tape.rows)
    return clock_of(tape.one.take((CLOCK, race_size(tape), 53, tape.one.number_of(stream))))
