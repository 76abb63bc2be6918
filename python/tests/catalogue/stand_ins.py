"""Stand-ins for the random calls of torch, numpy and `random`, which take their values from a script."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import numpy as np


class Wanted(BaseException):
    """Raised by a draw beyond the end of the script. The draw is a coin of `bits` bits, or a cell by `weights`."""

    def __init__(self, bits: int = 0, weights: list[float] | None = None) -> None:
        super().__init__()
        self.bits, self.weights = bits, weights


class NoMass(Exception):
    """Raised by a draw by weights that are negative, not finite or all zero."""


class SharedDraw(Exception):
    """Raised by a draw that has no separate entries for the rows of a batch."""


class Script:
    """The results of draws, in the order of the draws: the value of a coin, or the index of a cell.

    after   numbers that are repeated after the choices, for cells by inversion; without them Wanted is raised
    rows    separate scripts, one for each row of a batch
    """

    def __init__(self, choices: Any = (), after: Any = (), rows: list[Script] | None = None) -> None:
        self.choices, self.after, self.used = tuple(choices), tuple(after), 0
        self.rows = rows or [self]

    def _next(self, bits: int, weights: list[float] | None) -> tuple[float, bool]:
        n, self.used = self.used, self.used + 1
        if n < len(self.choices):
            return self.choices[n], False
        if not self.after:
            raise Wanted(bits, weights)
        return self.after[(n - len(self.choices)) % len(self.after)], True

    def coin(self, bits: int) -> float:
        value, _ = self._next(bits, None)
        return math.floor(value * 2.0**bits) * 2.0**-bits

    def cell(self, weights: list[float]) -> int:
        if any(not math.isfinite(weight) or weight < 0 for weight in weights) or not sum(weights) > 0:
            raise NoMass(str(weights))
        value, invert = self._next(0, weights)
        if not invert:
            return int(value)
        reached, total = 0.0, math.fsum(weights)
        for cell, weight in enumerate(weights):
            reached += weight
            if weight > 0 and value * total < reached:
                return cell
        return max(cell for cell, weight in enumerate(weights) if weight > 0)

    def coins(self, shape: tuple[int, ...], bits: int) -> Any:
        count = math.prod(shape)
        if len(self.rows) == 1:
            return np.array([self.rows[0].coin(bits) for _ in range(count)]).reshape(shape)
        self._of_rows(shape)
        each = count // len(self.rows)
        return np.array([[row.coin(bits) for _ in range(each)] for row in self.rows]).reshape(shape)

    def cells(self, weights: Any, count: int) -> Any:
        """Returns cells [..., count] drawn by the rows of weights [..., V], with replacement."""
        shape = (*weights.shape[:-1], count)
        flat = weights.reshape(-1, weights.shape[-1]).tolist()
        if len(self.rows) > 1:
            self._of_rows(shape)
        each = max(1, len(flat) // len(self.rows))
        drawn = [[self.rows[n // each].cell(row) for _ in range(count)] for n, row in enumerate(flat)]
        return np.array(drawn, dtype=np.int64).reshape(shape)

    def _of_rows(self, shape: tuple[int, ...]) -> None:
        if not shape or shape[0] != len(self.rows):
            raise SharedDraw(f"draws {shape} for {len(self.rows)} rows")


class Source:
    """Holds the script of the run in progress."""

    script: Script


class Generator(np.random.Generator):
    """A numpy Generator of a script: random, uniform, choice, integers."""

    def __init__(self, source: Source) -> None:
        super().__init__(np.random.PCG64(0))
        self.source = source

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        shape = () if size is None else tuple(np.atleast_1d(size).tolist())
        drawn = self.source.script.coins(shape, 24 if dtype == np.float32 else 53).astype(dtype)
        return drawn if shape else float(drawn) if dtype == np.float64 else drawn[()]

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        return low + (high - low) * self.random(size)

    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None, **_: Any) -> Any:
        values = np.arange(a) if np.ndim(a) == 0 else np.asarray(a)
        weights = np.ones(len(values)) if p is None else np.asarray(p, dtype=np.float64)
        if p is not None and not abs(weights.sum() - 1) < 1e-6:
            raise ValueError("probabilities do not sum to 1")
        return values[self.source.script.cells(weights, 1)[0]]


def _choices(source: Source, population: Any, weights: Any = None, *, cum_weights: Any = None) -> list[Any]:
    weights = np.diff(cum_weights, prepend=0) if weights is None else np.array(weights)
    return [population[source.script.cells(weights, 1)[0]]]


@contextmanager
def replaced() -> Iterator[Source]:
    """Replaces random calls until the context ends, and yields a source. The calls take their values from its attribute
    `script`."""
    source = Source()
    with ExitStack() as stack:
        replace = lambda *a: stack.enter_context(mock.patch.object(*a))  # noqa: E731
        generator = Generator(source)
        for name in ("random", "uniform", "choice"):
            replace(np.random, name, getattr(generator, name))
        replace(np.random, "rand", lambda *shape: generator.random(shape or None))
        replace(np.random, "default_rng", lambda *_: generator)
        replace(random, "random", lambda: float(source.script.coins((), 53)))
        replace(random, "uniform", lambda low, high: low + (high - low) * float(source.script.coins((), 53)))
        replace(random, "randrange", lambda n: int(source.script.cells(np.ones(n), 1)[0]))
        replace(random, "choices", lambda *given, **named: _choices(source, *given, **named))
        if "torch" in sys.modules:
            _replace_torch(source, replace)
        yield source


def _replace_torch(source: Source, replace: Any) -> None:
    import torch

    def coins(shape: Any, dtype: Any) -> Any:
        """Returns uniforms as torch draws them on the CPU: in half formats they are rounded floats, and 1 becomes 0."""
        bits = 53 if dtype == torch.float64 else 24
        drawn = torch.from_numpy(np.asarray(source.script.coins(tuple(shape), bits))).to(dtype)
        return torch.where(drawn == 1, 0, drawn)

    def rand(*size: Any, generator: Any = None, dtype: Any = None, device: Any = None) -> Any:
        shape = size[0] if size and not isinstance(size[0], int) else size
        return coins(shape, dtype or torch.get_default_dtype())

    def bernoulli(p: Any, generator: Any = None) -> Any:
        return (coins(p.shape, torch.float64) < p).to(p.dtype)

    def multinomial(w: Any, num_samples: int, replacement: bool = False, generator: Any = None) -> Any:
        return torch.from_numpy(source.script.cells(w.detach().double().numpy(), num_samples))

    def randint(low: int, high: Any, size: Any = None, generator: Any = None) -> Any:
        low, high, size = (0, low, high) if size is None else (low, high, size)
        if high - low > 1000:  # more branches than an enumeration has time for
            return low + torch.from_numpy(np.floor(source.script.coins(size, 53) * (high - low)).astype(np.int64))
        return low + torch.from_numpy(source.script.cells(np.ones((*size, high - low)), 1)[..., 0])

    def exponential(x: Any, *_: Any, generator: Any = None) -> Any:
        return x.copy_(-torch.log1p(-coins(x.shape, torch.float64)))

    replace(torch, "rand", rand)
    replace(torch.Tensor, "exponential_", exponential)
    replace(torch, "rand_like", lambda x, dtype=None, **_: coins(x.shape, dtype or x.dtype))
    replace(torch, "bernoulli", bernoulli)
    replace(torch, "multinomial", multinomial)
    replace(torch, "randint", randint)
    replace(torch.Tensor, "uniform_", lambda x, *_, generator=None: x.copy_(coins(x.shape, x.dtype)))
    replace(torch.Tensor, "multinomial", multinomial)
    replace(torch.Tensor, "bernoulli", bernoulli)
