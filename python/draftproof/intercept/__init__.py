"""Sources of randomness, answered from a tape while a function runs.

Each file of this folder whose name does not begin with an underscore is one source. It has

    NAME                     of its library
    present() -> bool        its library is imported already; it is never imported here
    intercept(tape)          a context in which every draw of the library comes from the tape; with None it prepares
                             contexts within it
    seed(value)              seeds the library's own generators
    unreachable(object)      what the object is, if it draws where no context can see it; else empty

A new library needs a file here and nothing else.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, Protocol, cast

from draftproof.intercept._reach import objects_of
from draftproof.tape import NoMass, RowsUnclear, Tape, TapeShort, UnknownRandomness

__all__ = ["Source", "intercepting", "objects_of", "scripted", "seeded", "sources", "unreachable"]

REASONS = TapeShort, NoMass, RowsUnclear, UnknownRandomness


class Source(Protocol):
    """What a file of this folder has."""

    NAME: str

    def present(self) -> bool: ...
    def intercept(self, tape: Tape | None) -> AbstractContextManager[None]: ...
    def seed(self, value: int) -> None: ...
    def unreachable(self, thing: object) -> str: ...


@functools.cache
def sources() -> tuple[Source, ...]:
    """The files of this folder."""
    names = sorted(entry.name for entry in pkgutil.iter_modules(__path__) if not entry.name.startswith("_"))
    return tuple(cast(Source, importlib.import_module(f"{__name__}.{name}")) for name in names)


def _reason(error: BaseException | None) -> BaseException | None:
    """The tape's own exception that `error` was raised from or after, as interpreters of kernels do."""
    for _ in range(64):
        if error is None or isinstance(error, REASONS):
            return error
        error = error.__cause__ or error.__context__
    return None


@contextmanager
def intercepting(tape: Tape | None) -> Iterator[None]:
    """Every draw comes from `tape` until the context ends, in all libraries that are imported.

    A context of None changes no draw. Around many contexts it saves their time of entering.
    Raises: the tape's exception that ended the call, also where the function wrapped it in one of its own.
    """
    with ExitStack() as stack:
        for source in sources():
            if source.present():
                stack.enter_context(source.intercept(tape))
        try:
            yield
        except Exception as error:
            reason = (tape.refused if tape is not None else None) or _reason(error)
            if reason is None or reason is error:
                raise
            raise reason from None
    if tape is not None and tape.refused is not None:
        raise tape.refused


scripted = intercepting


@contextmanager
def seeded(value: int) -> Iterator[None]:
    """The libraries' own generators, seeded with `value`, 0 to 2^63 - 1."""
    for source in sources():
        if source.present():
            source.seed(value)
    yield


def unreachable(fn: Callable[..., Any]) -> list[str]:
    """Generators that `fn` can reach and that no context can replace, each with its name and a way out.

    These are objects made before the call: in closures, in globals that the code names, in defaults, in attributes of
    the object that a method belongs to, and in functions that are reached from there.
    """
    found = []
    present = [source for source in sources() if source.present()]
    for name, thing in objects_of(fn):
        for source in present:
            what = source.unreachable(thing)
            if what:
                found.append(f"{name}: {what}")
    return found
