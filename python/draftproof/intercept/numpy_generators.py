"""numpy: functions of numpy.random, and generators made while a function runs (default_rng, Generator, RandomState).

Stand-ins are subclasses of numpy's generators with all of their methods. A method that `_numpy_draws.py` does not have
raises UnknownRandomness with its name. Outside of a call a stand-in draws like its base class.

A generator made before the call, and a function imported by name, cannot be replaced: `unreachable` names them.
"""

from __future__ import annotations

import copy
import functools
import itertools
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from draftproof.intercept._elements import refuse
from draftproof.intercept._numpy_draws import METHODS, Call
from draftproof.intercept._scalars import LikeBase, Patches, hashable, here, own, running, source_of
from draftproof.seeds import SeededSource
from draftproof.tape import Tape

NAME = "numpy"

Plain, PlainLegacy = np.random.Generator, np.random.RandomState
_DRAW_NOTHING = frozenset({"bit_generator", "get_state", "set_state", "seed"})
_original_default_rng = np.random.default_rng
original: Any = np.random.mtrand._rand  # the generator behind the functions of the module


def _public(of: type) -> list[str]:
    return [name for name in dir(of) if not name.startswith("_") and callable(getattr(of, name))]


def _method(base: Any, name: str, library: str) -> Callable[..., Any]:
    original, answer = getattr(base, name), METHODS.get(name)
    operator = f"{library}.{name}"

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        tape = running()
        if tape is None:
            return original(self.plain(), *args, **kwargs)
        source = tape.seeded.get(self.key()) if tape.seeded else None
        if source is not None and not isinstance(source, SeededSource):
            return original(source, *args, **kwargs)
        if answer is None:
            refuse(tape, operator, f"a function with @draws({name!r}) in draftproof/intercept/_numpy_draws.py adds it")
        tape.source = source
        return answer(Call(tape, operator, self.given), *args, **kwargs)

    method.__name__, method.__doc__ = name, getattr(original, "__doc__", None)
    return method


def _stand_in(base: Any, library: str, names: list[str], **more: Any) -> Any:
    """Returns a subclass of numpy's generator in which every method that draws is replaced."""
    methods: dict[str, Any] = {name: _method(base, name, library) for name in names if name not in _DRAW_NOTHING}
    own_methods = {"replaces": True, "given": True, "key": lambda self: id(self), "plain": lambda self: self}
    return LikeBase("StandIn" + base.__name__, (base,), own_methods | methods | more)


def _spawn(self: Any, n: int) -> list[Any]:
    """Returns children of a generator. If the generator has a seed, the children's seeds are derived from this seed."""
    tape = running()
    children = [StandIn(child.bit_generator) for child in Plain.spawn(self, n)]
    source = tape.seeded.get(id(self)) if tape is not None else None
    for i, child in enumerate(children):
        if tape is not None and isinstance(source, SeededSource):
            spawned = getattr(child.bit_generator.seed_seq, "spawn_key", i)
            tape.seeded[id(child)] = SeededSource((source.root, "spawned", spawned))
        elif tape is not None and source is not None:
            tape.seeded[id(child)] = child
    return children


def _copied(self: Any, memo: Any = None) -> Any:
    """Returns a copy that continues with the same numbers as the generator itself."""
    made = StandIn.__new__(StandIn)
    Plain.__init__(made, copy.deepcopy(self.bit_generator))
    tape = running()
    if tape is not None:
        source = tape.seeded.setdefault(id(self), SeededSource(("state", len(tape.seeded))))
        tape.seeded[id(made)] = SeededSource(source.root, source.at) if isinstance(source, SeededSource) else made
    return made


def _begin(self: Any, key: Hashable, bits: Any = None) -> None:
    """Records the seed of a stand-in that is made in a call. Stand-ins that share the bit generator `bits` also share
    one source."""
    tape = running()
    if tape is None:
        return
    tape.seeded.pop(id(self), None)
    if key is None:
        return
    source, of = tape.seeded.get(("bits of", id(bits)), (None, None))
    if bits is None or of is not bits:
        source = source_of(tape, key, self)
        if bits is not None:
            tape.seeded["bits of", id(bits)] = source, bits
    tape.seeded[id(self)] = source


def _seed_of(seed: Any) -> Hashable:
    """Returns a seed as a key; None if there is no seed, that is, the operating system's entropy or the shared bit
    generator of stand-ins without a seed."""
    if seed is None or seed is _any_bits():
        return None
    if isinstance(seed, np.random.SeedSequence):
        return "numpy seed", hashable(seed.entropy), *seed.spawn_key
    if hasattr(seed, "state"):  # a bit generator; if it was made without a seed, its state is new in every call
        sequence = getattr(seed, "seed_seq", None)
        kind: Any = type(seed)
        if isinstance(sequence, np.random.SeedSequence) and repr(kind(sequence).state) == repr(seed.state):
            key = _seed_of(sequence)
            return key if kind is np.random.PCG64 else (kind.__name__, key)  # default_rng makes a PCG64
        return "numpy bits", repr(seed.state)
    return "numpy seed", hashable(np.asarray(seed) if isinstance(seed, list | tuple) else seed)


def _legacy_key(seed: Any) -> Hashable:
    """Returns a seed of RandomState and of numpy.random.seed as a key, or None where `_seed_of` returns None."""
    if seed is None or hasattr(seed, "state"):
        return _seed_of(seed)
    return "numpy.random.seed", hashable(np.asarray(seed) if isinstance(seed, list | tuple) else seed)


