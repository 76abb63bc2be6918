"""The random sources of the threads of a check, and the functions of numpy and random that it replaces.

Functions are replaced in the whole process, but random sources belong to a thread: in a thread that runs no call of a
check, the stand-ins draw as the functions that they replace.
"""

from __future__ import annotations

import importlib
import operator
import threading
import zlib
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any

from draftproof.seeds import SeededSource
from draftproof.tape import CLOCK, Tape
from draftproof.tape_row import clock_of

# Modules that are being imported, with their locks. If a call imports a library, draws during the import are not taken
# from the tape, because only the first call imports it.
_importing: dict[str, Any] = getattr(importlib._bootstrap, "_module_locks", {})


class _Here(threading.local):
    """The random source of this thread: a tape, or separate generators with the seed of the call."""

    tape: Tape | None = None
    seed: int | None = None
    made: dict[str, Any] | None = None  # for each library, a generator with a seed derived from `seed`
    imports = 0  # number of modules that this thread was importing when the call began


here = _Here()


class Unreplaced:
    """The names of the random sources without a tape that `intercept.draws_beside` found in a call, and generators with
    seed `seed` that replace these sources."""

    def __init__(self, seed: int) -> None:
        self.seed, self.names, self.made = seed, set[str](), dict[str, Any]()


unreplaced: Unreplaced | None = None  # set while `draws_beside` runs a call


def imports_here() -> int:
    """Returns the number of modules that this thread is importing."""
    if not _importing:
        return 0
    thread = threading.get_ident()
    locks = [lock() if callable(lock) else lock for lock in list(_importing.values())]
    return sum(1 for lock in locks if getattr(lock, "owner", None) == thread)


def running() -> Tape | None:
    """Returns the tape of the call that this thread runs; None outside of a call, and while the call imports a
    module."""
    tape = here.tape
    if tape is None and unreplaced is not None:
        unreplaced.names.add("random or numpy.random in another thread")
    return tape if tape is None or not _importing or imports_here() <= here.imports else None


def own(library: str, make: Callable[[int], Any]) -> Any:
    """Returns the generator that a library draws from in this thread's seeded call; None outside of a seeded call."""
    seed, made = here.seed, here.made
    if seed is None and unreplaced is not None:
        seed, made = unreplaced.seed, unreplaced.made
    if seed is None:
        return None
    assert made is not None
    if library not in made:
        made[library] = make(seed_for(seed, library))
    return made[library]


def seed_for(seed: int, source: str) -> int:
    """Returns the seed of one random source of a call, 0 to 2^63 - 1. Sources have different seeds, because generators
    of several libraries give the same numbers for the same seed."""
    return (seed ^ zlib.crc32(source.encode()) << 31) & (2**63 - 1)


@contextmanager
def drawing_from(tape: Tape | None, seed: int | None = None) -> Iterator[None]:
    """Takes the draws of this thread from `tape`, or from generators with `seed`, until the context ends."""
    before = here.tape, here.seed, here.made, here.imports
    here.tape, here.seed, here.made, here.imports = tape, seed, {}, imports_here()
    try:
        yield
    finally:
        here.tape, here.seed, here.made, here.imports = before


class Patches:
    """Module attributes that are replaced while any thread runs a check."""

    _lock = threading.Lock()

    def __init__(self, changes: list[tuple[Any, str, Any]]) -> None:
        """`changes`: a module or class, the name of an attribute, its stand-in."""
        self._changes = [(owner, name, getattr(owner, name), stand_in) for owner, name, stand_in in changes]
        self._depth = 0

    @contextmanager
    def on(self) -> Iterator[None]:
        with self._lock:
            self._depth += 1
        try:
            with self._lock:
                for owner, name, _, new in self._changes if self._depth == 1 else ():
                    setattr(owner, name, new)
            yield
        finally:
            with self._lock:
                self._depth -= 1
                if self._depth == 0:
                    for owner, name, old, _ in self._changes:
                        setattr(owner, name, old)


def source_of(tape: Tape, seed: Hashable, generator: Any) -> Any:
    """Returns the source that replaces a generator with this seed in the running call: `generator` itself if the seed
    is the same in every call, else a source that reads the same numbers of the tape for equal seeds."""
    if tape.book is not None and tape.book.is_fixed(seed):
        return generator
    return SeededSource(seed)


def hashable(seed: Any) -> Hashable:
    """Returns a seed as a key: numbers and texts unchanged, arrays as their bytes, other objects as their repr."""
    if isinstance(seed, str | bytes | float | type(None)):
        return seed
    if hasattr(seed, "__index__") and not getattr(seed, "ndim", 0):
        return operator.index(seed)
    return seed.tobytes() if hasattr(seed, "tobytes") else repr(seed)


def shape_of(size: Any) -> tuple[int, ...]:
    """Returns the shape for an argument `size` of numpy; () for None."""
    if size is None:
        return ()
    return (int(size),) if not hasattr(size, "__iter__") else tuple(int(n) for n in size)


def race_size(tape: Tape) -> int:
    """Returns the number of clocks of the race that a single exponential belongs to: V if the tape has races, else
    1."""
    return tape.vocabulary if tape.races else 1


def lone_clock(tape: Tape, operator: str, stream: str) -> float:
    """Returns one exponential: the next clock of a race of V clocks if the tape has races, else a race of one clock."""
    one = tape.single(operator)
    return clock_of(one.take((CLOCK, race_size(tape), 53, one.number_of(stream))))


class LikeBase(type):
    """The metaclass of stand-ins: isinstance(thing, stand-in) accepts objects of the replaced class."""

    def __instancecheck__(cls, thing: object) -> bool:
        return isinstance(thing, cls.__mro__[1]) if cls.__dict__.get("replaces") else super().__instancecheck__(thing)
