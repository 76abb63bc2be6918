"""random: the functions of the module, and generators made while a function runs.

A draw in a call for many rows raises RowsUnclear, because a single number does not show which row it is for.
"""

from __future__ import annotations

import functools
import random
import secrets
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager
from itertools import accumulate
from typing import Any

from draftproof.intercept._elements import note, refuse
from draftproof.intercept._scalars import LikeBase, Patches, hashable, here, lone_clock, own, running, source_of
from draftproof.seeds import SeededSource
from draftproof.tape import Tape
from draftproof.tape_row import RowTape

NAME = "random"
GRID = 53  # bits of random.random()
Plain = random.Random

# Methods of random.Random that draw nothing, or draw by the methods below.
QUIET = frozenset({"getstate", "setstate", "seed"})
DERIVED = frozenset({"choice", "randint", "randrange", "sample", "shuffle", "uniform", "triangular"})


def _of_coin(one: RowTape, n: int, stream: str) -> int:
    """Returns an integer below n, a power of two or at least 2^53, from one uniform of at most 53 bits. Not every
    integer of a larger range can occur, which suffices for seeds."""
    bits = min(n.bit_length() - 1, 53)
    return int(one.coins(1, bits, stream)[0] * 2**bits) * n >> bits


class StandIn(Plain, metaclass=LikeBase):
    """A generator whose numbers come from the tape of the running call. Outside of a call it draws like its base
    class."""

    replaces = True
    _given = True

    def _key(self) -> Hashable:
        return id(self)

    def _row(self, operator: str, kind: str, dtype: str = "float64") -> RowTape | None:
        """Returns the row of the tape to draw from; None if the number comes from the generator `_plain()`."""
        tape = running()
        if tape is None:
            return None
        source = tape.seeded.get(self._key()) if tape.seeded else None
        if source is not None and not isinstance(source, SeededSource):
            return None
        note(tape, f"random.{operator}", dtype, (), self._given, kind)
        one = tape.single(f"random.{operator}")
        one.source = source
        return one

    def _plain(self) -> Any:
        """Returns the generator to draw from if the tape is not used."""
        return self

    def _seed(self, tape: Tape, seed: Hashable, generator: Any) -> None:
        tape.seeded[self._key()] = source_of(tape, seed, generator)

    def seed(self, a: Any = None, version: int = 2) -> None:
        super().seed(a, version)
        if (tape := running()) is not None:
            tape.seeded.pop(self._key(), None)
            if a is not None:
                self._seed(tape, ("random.seed", hashable(abs(a) if isinstance(a, int) else a)), self)

    def getstate(self) -> Any:
        """Returns the state of the plain generator outside of a call, else the position in the numbers of the call."""
        tape = running()
        if tape is None or not isinstance(tape.seeded.get(self._key(), tape), SeededSource | Tape):
            return Plain.getstate(self._plain())
        source = tape.seeded.setdefault(self._key(), SeededSource(("state", len(tape.seeded))))
        return SeededSource(source.root, source.at)

    def setstate(self, state: Any) -> None:
        tape = running()
        if isinstance(state, SeededSource):
            if tape is not None:
                tape.seeded[self._key()] = SeededSource(state.root, state.at)
            return
        Plain.setstate(self._plain(), state)
        if tape is not None:
            self._seed(tape, ("random state", hash(state)), self._plain())

    def random(self) -> float:
        if here.tape is None:
            return Plain.random(self._plain())
        one = self._row("random", "coin")
        return Plain.random(self._plain()) if one is None else one.coins(1, GRID, "random")[0]

    def getrandbits(self, k: int, /) -> int:
        if k == 0:
            return 0
        one = self._row("getrandbits", "integer", "int")
        if one is None:
            return int(Plain.getrandbits(self._plain(), k))
        if k < 1:
            raise ValueError(f"getrandbits: got {k} bits, expected at least 0")
        return one.integer(2**k, "getrandbits") if k < 31 else _of_coin(one, 2**k, "getrandbits")

    def _randbelow(self, n: int) -> int:
        """Draws an integer below n for choice, randint, randrange, sample and shuffle."""
        one = self._row("_randbelow", "integer", "int")
        if one is None:
            return int(Plain._randbelow(self._plain(), n))  # type: ignore[attr-defined]
        if n < 2**31:
            return one.integer(n, "randbelow")
        if n < 2**53 and n & (n - 1):
            tape = running()
            assert tape is not None
            refuse(tape, "random._randbelow", f"got {n}, expected less than 2^31, a power of two or at least 2^53")
        return _of_coin(one, n, "randbelow")

    def choices(self, population: Any, weights: Any = None, *, cum_weights: Any = None, k: int = 1) -> list[Any]:
        tape = running()
        if tape is None or not isinstance(tape.seeded.get(self._key(), tape), SeededSource | Tape):
            return list(Plain.choices(self._plain(), population, weights, cum_weights=cum_weights, k=k))
        if weights is None and cum_weights is None:
            return [population[self._randbelow(len(population))] for _ in range(k)]
        if weights is not None and cum_weights is not None:
            raise TypeError("choices: got weights and cum_weights, expected one of them")
        if weights is None:
            sums = [float(x) for x in cum_weights]
            line = [b - a for a, b in zip([0.0, *sums], sums, strict=False)]
        else:
            line = [float(x) for x in weights]
            sums = list(accumulate(line))
        if len(sums) != len(population):
            raise ValueError(f"choices: got {len(sums)} weights, expected {len(population)}")
        drawn = []
        for _ in range(k):
            one = self._row("choices", "pick", "float64")
            assert one is not None
            drawn.append(population[one.pick(line, "choices")])
        return drawn

    def expovariate(self, lambd: float = 1.0) -> float:
        if here.tape is None:  # fast, because functions often draw V exponentials one by one
            return Plain.expovariate(self._plain(), lambd)
        if self._row("expovariate", "clock") is None:
            return float(Plain.expovariate(self._plain(), lambd))
        tape = running()
        assert tape is not None
        return lone_clock(tape, "random.expovariate", "expovariate") / lambd


