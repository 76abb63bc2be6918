"""Objects that a function can reach when it runs: what its code names in globals, closures, defaults, attributes."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator
from typing import Any

MOST_OBJECTS = 10_000  # of a walk; libraries below the function are not walked
LIBRARIES = ("torch", "numpy", "random", "triton", "transformers", "scipy", "jax", "builtins", "draftproof")


def _names_of(code: types.CodeType) -> set[str]:
    """Names of globals and attributes in `code` and the functions inside it."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names_of(constant)
    return names


def _parts_of(name: str, thing: object) -> Iterator[tuple[str, object]]:
    if isinstance(thing, functools.partial):
        yield name, thing.func
        yield from ((f"{name} argument {i}", value) for i, value in enumerate(thing.args))
        yield from ((f"{name} argument {key}", value) for key, value in thing.keywords.items())
    elif isinstance(thing, types.MethodType):
        yield f"{name}.self", thing.__self__
        yield name, thing.__func__
    elif isinstance(thing, types.FunctionType):
        if thing.__module__ and thing.__module__.partition(".")[0] in LIBRARIES:
            return
        original = getattr(thing, "__wrapped__", None)
        if original is not None:
            yield name, original
        for key in sorted(_names_of(thing.__code__)):
            if key in thing.__globals__:
                yield f"global {key}", thing.__globals__[key]
        for key, cell in zip(thing.__code__.co_freevars, thing.__closure__ or (), strict=False):
            try:
                yield f"{key} of the closure", cell.cell_contents
            except ValueError:  # not filled yet
                continue
        yield from ((f"default {i}", value) for i, value in enumerate(thing.__defaults__ or ()))
        yield from ((f"default of {key}", value) for key, value in (thing.__kwdefaults__ or {}).items())
    elif isinstance(getattr(thing, "fn", None), types.FunctionType):  # a kernel, or another wrapper of a function
        yield name, getattr(thing, "fn", None)
    elif isinstance(thing, list | tuple):
        yield from ((f"{name}[{i}]", value) for i, value in enumerate(thing[:64]))
    elif isinstance(thing, dict):
        yield from ((f"{name}[{key!r}]", value) for key, value in list(thing.items())[:64])
    elif not isinstance(thing, type | types.ModuleType) and type(thing).__module__.partition(".")[0] not in LIBRARIES:
        calls = [of.__dict__["__call__"] for of in type(thing).__mro__ if "__call__" in of.__dict__]
        if calls and isinstance(calls[0], types.FunctionType):
            yield f"{name}()", calls[0]
        yield from ((f"{name}.{key}", value) for key, value in getattr(thing, "__dict__", {}).items())


def objects_of(fn: Callable[..., Any]) -> Iterator[tuple[str, object]]:
    """Objects that `fn` can reach, each once, with the way to it. Cost: one visit an object, 10,000 at most."""
    seen: set[int] = set()
    waiting: list[tuple[str, object]] = [(getattr(fn, "__name__", type(fn).__name__), fn)]
    while waiting and len(seen) < MOST_OBJECTS:
        name, thing = waiting.pop()
        if id(thing) in seen or isinstance(thing, str | bytes | int | float | complex | bool | None):
            continue
        seen.add(id(thing))
        yield name, thing
        waiting += _parts_of(name, thing)
