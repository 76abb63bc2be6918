"""numpy: functions of numpy.random, and generators made while a function runs (default_rng, Generator, RandomState).

Stand-ins are subclasses of numpy's generators with all of their methods. A method that `_numpy_draws.py` does not have
is refused by its name. Outside of a call a stand-in draws as what it is a subclass of.

A generator made before the call, and a function imported by name, cannot be replaced: `unreachable` names them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from draftproof.intercept._elements import refuse
from draftproof.intercept._numpy_draws import METHODS, Call
from draftproof.intercept._scalars import Patches, running
from draftproof.tape import Tape

NAME = "numpy"

_DRAW_NOTHING = frozenset({"bit_generator", "spawn", "get_state", "set_state", "seed"})
_original_default_rng = np.random.default_rng


def _public(of: type) -> list[str]:
    return [name for name in dir(of) if not name.startswith("_") and callable(getattr(of, name))]


def _method(base: Any, name: str, library: str) -> Callable[..., Any]:
    original, answer = getattr(base, name), METHODS.get(name)
    operator = f"{library}.{name}"

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        tape = running()
        if tape is None:
            return original(self, *args, **kwargs)
        if answer is None:
            refuse(tape, operator, f"a function with @draws({name!r}) in draftproof/intercept/_numpy_draws.py adds it")
        return answer(Call(tape, operator, self.given), *args, **kwargs)

    method.__name__, method.__doc__ = name, getattr(original, "__doc__", None)
    return method


def _stand_in(base: Any, library: str) -> Any:
    """A subclass of numpy's generator with every method that draws."""
    names = [name for name in _public(base) if name not in _DRAW_NOTHING]
    return type("StandIn" + base.__name__, (base,), {"given": True} | {n: _method(base, n, library) for n in names})


StandIn = _stand_in(np.random.Generator, "numpy.random.Generator")
Legacy = _stand_in(np.random.RandomState, "numpy.random")


@functools.cache
def _any_bits() -> Any:
    return _original_default_rng().bit_generator


def default_rng(seed: Any = None) -> Any:
    """A stand-in for what numpy would make of `seed`. Without a seed all stand-ins of calls share their bits, which no
    call reads: numpy takes longer to seed a generator than a small decision takes."""
    return StandIn(_any_bits() if seed is None and running() else _original_default_rng(seed).bit_generator)


def _no_seed(*args: Any, **kwargs: Any) -> None:
    """The numbers are the tape's already."""


@functools.cache
def _patches() -> Patches:
    module = Legacy(0)
    module.given = False
    same = {"sample": "random_sample", "ranf": "random_sample"}  # names that only the module has
    names = {n: n for n in _public(np.random.RandomState) if n not in _DRAW_NOTHING} | same
    changes = [(np.random, name, getattr(module, of)) for name, of in names.items() if hasattr(np.random, name)]
    replaced = {"default_rng": default_rng, "Generator": StandIn, "RandomState": Legacy, "seed": _no_seed}
    return Patches(changes + [(np.random, name, stand_in) for name, stand_in in replaced.items()])


def present() -> bool:
    return True


def intercept(tape: Tape | None) -> AbstractContextManager[None]:
    return _patches().on(tape)


def seed(value: int) -> None:
    """Seeds the functions of numpy.random, which take 32 bits a word."""
    np.random.seed([value & 0xFFFFFFFF, value >> 32 & 0xFFFFFFFF])


def unreachable(thing: object) -> str:
    """Generators made before the call, their methods, and functions of numpy.random under names of their own."""
    own, kinds = (StandIn, Legacy), (np.random.Generator, np.random.RandomState)
    if isinstance(thing, kinds) and not isinstance(thing, own):
        return f"a numpy {type(thing).__name__} made before the call; make it inside, or call functions of np.random"
    owner = getattr(thing, "__self__", None)
    if isinstance(owner, kinds) and not isinstance(owner, own):
        return (
            f"the method {getattr(thing, '__name__', '?')} of a numpy {type(owner).__name__} made before the call; "
            "call functions through their module: np.random.random()"
        )
    if thing is _original_default_rng or any(thing is kind for kind in kinds):
        return "a name of numpy.random imported by itself; call it through the module: np.random.default_rng()"
    return ""
