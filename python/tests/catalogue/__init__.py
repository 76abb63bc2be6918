"""A catalogue of verifiers: slips, which are wrong in one line, and right ones in different styles.

A module of `slips` or `right` holds functions under one of the two decorators; `entries` finds them by listing the
folders. Modules of a library that is not installed are left out, and `missing` names them.

    chain       fn(p [L + 1, V], q [L, V], drafts [L]) -> tokens
    position    fn(p [V], q [V], drafts [K]) -> token
    tree        fn(p [n + 1, V], q [n, V], drafts [n], parents [n]) -> tokens
    batched     the same with a leading B; rows of drafts and of tokens end in -1
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from catalogue.instance import Instance

Function = Callable[..., Any]
LIBRARIES = "torch", "numpy"
_found: dict[str, Entry] = {}


@dataclass(frozen=True)
class Entry:
    """A function and what is known about it.

    why       one sentence: why it is wrong, or which style it shows
    check     the gate's check that refutes it; empty for a right one
    on        the smallest instance found by hand that shows the slip; empty where the slip has none: another row of a
              batch, an earlier call
    open      the gate is undecided where others are violated: the draw is of no kind whose law it can find
    gap       why the gate's verdict on it is another one; empty for nearly all
    drafts    law of the drafts
    sampled   trials by which `exact` finds its law, where few branches do not give it: noise of a race, generators
              seeded within
    arrays    `torch`, `numpy` or `list`
    """

    name: str
    fn: Function
    why: str
    check: str = ""
    on: str = ""
    open: bool = False
    gap: str = ""
    level: str = "chain"
    drafts: str = "iid"
    batched: bool = False
    logits: bool = False
    sampled: int = 0
    arrays: str = "torch"
    kind: str = ""

    @property
    def instance(self) -> Instance:
        return Instance.parse(self.on)


def slip(why: str, check: str = "exact_law", on: str = "", **known: Any) -> Callable[[Function], Function]:
    """Enters a wrong function."""
    return _enter(why, check=check, on=on, **known)


def correct(why: str, **known: Any) -> Callable[[Function], Function]:
    """Enters a right function."""
    return _enter(why, **known)


def _enter(why: str, **known: Any) -> Callable[[Function], Function]:
    def entered(fn: Function) -> Function:
        name = fn.__name__
        assert name not in _found, f"{name}: entered twice"
        _found[name] = Entry(name, fn, why, kind=fn.__module__.split(".")[-1], **known)
        return fn

    return entered


@cache
def missing() -> tuple[str, ...]:
    """Modules whose library is not installed; imports all others."""
    left = []
    for folder in ("slips", "right"):
        for module in pkgutil.iter_modules([str(Path(__file__).parent / folder)]):
            try:
                importlib.import_module(f"catalogue.{folder}.{module.name}")
            except ModuleNotFoundError as error:
                if error.name not in LIBRARIES:
                    raise
                left.append(f"{folder}/{module.name}")
    return tuple(left)


def entries(*, wrong: bool) -> list[Entry]:
    """All slips, or all right functions, by name."""
    missing()
    return sorted((entry for entry in _found.values() if bool(entry.check) == wrong), key=lambda entry: entry.name)
