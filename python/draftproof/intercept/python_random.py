"""random: the functions of the module, and generators made while a function runs.

Draws of many rows are refused: a plain number belongs to no row of a batch.
"""

from __future__ import annotations

import functools
import random
import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager
from itertools import accumulate
from typing import Any

from draftproof.intercept._elements import note, refuse
from draftproof.intercept._scalars import Patches, lone_clock, running
from draftproof.tape import RowsUnclear, Tape

NAME = "random"
GRID = 53  # bits of random.random()

# Methods of random.Random that draw nothing, or draw by the methods below.
QUIET = frozenset({"getstate", "setstate", "seed"})
DERIVED = frozenset({"choice", "randint", "randrange", "sample", "shuffle", "uniform", "triangular"})


class StandIn(random.Random):
    """A generator whose numbers come from the tape of the running call. Outside of a call it is a plain one."""

    _given = True

    def _row(self, operator: str, kind: str, dtype: str = "float64") -> Tape | None:
        tape = running()
        if tape is not None:
            if tape.one is None:
                raise RowsUnclear(f"random.{operator}", (), tape.rows)
            note(tape, f"random.{operator}", dtype, (), self._given, kind)
        return tape

    def random(self) -> float:
        tape = self._row("random", "coin")
        if tape is None or tape.one is None:
            return super().random()
        return tape.one.coins(1, GRID, "random")[0]

    def getrandbits(self, k: int, /) -> int:
        tape = self._row("getrandbits", "integer", "int")
        if tape is None or tape.one is None:
            return super().getrandbits(k)
        if not 1 <= k <= 53:
            refuse(tape, "random.getrandbits", f"found {k} bits, wanted 1 to 53")
        return tape.one.integer(2**k, "getrandbits") if k < 31 else int(tape.one.coins(1, k, "getrandbits")[0] * 2**k)

    def _randbelow(self, n: int) -> int:
        """What choice, randint, randrange, sample and shuffle draw by."""
        tape = self._row("_randbelow", "integer", "int")
        if tape is None or tape.one is None:
            return int(super()._randbelow(n))  # type: ignore[misc]
        if n >= 2**31:
            refuse(tape, "random._randbelow", f"found an integer below {n}, wanted less than 2^31")
        return tape.one.integer(n, "randbelow")

    def choices(self, population: Any, weights: Any = None, *, cum_weights: Any = None, k: int = 1) -> list[Any]:
        if running() is None:
            return super().choices(population, weights, cum_weights=cum_weights, k=k)
        if weights is None and cum_weights is None:
            return [population[self._randbelow(len(population))] for _ in range(k)]
        if weights is not None and cum_weights is not None:
            raise TypeError("choices: found weights and cum_weights, wanted one of them")
        if weights is None:
            sums = [float(x) for x in cum_weights]
            line = [b - a for a, b in zip([0.0, *sums], sums, strict=False)]
        else:
            line = [float(x) for x in weights]
            sums = list(accumulate(line))
        if len(sums) != len(population):
            raise ValueError(f"choices: found {len(sums)} weights, wanted {len(population)}")
        drawn = []
        for _ in range(k):
            tape = self._row("choices", "pick", "float64")
            assert tape is not None and tape.one is not None
            drawn.append(population[tape.one.pick(line, "choices")])
        return drawn

    def expovariate(self, lambd: float = 1.0) -> float:
        tape = self._row("expovariate", "clock")
        if tape is None:
            return super().expovariate(lambd)
        return lone_clock(tape, "random.expovariate", "expovariate") / lambd


def _refusing(name: str) -> Callable[..., Any]:
    original = getattr(random.Random, name)

    @functools.wraps(original)
    def method(self: StandIn, *args: Any, **kwargs: Any) -> Any:
        tape = running()
        if tape is None:
            return original(self, *args, **kwargs)
        refuse(tape, f"random.{name}", "a method of StandIn in draftproof/intercept/python_random.py adds it")

    return method


def _public(of: type) -> list[str]:
    return [name for name in dir(of) if not name.startswith("_") and callable(getattr(of, name))]


# What this version of Python has, and no method above answers, is refused by its name.
for _name in _public(random.Random):
    if _name not in QUIET | DERIVED and _name not in vars(StandIn):
        setattr(StandIn, _name, _refusing(_name))


class ModuleStandIn(StandIn):
    """The generator behind the functions of the module."""

    _given = False

    def seed(self, a: Any = None, version: int = 2) -> None:
        """The numbers are the tape's already."""


class SystemStandIn(random.SystemRandom):
    """The operating system's numbers, which no one can script."""

    def random(self) -> float:
        tape = running()
        if tape is not None:
            refuse(tape, "random.SystemRandom", "use random.Random")
        return super().random()

    def getrandbits(self, k: int, /) -> int:
        tape = running()
        if tape is not None:
            refuse(tape, "random.SystemRandom", "use random.Random")
        return super().getrandbits(k)


@functools.cache
def _patches() -> Patches:
    one = ModuleStandIn()
    names = [name for name in _public(random.Random) if hasattr(random, name) and name not in ("getstate", "setstate")]
    changes: list[tuple[Any, str, Any]] = [(random, name, getattr(one, name)) for name in names]
    return Patches([*changes, (random, "Random", StandIn), (random, "SystemRandom", SystemStandIn)])


def present() -> bool:
    return True


def intercept(tape: Tape | None) -> AbstractContextManager[None]:
    return _patches().on(tape)


def seed(value: int) -> None:
    random.seed(value)


def unreachable(thing: object) -> str:
    """Generators made before the call, and functions of the module under names of their own."""
    if thing is secrets or thing is random.SystemRandom:
        return "the operating system's random numbers cannot be scripted; use random.Random"
    owner = getattr(thing, "__self__", None)
    module = getattr(random, "_inst", None)
    if isinstance(owner, random.Random) and not isinstance(owner, StandIn):
        own = "random" if owner is module else "a random.Random made before the call"
        return f"a method {getattr(thing, '__name__', '')!r} of {own}; call it through the module: random.random()"
    if isinstance(thing, random.Random) and not isinstance(thing, StandIn):
        return "a random.Random made before the call; make it inside the function, or use the functions of random"
    return ""