def _generator(self: Any, bit_generator: Any) -> None:
    Plain.__init__(self, bit_generator)
    _begin(self, _seed_of(bit_generator), bit_generator)


def _legacy(self: Any, seed: Any = None) -> None:
    PlainLegacy.__init__(self, seed)
    _begin(self, _legacy_key(seed), seed if hasattr(seed, "state") else None)


def _legacy_seed(self: Any, seed: Any = None) -> None:
    tape = running()
    if tape is None:
        PlainLegacy.seed(self.plain(), seed)
    elif seed is None:
        tape.seeded.pop(self.key(), None)
    else:
        tape.seeded[self.key()] = source_of(tape, _legacy_key(seed), PlainLegacy(seed))


def _get_state(self: Any, legacy: bool = True) -> Any:
    """Returns the state of the plain generator outside of a call, else the position in the numbers of the call."""
    tape = running()
    source = tape.seeded.get(self.key()) if tape is not None else None
    if tape is None or not (source is None or isinstance(source, SeededSource)):
        return PlainLegacy.get_state(source or self.plain(), legacy)  # type: ignore[call-overload]
    source = tape.seeded.setdefault(self.key(), SeededSource(("state", len(tape.seeded))))
    return SeededSource(source.root, source.at)


def _set_state(self: Any, state: Any) -> None:
    tape = running()
    if isinstance(state, SeededSource):
        if tape is not None:
            tape.seeded[self.key()] = SeededSource(state.root, state.at)
    elif tape is None:
        PlainLegacy.set_state(self.plain(), state)
    else:
        generator = PlainLegacy()
        generator.set_state(state)
        tape.seeded[self.key()] = source_of(tape, ("numpy state", repr(state)), generator)


StandIn = _stand_in(
    Plain, "numpy.random.Generator", [n for n in _public(Plain) if n != "spawn"], __init__=_generator, spawn=_spawn,
    __copy__=_copied, __deepcopy__=_copied
)  # fmt: skip
_legacy_methods = {"__init__": _legacy, "seed": _legacy_seed, "get_state": _get_state, "set_state": _set_state}
Legacy = _stand_in(PlainLegacy, "numpy.random", _public(PlainLegacy), **_legacy_methods)
_module = LikeBase("Module", (Legacy,), {
    "given": False,
    "key": lambda self: NAME,
    "plain": lambda self: own(NAME, _seeded_legacy) or original,
})  # fmt: skip


def _seeded_legacy(seed: int) -> Any:
    return PlainLegacy([seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF])  # RandomState takes 32-bit numbers


@functools.cache
def _any_bits() -> Any:
    return _original_default_rng().bit_generator


def default_rng(seed: Any = None) -> Any:
    """Returns a stand-in for the generator numpy.random.default_rng(seed). Stand-ins without a seed that are made in
    calls share one bit generator, which is never read, because to make a new bit generator takes longer than a call of
    a fast verifier."""
    if isinstance(seed, Plain):
        return seed
    if seed is None and running():
        bits = _any_bits()
    elif seed is None and here.seed is not None:
        bits = _original_default_rng([here.seed, next(own("default_rng", lambda _: itertools.count()))]).bit_generator
    else:
        bits = _original_default_rng(seed).bit_generator
    made = StandIn.__new__(StandIn)
    Plain.__init__(made, bits)
    _begin(made, _seed_of(seed), seed if hasattr(seed, "state") else None)
    return made


@functools.cache
def _patches() -> Patches:
    module = _module(0)
    same = {"sample": "random_sample", "ranf": "random_sample"}  # names that RandomState does not have
    names = {n: n for n in _public(PlainLegacy)} | same
    changes = [(np.random, name, getattr(module, of)) for name, of in names.items() if hasattr(np.random, name)]
    replaced = {"default_rng": default_rng, "Generator": StandIn, "RandomState": Legacy}
    # scipy and other libraries read this attribute in each call, to draw from the module's generator.
    changes.append((np.random.mtrand, "_rand", module))
    return Patches(changes + [(np.random, name, stand_in) for name, stand_in in replaced.items()])


def present() -> bool:
    return True


def replaced() -> AbstractContextManager[None]:
    return _patches().on()


def scripted(tape: Tape) -> None:
    """Returns None, because no context is needed: stand-ins read the tape of the running call."""


def unreachable(thing: object) -> str:
    """Describes generators made before the call, their methods, and functions of numpy.random imported by name."""
    kinds = (Plain, PlainLegacy)
    if isinstance(thing, kinds) and not issubclass(type(thing), (StandIn, Legacy)):
        return (f"a numpy {type(thing).__name__} made before the call; take it as a parameter `rng`, or call functions "
                "of np.random")  # fmt: skip
    owner = getattr(thing, "__self__", None)
    if isinstance(owner, kinds) and not issubclass(type(owner), (StandIn, Legacy)):
        return (
            f"the method {getattr(thing, '__name__', '?')} of a numpy {type(owner).__name__} made before the call; "
            "call functions through their module: np.random.random()"
        )
    if thing is _original_default_rng or any(thing is kind for kind in kinds):
        return "a name of numpy.random imported by itself; call it through the module: np.random.default_rng()"
    return ""
