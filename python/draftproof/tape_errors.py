"""What a tape says of the draws of a call: entries of its ledger, and the reasons why a call cannot go on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class LedgerEntry(NamedTuple):
    """One random operator of a call. Equal calls have equal entries, so that they can be counted."""

    operator: str  # as its library names it: aten::rand, numpy.random.Generator.random
    dtype: str  # of the result: float32, int64
    shape: tuple[int, ...]  # of the result
    generator: str  # "global" or "given"
    kind: str  # coin, pick, clock, integer; hash: an integer below 2^16 or more; race: drawn as a race

    def text(self) -> str:
        """In words, without its shape: `coin by aten::rand, float32, global generator`."""
        return f"{self.kind} by {self.operator}, {self.dtype}, {self.generator} generator"


class TapeShort(Exception):
    """All rows of a call want more random numbers than the tape has."""


class NoMass(ValueError, RuntimeError):
    """All rows of a call draw from weights without mass: all zero, negative, or not finite.

    torch raises RuntimeError there, numpy and random raise ValueError. A function that expects one of them gets it.
    """


class RowsUnclear(Exception):
    """A draw of a batched call has no leading dimension of the batch, so the rows it belongs to are unknown."""

    def __init__(self, operator: str, shape: Iterable[int], rows: int) -> None:
        self.operator, self.shape, self.rows = operator, tuple(shape), rows
        super().__init__(
            f"{operator} draws an array of shape {list(self.shape)} in a call of {rows} rows: "
            f"found a first dimension of {self.shape[0] if self.shape else 'nothing'}, wanted {rows}, one entry a row. "
            "Check the function row by row (batched=False), or draw with the batch as first dimension."
        )


class UnknownRandomness(Exception):
    """An operator draws random numbers in a way that no kind of draw describes."""

    def __init__(self, operator: str, remedy: str) -> None:
        self.operator, self.remedy = operator, remedy
        super().__init__(f"{operator} draws random numbers that the tape cannot give: {remedy}")
