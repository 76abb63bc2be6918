"""The tape of one row in plain Python numbers, which are faster than numpy arrays of one entry; the log entries of a
call's draws, and the exceptions that end a call.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from draftproof.seeds import SeededSource

COIN, PICK, CLOCK, INTEGER = 1, 2, 3, 4
SCALE = tuple(2.0**bits for bits in range(54))

Draw = tuple[int, int, int, int]  # kind, size, bits, stream: a line of the protocol's `draws`


def clock_of(v: float) -> float:
    """Returns the exponential of rate 1 for v, or the clock -v that a v below 0 forces. Uses math.log1p, because the
    last bit of a result of numpy.log1p depends on the number's index in its array."""
    return -v if v < 0 else -math.log1p(-v)


def mass_fault(weights: Sequence[float]) -> str:
    """Returns the error for weights from which no cell can be drawn."""
    shown = ", ".join(f"{weight:.9g}" for weight in weights[:16]) + (", ..." if len(weights) > 16 else "")
    return f"a draw by the weights [{shown}]: expected finite weights >= 0 with a sum above 0"


class DrawEntry(NamedTuple):
    """One call of a random operator. Entries of equal calls are equal, so that calls can be counted by entry."""

    operator: str  # its name in the library: aten::rand, numpy.random.Generator.random
    dtype: str  # dtype of the result: float32, int64
    shape: tuple[int, ...]  # shape of the result
    generator: str  # "global": the library's default generator; "given": another generator
    kind: str  # coin, pick, clock, integer; hash: an integer below n = 2^16 or more; race: numbers of a race

    def text(self) -> str:
        """Returns the entry in words, without its shape: `coin by aten::rand, float32, global generator`."""
        return f"{self.kind} by {self.operator}, {self.dtype}, {self.generator} generator"


class TapeShort(Exception):
    """All rows of a call draw more random numbers than the tape has. The random operators of the function
    under test raise it, and the call is repeated with a longer tape."""


class NoMass(ValueError, RuntimeError):
    """All rows of a call draw from weights without mass: all zero, negative, or not finite. The random operators of the
    function under test raise it.

    torch raises RuntimeError for such weights, numpy and random raise ValueError. This class is both, so that a
    function that catches one of them also catches it.
    """


class RowsUnclear(Exception):
    """The leading dimension of a draw in a batched call is not the batch, so the rows of its numbers are unknown."""

    def __init__(self, operator: str, shape: Iterable[int], rows: int) -> None:
        self.operator, self.shape, self.rows = operator, tuple(shape), rows
        super().__init__(
            f"{operator} draws an array of shape {list(self.shape)} in a call of {rows} rows: "
            f"got a first dimension of {self.shape[0] if self.shape else 'nothing'}, expected {rows}, one entry a row. "
            "Check the function row by row (batched=False), or draw with the batch as first dimension."
        )


class UnknownRandomness(Exception):
    """An operator draws random numbers in a way that no kind of draw describes. `check`, `replay`, `distribution` and
    `acceptance` raise it.

    operator  name of the operator
    remedy    what to use instead
    """

    def __init__(self, operator: str, remedy: str) -> None:
        self.operator, self.remedy = operator, remedy
        super().__init__(f"{operator} draws random numbers that the tape cannot give: {remedy}")


