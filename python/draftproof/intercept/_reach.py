"""Objects that a function can reach when it runs, by the globals, closures, defaults and attributes in its code."""

from __future__ import annotations

import contextlib
import dis
import functools
import inspect
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

MOST_OBJECTS = 10_000  # objects that a search visits at most; objects of libraries are not searched
LIBRARIES = ("torch", "numpy", "random", "triton", "transformers", "scipy", "jax", "builtins", "draftproof", "_pytest")


# Names of bytecode instructions of Python 3.10 to 3.14.
_LOADED_FROM = dict.fromkeys(("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"), "global")
_LOADED_FROM |= dict.fromkeys(("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"), "closure")
_LOADED_FROM["IMPORT_NAME"] = "import"
_ATTRIBUTE = frozenset({"LOAD_ATTR", "LOAD_METHOD"})
_BETWEEN = frozenset({"CACHE", "EXTENDED_ARG", "NOP", "PUSH_NULL"})  # instructions that keep the loaded object


@functools.cache
def _loads_of(code: types.CodeType) -> tuple[tuple[str, ...], ...]:
    """Returns the names that `code` and its inner functions load, as tuples: `global`, `closure` or `import`, a name,
    and the attributes that are read from the named object one after the other. `co_names` does not suffice, because it
    does not distinguish a global from an attribute of the same name."""
    found: dict[tuple[str, ...], None] = {}
    chain: tuple[str, ...] = ()
    for step in dis.get_instructions(code):
        if step.opname in _LOADED_FROM:
            chain = _LOADED_FROM[step.opname], step.argval
        elif chain and step.opname in _ATTRIBUTE:
            chain = *chain, step.argval
        elif step.opname not in _BETWEEN:
            chain = ()
        if chain:
            found[chain] = None
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found.update(dict.fromkeys(_loads_of(constant)))
    return tuple(found)


def _attribute(thing: object, key: str) -> object:
    """Returns the attribute without running code of the object; None if the object has no such attribute or belongs to
    a library, unless it is a module in the package draftproof, such as draftproof.torch."""
    owner = (
        thing.__name__
        if isinstance(thing, types.ModuleType)
        else (thing if isinstance(thing, type) else type(thing)).__module__
    )
    if owner == "draftproof":
        return sys.modules.get(f"draftproof.{key}")
    if owner.partition(".")[0] in LIBRARIES:
        return None
    value = inspect.getattr_static(thing, key, None)
    if isinstance(value, types.MemberDescriptorType):  # an entry of __slots__
        return getattr(thing, key, None)
    return value.__func__ if isinstance(value, staticmethod | classmethod) else value


def _loaded_by(function: types.FunctionType) -> Iterator[tuple[str, object]]:
    """Yields the globals, the objects of the closure and their attributes that `function` loads, and the modules that
    it imports."""
    cells = {}
    for key, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        with contextlib.suppress(ValueError):  # the cell is empty
            cells[key] = cell.cell_contents
    yield from ((f"{key} of the closure", value) for key, value in cells.items())
    tables: dict[str, dict[str, Any]] = {"global": function.__globals__, "closure": cells, "import": sys.modules}
    for kind, *names in sorted(_loads_of(function.__code__)):
        thing = tables[kind].get(names[0])
        for key in names[1:]:
            thing = None if thing is None else _attribute(thing, key)
        if thing is not None:
            way = ".".join(names)
            yield (f"{way} of the closure" if kind == "closure" else f"{kind} {way}"), thing


def _is_tuned(thing: object) -> bool:
    """Whether `thing` is a kernel of Triton with a decorator such as @autotune or @heuristics."""
    return type(thing).__module__.partition(".")[0] == "triton" and getattr(thing, "fn", None) is not None


def _parts_of(name: str, thing: object) -> Iterator[tuple[str, object]]:
    if isinstance(thing, functools.partial):
        yield name, thing.func
        yield from ((f"{name} argument {i}", value) for i, value in enumerate(thing.args))
        yield from ((f"{name} argument {key}", value) for key, value in thing.keywords.items())
    elif isinstance(thing, types.MethodType):
        yield f"{name}.self", thing.__self__
        yield name, thing.__func__
    elif isinstance(thing, types.FunctionType):
        room = (thing.__module__ or "").partition(".")[0]
        if room in LIBRARIES or room in sys.stdlib_module_names:  # copy.deepcopy, e.g., names types of many modules
            return
        original = getattr(thing, "__wrapped__", None)
        if original is not None:
            yield name, original
        yield from _loaded_by(thing)
        yield from ((f"default {i}", value) for i, value in enumerate(thing.__defaults__ or ()))
        yield from ((f"default of {key}", value) for key, value in (thing.__kwdefaults__ or {}).items())
    elif isinstance(getattr(thing, "fn", None), types.FunctionType) or _is_tuned(thing):
        yield name, getattr(thing, "fn", None)  # the function of a kernel or of another wrapper
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
    """Yields the objects that `fn` can reach, each once, after a name that describes how it is reached.

    Cost: one visit for each object, 10,000 at most.
    """
    seen: set[int] = set()
    waiting: list[tuple[str, object]] = [(getattr(fn, "__name__", type(fn).__name__), fn)]
    while waiting and len(seen) < MOST_OBJECTS:
        name, thing = waiting.pop()
        if id(thing) in seen or isinstance(thing, str | bytes | int | float | complex | bool | None):
            continue
        seen.add(id(thing))
        yield name, thing
        waiting += _parts_of(name, thing)
