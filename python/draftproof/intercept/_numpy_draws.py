"""Draws of numpy's generators: one function for each name of a method, with the parameters of the method.

A new method is one function with `@draws("name")`. Its first argument is the call: the tape, and the draw log's entry.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from draftproof.intercept import _elements as elements
from draftproof.intercept._elements import note, refuse
from draftproof.intercept._scalars import lone_clock, shape_of
from draftproof.tape import RowsUnclear, Tape

GRID = {"float64": 53, "float32": 24}  # random() returns multiples of 2^-bits
MOST_COUNTS = 64  # largest n of a multinomial, which is drawn as n picks

METHODS: dict[str, Callable[..., Any]] = {}


@dataclass(frozen=True)
class Call:
    """A call of a method: its tape, the operator's name, and whether the generator was given by the function."""

    tape: Tape
    operator: str
    given: bool

    @property
    def stream(self) -> str:
        return self.operator.rpartition(".")[2]

    def note(self, kind: str, shape: tuple[int, ...], dtype: str = "float64") -> None:
        note(self.tape, self.operator, dtype, shape, self.given, kind)


def draws(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers the draw of the methods with these names, in Generator and in RandomState."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        METHODS.update(dict.fromkeys(names, function))
        return function

    return add


def _uniforms(call: Call, shape: tuple[int, ...], dtype: str = "float64") -> Any:
    race = elements.is_race(call.tape, shape)
    call.note("race" if race else "coin", shape, dtype)
    bits = GRID[dtype]
    if race:
        flat: Any = elements.raced_uniforms(call.tape, call.operator, shape, bits, bits, call.stream)
    else:
        flat = elements.coins(call.tape, call.operator, shape, bits, call.stream)
    return np.array(flat, dtype).reshape(shape) if shape else flat[0]


def _clocks(call: Call, shape: tuple[int, ...], dtype: str = "float64") -> Any:
    call.note("clock", shape, dtype)
    if not shape:
        return lone_clock(call.tape, call.operator, call.stream)
    return np.array(elements.clocks(call.tape, call.operator, shape, GRID[dtype], call.stream), dtype).reshape(shape)


_name = functools.cache(lambda dtype: np.dtype(dtype).name)


def _shape(size: Any, *parameters: Any) -> tuple[int, ...]:
    return shape_of(size) if size is not None else np.broadcast_shapes(*(np.shape(x) for x in parameters))


def _into(out: Any, values: Any) -> Any:
    if out is None:
        return values
    out[...] = values
    return out


@draws("random", "random_sample", "sample", "ranf")
def random(call: Call, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
    shape = np.shape(out) if size is None and out is not None else shape_of(size)
    return _into(out, _uniforms(call, shape, _name(dtype)))


@draws("rand")
def rand(call: Call, *dimensions: int) -> Any:
    return _uniforms(call, dimensions)


@draws("uniform")
def uniform(call: Call, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
    return low + (np.subtract(high, low)) * _uniforms(call, _shape(size, low, high))


@draws("standard_exponential")
def standard_exponential(
    call: Call, size: Any = None, dtype: Any = np.float64, method: str = "zig", out: Any = None
) -> Any:
    shape = np.shape(out) if size is None and out is not None else shape_of(size)
    return _into(out, _clocks(call, shape, _name(dtype)))


@draws("exponential")
def exponential(call: Call, scale: Any = 1.0, size: Any = None) -> Any:
    return scale * _clocks(call, _shape(size, scale))


@draws("gumbel")
def gumbel(call: Call, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    # numpy computes a clock as -log(u), where u is a multiple of 2^-53 below 1, so the clock is at least 2^-53.
    return loc - scale * np.log(np.maximum(_clocks(call, _shape(size, loc, scale)), 2.0**-53))


@draws("integers")
def integers(
    call: Call, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64, endpoint: bool = False
) -> Any:
    if np.ndim(low) or np.ndim(high):
        refuse(call.tape, call.operator, "got ends that are arrays, expected two numbers")
    first, last = (0, int(low)) if high is None else (int(low), int(high))
    n = last - first + bool(endpoint)
    if n < 1:
        raise ValueError(f"{call.operator}: got low {first}, high {last}, expected low < high")
    shape = shape_of(size)
    call.note(elements.kind_of_integers(call.tape, shape, n), shape, _name(dtype))
    flat = np.array(elements.integers(call.tape, call.operator, shape, n, call.stream), np.int64) + first
    return flat.astype(dtype).reshape(shape) if shape else int(flat[0])


@draws("randint")
def randint(call: Call, low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> Any:
    return integers(call, low, high, size, dtype)


def _sum_slack(p: Any) -> float:
    """Returns numpy's tolerance for the sum of the probabilities of `choice`: the square root of epsilon of float64, or
    of the array's type for float32 and float16."""
    narrow = isinstance(p, np.ndarray) and np.issubdtype(p.dtype, np.floating)
    return math.sqrt(max(np.finfo(p.dtype if narrow else np.float64).eps, np.finfo(np.float64).eps))


def _chosen(call: Call, n: int, shape: tuple[int, ...], replace: bool, p: Any) -> Any:
    """Returns indices below n, flat."""
    tape, count = call.tape, math.prod(shape)
    call.note("integer" if p is None else "pick", shape, "int64")
    if p is None:
        if replace:
            return elements.integers(tape, call.operator, shape, n, call.stream)
        if count > n:
            raise ValueError(f"{call.operator}: got {count} samples of {n} without replacement, expected {n} at most")
        return elements.permutation(tape, call.operator, n, count, call.stream)
    weights = np.asarray(p, np.float64)
    if weights.shape != (n,):
        raise ValueError(f"{call.operator}: got p of shape {list(weights.shape)}, expected [{n}]")
    if abs(weights.sum() - 1) > _sum_slack(p) and weights.sum() > 0:
        raise ValueError(f"{call.operator}: got probabilities of sum {weights.sum()}, expected 1")
    if tape.rows == 1:
        return elements.picks(tape, call.operator, [weights.tolist()], count, replace, call.stream)
    if not replace and count > 1:
        raise RowsUnclear(call.operator, shape, tape.rows)
    return elements.picks(tape, call.operator, np.tile(weights, (count, 1)), 1, True, call.stream)


@draws("choice")
def choice(
    call: Call, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True
) -> Any:
    values = None if np.ndim(a) == 0 else np.asarray(a)
    n, shape = int(a) if values is None else values.shape[axis], shape_of(size)
    if n < 1:
        raise ValueError(f"{call.operator}: got {n} values to choose from, expected at least 1")
    index = np.array(_chosen(call, n, shape, replace, p), np.int64)
    picked: Any = index.reshape(shape) if shape else index[0]
    return picked if values is None else np.take(values, picked, axis)


@draws("multinomial")
def multinomial(call: Call, n: Any, pvals: Any, size: Any = None) -> Any:
    """Returns the counts of n picks. As in numpy, the last probability is 1 minus the sum of all others."""
    p = np.asarray(pvals, np.float64)
    if np.ndim(n) or not 0 <= int(n) <= MOST_COUNTS:
        refuse(call.tape, call.operator, f"got n = {n}, expected one number up to {MOST_COUNTS}")
    rest = 1 - p[..., :-1].sum(axis=-1, keepdims=True)
    if (rest < -1e-12).any():  # numpy's tolerance
        raise ValueError(f"{call.operator}: got sum(pvals[:-1]) above 1")
    weights = np.concatenate([p[..., :-1], np.maximum(rest, 0.0)], axis=-1)
    lines = np.broadcast_to(weights, (*shape_of(size), p.shape[-1])) if size is not None else weights
    call.note("pick", lines.shape, "int64")
    table = lines.reshape(-1, p.shape[-1])
    cells = elements.picks(call.tape, call.operator, table, int(n), True, call.stream)
    counts = np.zeros(table.shape, np.int64)
    np.add.at(counts, (np.repeat(np.arange(len(table)), int(n)), np.array(cells, np.int64)), 1)
    return counts.reshape(lines.shape)


@draws("binomial")
def binomial(call: Call, n: Any, p: Any, size: Any = None) -> Any:
    """Returns numbers of successes, each the sum of n picks of failure or success."""
    chances = np.asarray(p, np.float64)
    if np.ndim(n) or not 0 <= int(n) <= MOST_COUNTS:
        refuse(call.tape, call.operator, f"got n = {n}, expected one number up to {MOST_COUNTS}")
    if not ((chances >= 0) & (chances <= 1)).all():  # False for NaN
        raise ValueError(f"{call.operator}: got p below 0, above 1 or NaN")
    shape = _shape(size, chances)
    success = np.broadcast_to(chances, shape).ravel()
    call.note("pick", shape, "int64")
    table = np.stack([1 - success, success], axis=1)
    cells = elements.picks(call.tape, call.operator, table, int(n), True, call.stream)
    counts = np.array(cells, np.int64).reshape(len(success), int(n)).sum(axis=1)
    return counts.reshape(shape) if shape else int(counts[0])


@draws("permutation")
def permutation(call: Call, x: Any, axis: int = 0) -> Any:
    n = int(x) if np.ndim(x) == 0 else np.shape(x)[axis]
    call.note("integer", (n,), "int64")
    order = np.array(elements.permutation(call.tape, call.operator, n, n, call.stream), np.int64)
    return order if np.ndim(x) == 0 else np.take(np.asarray(x), order, axis)


@draws("shuffle")
def shuffle(call: Call, x: Any, axis: int = 0) -> None:
    n = np.shape(x)[axis] if isinstance(x, np.ndarray) else len(x)
    call.note("integer", (n,), "int64")
    order = elements.permutation(call.tape, call.operator, n, n, call.stream)
    x[:] = np.take(x, order, axis) if isinstance(x, np.ndarray) else [x[i] for i in order]
