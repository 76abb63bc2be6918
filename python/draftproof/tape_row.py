"""The tape of one row, in plain Python numbers: a call of one row has no array of numpy on its way."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate

from draftproof.tape_errors import NoMass, TapeShort

COIN, PICK, CLOCK, INTEGER = 1, 2, 3, 4
SCALE = tuple(2.0**bits for bits in range(54))

Draw = tuple[int, int, int, int]  # kind, size, bits, stream: a line of the protocol's `draws`


def clock_of(v: float) -> float:
    """The exponential of rate 1 that v means. math's logarithm: numpy's depends on where a number lies in an array."""
    return -v if v < 0 else -math.log1p(-v)


def mass_fault(weights: Sequence[float]) -> str:
    """What is said of weights that no cell can be drawn by."""
    shown = ", ".join(f"{weight:.9g}" for weight in weights[:16]) + (", ..." if len(weights) > 16 else "")
    return f"a draw by the weights [{shown}]: wanted finite weights >= 0 with a sum above 0"


class RowTape:
    """Random numbers of one row, in order of use, and the log of what was drawn.

    A place is one number v of the tape: in [0, 1), or negative to force an outcome.
    """

    __slots__ = ("at", "draws", "fault", "number_of", "places", "short", "values", "weights")

    def __init__(self, values: Sequence[float], number_of: Callable[[str], int]) -> None:
        self.values = values
        self.places = len(values)
        self.number_of = number_of  # of a stream
        self.at = 0
        self.short = False
        self.fault = ""
        self.draws: list[Draw] = []
        self.weights: list[float] = []

    def take(self, draw: Draw) -> float:
        """The next number, logged as `draw`. Raises: TapeShort."""
        at = self.at
        if at == self.places:
            raise self.end()
        self.at = at + 1
        self.draws.append(draw)
        return self.values[at]

    def end(self) -> TapeShort:
        self.short = True
        return TapeShort(f"the tape has {self.places} places, the function draws more")

    def coins(self, n: int, bits: int, stream: str = "") -> list[float]:
        """n uniforms, multiples of 2^-bits in [0, 1). A forced number counts as 0."""
        scale, first, last = SCALE[bits], self.at, self.at + n
        draw = (COIN, 0, bits, self.number_of(stream))
        if last > self.places:
            self.draws += [draw] * (self.places - first)
            self.at = self.places
            raise self.end()
        self.at = last
        self.draws += [draw] * n
        floor = math.floor
        return [floor(v * scale) / scale if v > 0 else 0.0 for v in self.values[first:last]]

    def pick(self, weights: Sequence[float], stream: str = "") -> int:
        """A cell: the forced one, or the first whose prefix sum is above v times the sum of the weights.

        Raises: NoMass, TapeShort.
        """
        v = self.take((PICK, len(weights), 0, self.number_of(stream)))
        sums = list(accumulate(weights))
        total = sums[-1] if sums else 0.0
        if not (0 < total < math.inf and min(weights) >= 0):  # a sum with a number that is none is none
            self.weights += [0.0] * len(weights)  # the protocol wants finite weights of a row that was answered
            self.fault = mass_fault(weights)
            raise NoMass(self.fault)
        self.weights += weights
        if v < 0:
            return self.forced(v, len(weights), "cell")
        cell = bisect_right(sums, v * total)
        return cell if cell < len(sums) else bisect_left(sums, total)  # v * total was rounded up to the sum

    def clocks(self, n: int, bits: int, stream: str = "") -> list[float]:
        """n exponentials of rate 1, one race. A negative number is minus the clock itself."""
        first, last = self.at, self.at + n
        draw = (CLOCK, n, bits, self.number_of(stream))
        if last > self.places:
            self.draws += [draw] * (self.places - first)
            self.at = self.places
            raise self.end()
        self.at = last
        self.draws += [draw] * n
        return [clock_of(v) for v in self.values[first:last]]

    def integer(self, n: int, stream: str = "") -> int:
        """One of 0 .. n - 1: the forced one, or floor(v n)."""
        v = self.take((INTEGER, n, 0, self.number_of(stream)))
        return self.forced(v, n, "integer") if v < 0 else min(n - 1, int(v * n))

    def forced(self, v: float, n: int, what: str) -> int:
        cell = -v - 1
        if not (0 <= cell < n and cell == int(cell)):
            raise ValueError(f"place {self.at - 1} of the tape: found forced {what} {cell:g}, wanted 0 .. {n - 1}")
        return int(cell)