def _refusing(name: str) -> Callable[..., Any]:
    original = getattr(Plain, name)

    @functools.wraps(original)
    def method(self: StandIn, *args: Any, **kwargs: Any) -> Any:
        tape = running()
        if tape is None:
            return original(self._plain(), *args, **kwargs)
        refuse(tape, f"random.{name}", "a method of StandIn in draftproof/intercept/python_random.py adds it")

    return method


def _public(of: type) -> list[str]:
    return [name for name in dir(of) if not name.startswith("_") and callable(getattr(of, name))]


# Every other method that random.Random has in this version of Python raises UnknownRandomness with the method's name.
for _name in _public(Plain):
    if _name not in QUIET | DERIVED and _name not in vars(StandIn):
        setattr(StandIn, _name, _refusing(_name))


class ModuleStandIn(StandIn):
    """The generator behind the functions of the module."""

    replaces = False
    _given = False
    ready = False  # False during __init__, which calls `seed` but must not seed the module's generator

    def _key(self) -> Hashable:
        return NAME

    def _plain(self) -> Any:
        if here.tape is None and here.made and NAME in here.made:
            return here.made[NAME]
        tape = running()
        fixed = tape.seeded.get(NAME) if tape is not None else None
        return fixed or own(NAME, Plain) or random._inst

    def seed(self, a: Any = None, version: int = 2) -> None:
        tape = running()
        if tape is None and self.ready:
            Plain.seed(self._plain(), a, version)
        elif tape is not None:
            tape.seeded.pop(NAME, None)
            if a is not None:
                self._seed(tape, ("random.seed", hashable(abs(a) if isinstance(a, int) else a)), Plain(a))


class SystemStandIn(random.SystemRandom):
    """The operating system's random numbers. A draw in a call with a tape raises UnknownRandomness, because these
    numbers cannot be replaced."""

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
    one.ready = True
    names = [name for name in _public(Plain) if hasattr(random, name)]
    changes: list[tuple[Any, str, Any]] = [(random, name, getattr(one, name)) for name in names]
    return Patches([*changes, (random, "Random", StandIn), (random, "SystemRandom", SystemStandIn)])


def present() -> bool:
    return True


def replaced() -> AbstractContextManager[None]:
    return _patches().on()


def scripted(tape: Tape) -> None:
    """Returns None, because no context is needed: stand-ins read the tape of the running call."""


def unreachable(thing: object) -> str:
    """Describes generators made before the call, and functions of the module imported by name."""
    if thing is secrets or thing is random.SystemRandom:
        return "the operating system's random numbers cannot be replaced; use random.Random"
    owner = getattr(thing, "__self__", None)
    if isinstance(owner, Plain) and not issubclass(type(owner), StandIn):
        own = "random" if owner is getattr(random, "_inst", None) else "a random.Random made before the call"
        return f"a method {getattr(thing, '__name__', '')!r} of {own}; call it through the module: random.random()"
    if isinstance(thing, Plain) and not issubclass(type(thing), StandIn):
        return "a random.Random made before the call; take it as a parameter `rng`, or call functions of random"
    return ""
