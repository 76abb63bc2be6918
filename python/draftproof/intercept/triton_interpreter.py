"""Triton: tl.rand, tl.randint and their 4x variants, in kernels under the interpreter (TRITON_INTERPRET=1).

A number of Triton is a function of seed and offset. Each pair is one coin of the tape, in order of first use. The same
pair gives the same number again, so a check detects a kernel that uses an offset twice. Draws of compiled kernels, on
the device, cannot be replaced: `unreachable` names them, and draftproof.adapter raises ValueError for a function with
such a kernel. A compiled kernel that takes its uniforms as an argument can be checked, and any kernel by trials alone
with scripted=False.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np

from draftproof.intercept._elements import note, refuse
from draftproof.tape import Tape

NAME = "triton"
FUNCTIONS = ("rand", "rand4x", "randint", "randint4x", "randn", "randn4x", "philox", "philox_impl")

# tl.rand maps a signed 32-bit integer x to 31 bits (x, or -x - 1 if x < 0), and multiplies it in float32 by the largest
# scale with which all results are below 1.
UNIFORM_BITS, INTEGER_BITS = 31, 32
SCALE = np.float32(4.6566127342e-10)


class Numbers:
    """The numbers of one call, by seed, offset and index in a result of four numbers. Equal keys have equal numbers."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self.known: dict[tuple[int, int, int], tuple[int, float]] = {}

    def block(self, name: str, seed: Any, offset: Any, bits: int, which: int) -> Any:
        """Returns a tensor in the shape of the result, and numbers v of the tape in the same shape, multiples of
        2^-bits in float64."""
        import triton.language as tl

        template = tl.to_tensor(seed).to(tl.uint64) * 0 + offset.to(tl.uint64)
        places = template.handle.data
        seeds = np.broadcast_to(tl.to_tensor(seed).handle.data, places.shape).ravel().tolist()
        keys = [(s, o, which) for s, o in zip(seeds, places.ravel().tolist(), strict=True)]
        note(self.tape, f"triton.language.{name}", "float32" if bits == UNIFORM_BITS else "uint32", places.shape, True,
             "coin")  # fmt: skip
        return template, np.array([self.number(name, key, bits) for key in keys]).reshape(places.shape)

    def number(self, name: str, key: tuple[int, int, int], bits: int) -> float:
        if key not in self.known:
            one = self.tape.single(f"triton.language.{name}")
            one.source = None
            self.known[key] = bits, one.coins(1, bits, name)[0]
        drawn, number = self.known[key]
        if drawn != bits:
            found = f"got a uniform and an integer by seed {key[0]} and offset {key[1]}, expected one of them"
            refuse(self.tape, f"triton.language.{name}", found)
        return number

    def uniform(self, name: str, seed: Any, offset: Any, which: int = 0) -> Any:
        import triton.language as tl

        template, v = self.block(name, seed, offset, UNIFORM_BITS, which)
        result = template.to(tl.float32)
        result.handle.data = (v * 2.0**UNIFORM_BITS).astype(np.float32) * SCALE
        return result

    def integer(self, name: str, seed: Any, offset: Any, which: int = 0) -> Any:
        import triton.language as tl

        template, v = self.block(name, seed, offset, INTEGER_BITS, which)
        result = template.to(tl.uint32)
        result.handle.data = (v * 2.0**INTEGER_BITS).astype(np.uint32)
        return result

    def answers(self) -> dict[str, Callable[..., Any]]:
        """Returns a stand-in for each of FUNCTIONS."""

        def one(draw: Callable[..., Any], name: str) -> Callable[..., Any]:
            return lambda seed, offset, n_rounds=None: draw(name, seed, offset)

        def four(draw: Callable[..., Any], name: str) -> Callable[..., Any]:
            return lambda seed, offset, n_rounds=None: tuple(draw(name, seed, offset, i) for i in range(4))

        def none(name: str) -> Callable[..., Any]:
            remedy = "a function in Numbers.answers of draftproof/intercept/triton_interpreter.py adds it"
            return lambda *args, **kwargs: refuse(self.tape, f"triton.language.{name}", remedy)

        return {name: none(name) for name in FUNCTIONS} | {
            "rand": one(self.uniform, "rand"),
            "rand4x": four(self.uniform, "rand4x"),
            "randint": one(self.integer, "randint"),
            "randint4x": four(self.integer, "randint4x"),
        }


def _interpreted() -> dict[str, Any]:
    """Returns Triton's random functions by name, if they are interpreted."""
    module = sys.modules.get("triton.language.random")
    functions = {name: getattr(module, name, None) for name in FUNCTIONS}
    return {name: f for name, f in functions.items() if hasattr(f, "rewritten_fn") and hasattr(f, "fn")}


def present() -> bool:
    return "triton.language.random" in sys.modules


@contextmanager
def _replaced(functions: dict[str, Any], answers: dict[str, Callable[..., Any]]) -> Iterator[None]:
    """Makes the interpreter run `answers` instead of `functions`, also if a kernel imported these under other names."""
    made = next(iter(functions.values())).rewritten_fn
    before = {function.fn: made.get(function.fn) for function in functions.values()}
    made.update({function.fn: answers[name] for name, function in functions.items()})
    try:
        yield
    finally:
        for key, old in before.items():
            if old is None:
                made.pop(key, None)
            else:
                made[key] = old


def replaced() -> AbstractContextManager[None]:
    return nullcontext()


def scripted(tape: Tape) -> AbstractContextManager[None] | None:
    functions = _interpreted()
    return _replaced(functions, Numbers(tape).answers()) if functions else None


def _random_names(fn: types.FunctionType) -> set[str]:
    """Returns Triton's random functions that the code names, also those that it imported under other names."""
    module = sys.modules.get("triton.language.random")
    own = {id(getattr(module, name)): name for name in FUNCTIONS if hasattr(module, name)}
    names = set(fn.__code__.co_names)
    return set(FUNCTIONS) & names | {own[id(fn.__globals__[x])] for x in names if id(fn.__globals__.get(x)) in own}


def unreachable(thing: object) -> str:
    """Describes a kernel that is compiled, not interpreted, and names a random function; empty for other objects."""
    fn = getattr(thing, "fn", None)
    if type(thing).__name__ != "JITFunction" or not isinstance(fn, types.FunctionType):
        return ""
    if fn.__module__.partition(".")[0] == "triton":  # The kernels that call this function are reported.
        return ""
    named = sorted(_random_names(fn))
    if not named:
        return ""
    return (
        f"a compiled kernel that draws by {', '.join(named)}; set TRITON_INTERPRET=1 before Triton is imported, or "
        "give the kernel its uniforms as an argument"
    )