class RowTape:
    """Random numbers of one row, in order of use, and the log of what was drawn.

    A place is one number v of the tape: in [0, 1), or negative to force an outcome. While `source` is set, the numbers
    belong to a seeded generator: a number that was drawn from it before is repeated and takes no new place.
    """

    __slots__ = ("at", "draws", "fault", "known", "number_of", "places", "short", "source", "values", "weights")

    def __init__(self, values: Sequence[float], number_of: Callable[[str], int]) -> None:
        self.values = values
        self.places = len(values)
        self.number_of = number_of  # returns the number of a stream
        self.at = 0
        self.short = False
        self.fault = ""
        self.draws: list[Draw] = []
        self.weights: list[float] = []
        self.source: SeededSource | None = None
        self.known: dict[tuple[Hashable, int], float] = {}  # uniforms that were drawn from seeded generators

    def take(self, draw: Draw) -> float:
        """Returns the next number, and logs it as `draw`. Raises: TapeShort."""
        if self.source is not None:
            return self._of_source(draw)
        at = self.at
        if at == self.places:
            raise self.end()
        self.at = at + 1
        self.draws.append(draw)
        return self.values[at]

    def _of_source(self, draw: Draw) -> float:
        """Returns the next number of the seeded generator `source`: the number of a new place of the tape, or, if a
        generator with the same seed drew this number before, the same number again."""
        source, self.source = self.source, None
        assert source is not None
        key = source.root, source.at
        source.at += 1
        try:
            if key in self.known:
                v = self.known[key]  # v < 0 forces the clock -v; the uniform of a long clock rounds to 1
                return v if v >= 0 or draw[0] == CLOCK else min(-math.expm1(v), 1 - 2.0**-53)
            v = self.known[key] = self.take(draw)
            if draw[0] == INTEGER:  # Many v give the same integer. The middle of their interval is stored.
                self.known[key] = ((-v - 1 if v < 0 else math.floor(v * draw[1])) + 0.5) / draw[1]
            elif v < 0 and draw[0] != CLOCK:
                self.known[key] = 0.0
            return v
        finally:
            self.source = source

    def end(self) -> TapeShort:
        self.short = True
        return TapeShort(f"the tape has {self.places} places, the function draws more")

    def coins(self, n: int, bits: int, stream: str = "") -> list[float]:
        """Returns n uniforms, multiples of 2^-bits in [0, 1). A negative number of the tape counts as 0."""
        scale, first, last = SCALE[bits], self.at, self.at + n
        draw = (COIN, 0, bits, self.number_of(stream))
        floor = math.floor
        if self.source is not None:
            return [floor(v * scale) / scale if v > 0 else 0.0 for v in [self.take(draw) for _ in range(n)]]
        if last > self.places:
            self.draws += [draw] * (self.places - first)
            self.at = self.places
            raise self.end()
        self.at = last
        if n == 1:
            self.draws.append(draw)
            v = self.values[first]
            return [floor(v * scale) / scale if v > 0 else 0.0]
        self.draws += [draw] * n
        return [floor(v * scale) / scale if v > 0 else 0.0 for v in self.values[first:last]]

    def pick(self, weights: Sequence[float], stream: str = "") -> int:
        """Returns a cell: the forced cell, or the first cell whose prefix sum is above v times the sum of the weights.

        Raises: NoMass, TapeShort.
        """
        before = self.at
        v = self.take((PICK, len(weights), 0, self.number_of(stream)))
        new = self.at > before
        sums = list(accumulate(weights))
        total = sums[-1] if sums else 0.0
        if not (0 < total < math.inf and min(weights) >= 0):  # `not <` also catches NaN
            if new:
                self.weights += [0.0] * len(weights)  # the protocol requires finite weights for an answered row
            self.fault = mass_fault(weights)
            raise NoMass(self.fault)
        if new:
            self.weights += weights
        if v < 0:
            cell = self.forced(v, len(weights), "cell")
        else:
            cell = bisect_right(sums, v * total)
            cell = cell if cell < len(sums) else bisect_left(sums, total)  # if v * total rounds up to total
        if self.source is not None and new:  # Many v give the same cell. The middle of their interval is stored.
            self.known[self.source.root, self.source.at - 1] = (sums[cell] - weights[cell] / 2) / total
        return cell

    def clocks(self, n: int, bits: int, stream: str = "") -> list[float]:
        """Returns n exponentials of rate 1, the clocks of one race. A negative number v of the tape forces the clock
        -v."""
        first, last = self.at, self.at + n
        draw = (CLOCK, n, bits, self.number_of(stream))
        if self.source is not None:
            known = [(self.source.root, self.source.at + i) in self.known for i in range(n)]
            if any(known) and not all(known):  # The log cannot describe a part of a race.
                raise UnknownRandomness("a race of a seeded generator", "some of its numbers were drawn before")
            return [clock_of(v) for v in [self.take(draw) for _ in range(n)]]
        if last > self.places:
            self.draws += [draw] * (self.places - first)
            self.at = self.places
            raise self.end()
        self.at = last
        self.draws += [draw] * n
        return [clock_of(v) for v in self.values[first:last]]

    def integer(self, n: int, stream: str = "") -> int:
        """Returns one of 0 .. n - 1: the forced integer, or floor(v n)."""
        v = self.take((INTEGER, n, 0, self.number_of(stream)))
        return self.forced(v, n, "integer") if v < 0 else min(n - 1, int(v * n))

    def forced(self, v: float, n: int, what: str) -> int:
        cell = -v - 1
        if not (0 <= cell < n and cell == int(cell)):
            raise ValueError(f"place {self.at - 1} of the tape: got forced {what} {cell:g}, expected 0 .. {n - 1}")
        return int(cell)
