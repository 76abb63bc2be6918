"""Draws of arrays: which element of an operator's result belongs to which row of the tape, and in which order.

A tape of one row owns all elements, in flat order. Of a batch of b rows the result has b as first dimension, and row i
gets the elements [i], in flat order. Where all rows have L drafts, a first dimension of b L counts the drafts of all
rows, row after row, and row i gets the L elements [i L .. i L + L - 1].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from draftproof.tape import Floats, Ints, LedgerEntry, RowsUnclear, Tape, UnknownRandomness

Shape = tuple[int, ...]


def refuse(tape: Tape, operator: str, remedy: str) -> NoReturn:
    """Raises UnknownRandomness, and leaves it on the tape for a function that catches all exceptions."""
    tape.refused = UnknownRandomness(operator, remedy)
    raise tape.refused


def note(tape: Tape, operator: str, dtype: str, shape: Shape, given: bool, kind: str) -> None:
    tape.ledger.append(LedgerEntry(operator, dtype, shape, "given" if given else "global", kind))


def each_row(tape: Tape, operator: str, shape: Sequence[int]) -> int:
    """Elements of each row. Raises: RowsUnclear."""
    n = math.prod(shape)
    if tape.rows == 1 or n == 0:
        return n
    if not shape or shape[0] not in (tape.rows, tape.rows * tape.drafts):
        raise RowsUnclear(operator, shape, tape.rows)
    return n // int(tape.rows)


def coins(tape: Tape, operator: str, shape: Shape, bits: int, stream: str) -> list[float] | Floats:
    """Uniforms, flat: a list for one row, else an array. Multiples of 2^-bits."""
    n = each_row(tape, operator, shape)
    if tape.one is not None:
        return tape.one.coins(n, bits, stream)
    if n == 0:
        return []
    return tape.coins(np.arange(tape.rows), n, bits, stream).ravel()


def clocks(tape: Tape, operator: str, shape: Shape, bits: int, stream: str) -> list[float] | Floats:
    """Exponentials of rate 1, flat. Elements along the last dimension are one race."""
    n = each_row(tape, operator, shape)
    if n == 0:
        return []
    if tape.one is not None:
        size = shape[-1] if shape else 1
        if size == n:
            return tape.one.clocks(n, bits, stream)
        return [clock for _ in range(n // size) for clock in tape.one.clocks(size, bits, stream)]
    size = shape[-1] if len(shape) > 1 else 1
    rows = np.arange(tape.rows)
    return np.stack([tape.clocks(rows, size, stream, bits) for _ in range(n // size)], axis=1).ravel()


def is_race(tape: Tape, shape: Shape) -> bool:
    """True for uniforms that are drawn as races: the last dimension is the vocabulary, and the tape says so."""
    return tape.races and len(shape) > 0 and shape[-1] == tape.vocabulary and tape.vocabulary > 1


def raced_uniforms(
    tape: Tape, operator: str, shape: Shape, bits: int, significand: int, stream: str
) -> list[float] | Floats:
    """Uniforms u = exp(-clock), rounded down to a multiple of 2^-bits below 1, so that -log u is the clock.

    A uniform of that grid has an absolute error of 2^-bits near 1. A clock of 2^-8 or more, which is a ratio of
    weights up to 256, has a relative error of 2^(8 - bits) from there; the host is told so many bits.
    """
    scale = 2.0**bits
    told = max(1, min(bits, significand) - 8)
    drawn = clocks(tape, operator, shape, told, stream)
    flat = [min(math.floor(math.exp(-clock) * scale), scale - 1) / scale for clock in drawn]
    return flat if isinstance(drawn, list) else np.array(flat)


def integers(tape: Tape, operator: str, shape: Shape, n: int, stream: str) -> list[int] | Ints:
    """Integers 0 .. n - 1, flat. Beyond 2^31 - 1 a power of two up to 2^53 is drawn as a coin of so many bits."""
    count = each_row(tape, operator, shape)
    if count == 0:
        return []
    if n >= 2**31:
        bits = n.bit_length() - 1
        if n != 2**bits or bits > 53:
            refuse(tape, operator, f"found an integer below {n}, wanted less than 2^31 or a power of two up to 2^53")
        drawn = coins(tape, operator, shape, bits, stream)
        return [int(u * n) for u in drawn]
    if n < 1:
        raise ValueError(f"{operator}: found an integer below {n}, wanted at least 1")
    if tape.one is not None:
        return [tape.one.integer(n, stream) for _ in range(count)]
    rows = np.arange(tape.rows)
    return np.stack([tape.integers(rows, n, stream) for _ in range(count)], axis=1).ravel()


def picks(
    tape: Tape, operator: str, weights: npt.ArrayLike, samples: int, replacement: bool, stream: str
) -> list[int] | Ints:
    """Cells by weights [lines, n], `samples` for each line in the order of sampling, flat.

    Without replacement a cell loses its weight when it is drawn. One row of a tape has all lines, b rows have one each,
    or one for each of their drafts.
    """
    if tape.one is not None:
        drawn = []
        for line in weights if isinstance(weights, list) else np.asarray(weights, np.float64).tolist():
            left = list(line)
            for _ in range(samples):
                drawn.append(tape.one.pick(left, stream))
                if not replacement:
                    left[drawn[-1]] = 0.0
        return drawn
    table = np.array(weights, np.float64)
    if table.size == 0 or samples == 0:
        return []
    if len(table) not in (tape.rows, tape.rows * tape.drafts):
        raise RowsUnclear(operator, table.shape, tape.rows)
    rows, cells = np.arange(tape.rows), []
    for line in np.swapaxes(table.reshape(tape.rows, -1, table.shape[1]), 0, 1):
        for _ in range(samples):
            cells.append(tape.picks(rows, line, stream))
            if not replacement:
                line[rows, cells[-1]] = 0.0
    return np.stack(cells, axis=1).ravel()


def permutation(tape: Tape, operator: str, n: int, samples: int, stream: str) -> list[int]:
    """`samples` of 0 .. n - 1 in random order, no number twice, by Fisher and Yates from the front.

    Raises: RowsUnclear for a tape of many rows.
    """
    if tape.one is None:
        raise RowsUnclear(operator, (n,), tape.rows)
    order = list(range(n))
    for i in range(min(samples, n - 1)):
        if n - i >= 2**31:
            refuse(tape, operator, f"found a permutation of {n}, wanted less than 2^31 entries")
        j = i + tape.one.integer(n - i, stream)
        order[i], order[j] = order[j], order[i]
    return order[:samples]
