"""Replaces the random numbers of libraries by numbers of a tape while a function runs.

Each file of this folder whose name does not begin with an underscore is one source of randomness. It has

    NAME                     the name of its library
    present() -> bool        whether its library is imported already; it is never imported here
    replaced()               a context in which functions of the library are replaced in the whole process; outside of
                             calls with a tape the stand-ins draw as before
    scripted(tape)           a context that a call with a tape needs in addition, or None
    unreachable(object)      a description of the object if its draws cannot be replaced; else empty

A new library is one new file here.
"""

from __future__ import annotations

import functools
import importlib
import os
import pickle
import pkgutil
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, Protocol, cast

import numpy as np

from draftproof.intercept import _scalars, numpy_generators, torch_operators
from draftproof.intercept._reach import objects_of
from draftproof.intercept._scalars import Patches, drawing_from, here
from draftproof.intercept.python_random import Plain
from draftproof.tape import NoMass, RowsUnclear, Tape, TapeShort, UnknownRandomness

__all__ = ["Source", "calling", "draws_beside", "intercepting", "objects_of", "reason_of", "replaced", "scripted",
           "seeded", "seeded_call", "sources", "unreachable"]  # fmt: skip

REASONS = TapeShort, NoMass, RowsUnclear, UnknownRandomness


class Source(Protocol):
    """The functions and the name that each module of this folder defines for one library's random numbers."""

    NAME: str

    def present(self) -> bool: ...
    def replaced(self) -> AbstractContextManager[None]: ...
    def scripted(self, tape: Tape) -> AbstractContextManager[None] | None: ...
    def unreachable(self, thing: object) -> str: ...


@functools.cache
def sources() -> tuple[Source, ...]:
    """Returns the modules of this folder whose names do not begin with an underscore."""
    names = sorted(entry.name for entry in pkgutil.iter_modules(__path__) if not entry.name.startswith("_"))
    return tuple(cast(Source, importlib.import_module(f"{__name__}.{name}")) for name in names)


def reason_of(error: BaseException | None, tape: Tape | None) -> BaseException | None:
    """Returns the exception of the tape that caused `error`, or None. `error` may be another exception, because
    interpreters of kernels wrap exceptions."""
    if tape is not None and tape.refused is not None:
        return tape.refused
    for _ in range(64):
        if error is None or isinstance(error, REASONS):
            return error
        error = error.__cause__ or error.__context__
    return None


@contextmanager
def replaced() -> Iterator[None]:
    """Replaces the functions that draw, in all imported libraries, by stand-ins. Outside of calls that are checked, a
    stand-in draws like the function that it replaces."""
    with ExitStack() as stack:
        for source in sources():
            if source.present():
                stack.enter_context(source.replaced())
        yield


@contextmanager
def calling(tape: Tape) -> Iterator[None]:
    """Takes the draws of this thread from `tape` until the context ends. Requires: the context `replaced` is active."""
    with ExitStack() as stack:
        stack.enter_context(drawing_from(tape))
        for source in sources():
            if source.present() and (context := source.scripted(tape)) is not None:
                stack.enter_context(context)
        yield


@contextmanager
def intercepting(tape: Tape) -> Iterator[None]:
    """Takes every draw, in all libraries that are imported, from `tape` until the context ends.

    Raises: the tape's exception that ended the call, also if the function caught it and raised another exception.
    """
    with replaced(), calling(tape):
        try:
            yield
        except Exception as error:
            reason = reason_of(error, tape)
            if reason is None or reason is error:
                raise
            raise reason from None
    if tape.refused is not None:
        raise tape.refused


scripted = intercepting


@contextmanager
def seeded_call(value: int, every_operator: bool) -> Iterator[None]:
    """Takes the draws of this thread from generators with the seed `value`, 0 to 2^63 - 1, until the context ends.
    Requires: the context `replaced` is active.

    With `every_operator` torch's default generator, which all threads share, is seeded too, for operators that have no
    stand-in.
    """
    with drawing_from(None, value):
        if every_operator and torch_operators.present():
            torch_operators.seed(value)
            cast("dict[str, Any]", here.made)["torch"] = None
        yield


@contextmanager
def seeded(value: int) -> Iterator[None]:
    """Runs `seeded_call` with `every_operator` inside of `replaced`."""
    with replaced(), seeded_call(value, True):
        yield


_one_at_a_time = threading.Lock()


def draws_beside(call: Callable[[], Any], seed: int) -> tuple[Any, list[str]]:
    """Returns the result of `call`, a call with a tape, and the names of the random sources without a tape that it
    used: os.urandom, os.getrandom, `random_raw` of bit generators made in the call, random and numpy.random in other
    threads, and the generators behind random and numpy.random in objects that a library made earlier, such as the
    distributions of scipy.stats. The numbers of these sources come from a generator with seed `seed`. A source may be
    used although the result does not depend on it.
    """
    found, numbers = _scalars.Unreplaced(seed), Plain(seed)

    def bits(n: int, *_: Any) -> bytes:
        found.names.add("os.urandom")
        return numbers.randbytes(n)

    def random_raw(self: Any, size: Any = None, output: bool = True) -> Any:
        found.names.add("random_raw")
        return numbers.getrandbits(64) if size is None else [numbers.getrandbits(64) for _ in range(size)]

    kinds = [getattr(np.random, name) for name in ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")]
    changes: list[tuple[Any, str, Any]] = [
        (np.random, of.__name__, type(of.__name__, (of,), {"random_raw": random_raw})) for of in kinds
    ]
    changes += [(os, name, bits) for name in ("urandom", "getrandom") if hasattr(os, name)]
    with _one_at_a_time, replaced(), Patches(changes).on(), _shared_seeded(seed, found.names):
        _scalars.unreplaced = found
        try:
            result = call()
        finally:
            _scalars.unreplaced = None
    return result, sorted(found.names)


@contextmanager
def _shared_seeded(seed: int, names: set[str]) -> Iterator[None]:
    """Seeds the generators behind random and numpy.random until the context ends, and adds to `names` those that drew.
    Replaced functions take their numbers from the tape, so that a changed state shows another draw."""
    behind: Any = random._inst
    numpy: Any = numpy_generators.original

    def states() -> dict[str, bytes]:
        return {
            "random": pickle.dumps(behind.getstate()),
            "numpy.random": pickle.dumps(numpy.get_state(legacy=False)),
        }

    first, second = behind.getstate(), numpy.get_state(legacy=False)
    bits = getattr(np.random, second["bit_generator"])  # another than MT19937 after numpy.random.set_bit_generator
    behind.seed(seed)
    numpy.set_state(np.random.RandomState(bits(seed)).get_state(legacy=False))
    begun = states()
    try:
        yield
        for name, state in states().items():
            if state != begun[name]:
                names.add(f"the generator behind {name} in an object of a library")
    finally:
        behind.setstate(first)
        numpy.set_state(second)


def unreachable(fn: Callable[..., Any]) -> list[str]:
    """Returns the generators that `fn` can reach and that no context can replace, each with its name and a remedy.

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
