"""Draws of arrays: which element of an operator's result belongs to which row of the tape, and in which order.

With a tape of one row, all elements belong to it, in flat order. In a batch of b rows with n_0, n_1, .. drafts, at most
L, the first dimensions of an element identify its row, and the elements of a row are in flat order:

    shape                       elements of row i
    [b, ..]                     [i, ..]
    [b, L, ..], [b, L + 1, ..]  [i, j, ..] with j < n_i, or j < n_i + 1, where rows have different numbers of drafts
    [b L, ..], [b (L + 1), ..]  the same lines, flat
    [sum n_i, ..]               n_i lines, row after row
    [sum (n_i + 1), ..]         n_i + 1 lines, row after row

Other elements are padding: they use no entry of a tape and get numbers that no row reads.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import CodeType
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from draftproof.tape import DrawEntry, Floats, Ints, RowsUnclear, Tape, UnknownRandomness
from draftproof.tape_row import RowTape, clock_of

Shape = tuple[int, ...]
_NOT_THE_FUNCTION = (
    str(Path(__file__).parent),
    str(Path(np.__file__).parent),
    *(str(Path(origin).parent) for origin in [getattr(find_spec("torch"), "origin", None)] if origin),
)
_padding = np.random.default_rng(1)  # never reseeded, so equal calls of a function that uses padding differ


def refuse(tape: Tape, operator: str, remedy: str) -> NoReturn:
    """Raises UnknownRandomness, and stores the exception in the tape, because the function may catch it."""
    tape.refused = UnknownRandomness(operator, remedy)
    raise tape.refused


def note(tape: Tape, operator: str, dtype: str, shape: Shape, given: bool, kind: str) -> None:
    tape.draw_log.append(DrawEntry(operator, dtype, shape, "given" if given else "global", kind))


def _count(shape: Shape) -> int:
    if any(size < 0 for size in shape):
        raise ValueError(f"got the shape {list(shape)}, expected dimensions of 0 or more")
    return math.prod(shape)


def owners(tape: Tape, operator: str, shape: Sequence[int]) -> Ints:
    """Returns the row of each element, -1 for padding, flat. Raises: RowsUnclear."""
    b, n = tape.rows, tape.lengths
    rows, longest = np.arange(b), int(n.max(initial=0))
    first, second = (*shape, -1, -1)[:2]
    flat = first // b if first != b and first in (b * longest, b * (longest + 1)) else 0
    drafts = flat or (second if first == b and second in (longest, longest + 1) and (n != longest).any() else 0)
    if drafts:
        inside = np.arange(drafts) < (n + (drafts - longest))[:, None]
        lines = np.where(inside, rows[:, None], -1).ravel()
    elif first == b:
        lines = rows
    elif first == n.sum():
        lines = np.repeat(rows, n)
    elif first == (n + 1).sum():
        lines = np.repeat(rows, n + 1)
    else:
        raise RowsUnclear(operator, shape, b)
    return np.repeat(lines, math.prod(shape) // len(lines))


def _spread(
    tape: Tape, operator: str, shape: Sequence[int], size: int, draw: Callable[[Ints, int], Any], fill: Any
) -> Any:
    """Returns the result of a draw for each element of `shape`, each an array of `size` numbers: [elements, size].

    draw    (rows, c) -> c results for each of these rows, [len(rows), c, size]
    fill    (count) -> numbers for elements that are padding, [count, size]
    """
    try:
        owner = owners(tape, operator, shape)
    except RowsUnclear:
        if tape.constant is None:
            raise
        return fill(math.prod(shape))
    order = np.argsort(owner, kind="stable")
    counts = np.bincount(owner + 1, minlength=tape.rows + 1)
    begin = np.cumsum(counts) - counts
    out = np.empty((len(owner), size))
    out[order[: counts[0]]] = fill(int(counts[0]))
    for count in np.unique(counts[1:]):
        rows = np.flatnonzero(counts[1:] == count)
        if count:
            out[order[begin[1:][rows][:, None] + np.arange(count)]] = draw(rows, int(count))
    return out


def _uniforms(tape: Tape, shape: tuple[int, ...]) -> Floats:
    """Returns numbers for padding: the tape's constant if the tape has a constant, else random numbers."""
    return _padding.random(shape) if tape.constant is None else np.full(shape, tape.constant)


def coins(tape: Tape, operator: str, shape: Shape, bits: int, stream: str) -> list[float] | Floats:
    """Returns uniforms, multiples of 2^-bits, flat: a list for a tape of one row, else an array."""
    n = _count(shape)
    if tape.one is not None:
        return tape.one.coins(n, bits, stream)
    if n == 0:
        return []
    scale = 2.0**bits

    def draw(rows: Ints, count: int) -> Any:
        return tape.coins(rows, count, bits, stream)[:, :, None]

    def fill(count: int) -> Any:
        return np.floor(_uniforms(tape, (count, 1)) * scale) / scale

    return np.asarray(_spread(tape, operator, shape, 1, draw, fill)).ravel()


def clocks(tape: Tape, operator: str, shape: Shape, bits: int, stream: str) -> list[float] | Floats:
    """Returns exponentials of rate 1, flat. The elements along the last dimension are the clocks of one race."""
    n = _count(shape)
    if n == 0:
        return []
    if tape.one is not None:
        size = shape[-1] if shape else 1
        if size == n:
            return tape.one.clocks(n, bits, stream)
        return [clock for _ in range(n // size) for clock in tape.one.clocks(size, bits, stream)]
    size = shape[-1] if len(shape) > 1 else 1

    def draw(rows: Ints, count: int) -> Any:
        return np.stack([tape.clocks(rows, size, stream, bits) for _ in range(count)], axis=1)

    def fill(count: int) -> Any:
        return np.array([clock_of(v) for v in _uniforms(tape, (count * size,)).tolist()]).reshape(count, size)

    return np.asarray(_spread(tape, operator, shape[:-1] if len(shape) > 1 else shape, size, draw, fill)).ravel()


def is_race(tape: Tape, shape: Shape) -> bool:
    """Whether uniforms are drawn as races: `tape.races` is set and the last dimension is the vocabulary.

    An instruction that drew another length in the rehearsal draws no race (DrawLines).
    """
    if len(shape) == 0:
        return False
    if shape[-1] != tape.vocabulary or tape.vocabulary < 2:
        if tape.lines is not None and tape.lines.recording:
            tape.lines.known.add(_line())
        return False
    return tape.races and not (tape.lines is not None and tape.lines.known and _line() in tape.lines.known)


def _line() -> tuple[CodeType, int]:
    """Returns the code object and the index of the instruction that draws, in the innermost frame outside
    draftproof/intercept and libraries."""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_NOT_THE_FUNCTION):
        frame = frame.f_back
    return frame.f_code, frame.f_lasti


def raced_uniforms(
    tape: Tape, operator: str, shape: Shape, bits: int, significand: int, stream: str
) -> list[float] | Floats:
    """Returns uniforms u = exp(-clock), rounded down to a multiple of 2^-bits below 1, so that -log u is the clock;
    with `tape.complement` u = 1 - exp(-clock), so that -log(1 - u) is the clock.

    A uniform of that grid has an absolute error of 2^-bits. A clock of 2^-8 or more, enough for weights with ratios up
    to 256, thus has a relative error of 2^(8 - bits), so the log declares bits - 8 bits to the host.

    Only ratios of clocks decide a race. Uniforms of 32-bit integers are not 0, so no clock exceeds about 23. Therefore
    clocks that the host forces are divided by 2^8, which leaves ratios up to 5,000 and costs 8 bits.
    """
    scale, earlier = 2.0**bits, 8 if bits == 32 else 0
    told = max(1, min(bits, significand) - 8 - earlier)
    forced = earlier > 0 and tape.one is not None and tape.one.at < tape.one.places and tape.one.values[tape.one.at] < 0
    drawn = clocks(tape, operator, shape, told, stream)
    if forced:
        drawn = [clock * 2.0**-earlier for clock in drawn]
    uniforms = [-math.expm1(-clock) if tape.complement else math.exp(-clock) for clock in drawn]
    flat = [min(math.floor(u * scale), scale - 1) / scale for u in uniforms]
    return flat if isinstance(drawn, list) else np.array(flat)


def is_hash(n: int) -> bool:
    """Whether integers below n are treated as the bits of a hash, from which functions compute uniforms: n is a power
    of two and at least 2^16."""
    return n >= 2**16 and n & (n - 1) == 0


def kind_of_integers(tape: Tape, shape: Shape, n: int) -> str:
    """Returns the kind of draw that the log has for integers below n."""
    return "integer" if not is_hash(n) else "race" if is_race(tape, shape) else "hash"


def integers(tape: Tape, operator: str, shape: Shape, n: int, stream: str) -> list[int] | Ints:
    """Returns integers 0 .. n - 1, flat. An n of 2^31 or more has to be a power of two or at least 2^53. Such integers
    are made from one uniform of at most 53 bits, so not every integer of a range above 2^53 occurs, which suffices for
    seeds.

    Bits of a hash for each token of the vocabulary are drawn as a race, like uniforms.
    """
    count = math.prod(shape)
    if count == 0:
        return []
    if is_hash(n) and is_race(tape, shape) and n <= 2**53:
        bits = n.bit_length() - 1
        return [int(u * n) for u in raced_uniforms(tape, operator, shape, bits, bits, stream)]
    if n >= 2**31:
        bits = min(n.bit_length() - 1, 53)
        if n < 2**53 and n != 2**bits:
            refuse(
                tape, operator, f"the range is {n} integers, expected less than 2^31, a power of two, or 2^53 and more"
            )
        drawn = coins(tape, operator, shape, bits, stream)
        return [int(u * 2**bits) * n >> bits for u in drawn]
    if n < 1:
        raise ValueError(f"{operator}: got an integer below {n}, expected at least 1")
    if tape.one is not None:
        return [tape.one.integer(n, stream) for _ in range(count)]

    def draw(rows: Ints, samples: int) -> Any:
        return np.stack([tape.integers(rows, n, stream) for _ in range(samples)], axis=1)[:, :, None]

    def fill(samples: int) -> Any:
        return np.floor(_uniforms(tape, (samples, 1)) * n)

    return np.asarray(_spread(tape, operator, shape, 1, draw, fill)).ravel().astype(np.int64)


def picks(
    tape: Tape, operator: str, weights: npt.ArrayLike, samples: int, replacement: bool, stream: str
) -> list[int] | Ints:
    """Draws cells by weights [lines, n], `samples` for each line in the order of sampling, flat.

    Without replacement the weight of a drawn cell becomes 0. If the tape has one row, all lines belong to it; of b
    rows, each has one line, or one line for each of its drafts.
    """
    if tape.one is not None:
        lines = weights if isinstance(weights, list) else np.asarray(weights, np.float64).tolist()
        return [cell for line in lines for cell in picked(tape.one, list(line), samples, replacement, stream)]
    table = np.array(weights, np.float64)
    if table.size == 0 or samples == 0:
        return []
    try:
        owner = owners(tape, operator, table.shape[:1])
    except RowsUnclear:
        if tape.constant is None:
            raise
        owner = np.full(len(table), -1)
    cells = np.zeros((len(table), samples), np.int64)
    if tape.constant is not None:
        for line in np.flatnonzero((owner < 0) & (table.sum(axis=1) > 0)):
            one = RowTape([tape.constant] * samples, lambda stream: -1)
            cells[line] = picked(one, table[line].tolist(), samples, replacement, stream)
    order = np.argsort(owner, kind="stable")
    turn = np.empty(len(owner), np.int64)  # number of earlier lines of the same row
    turn[order] = np.arange(len(owner)) - np.searchsorted(owner[order], owner[order])
    for k in range(int(turn.max()) + 1):
        lines = np.flatnonzero((owner >= 0) & (turn == k))
        for j in range(samples if len(lines) else 0):
            cells[lines, j] = tape.picks(owner[lines], table[lines], stream)
            if not replacement:
                table[lines, cells[lines, j]] = 0.0
    return cells.ravel()


def picked(one: RowTape, line: list[float], samples: int, replacement: bool, stream: str) -> list[int]:
    """Draws cells of one row by the weights `line`. Without replacement, sets the weights of drawn cells to 0."""
    cells = []
    for _ in range(samples):
        cells.append(one.pick(line, stream))
        if not replacement:
            line[cells[-1]] = 0.0
    return cells


def permutation(tape: Tape, operator: str, n: int, samples: int, stream: str) -> list[int]:
    """Returns `samples` distinct numbers of 0 .. n - 1 in random order, by a Fisher-Yates shuffle from the front.

    Raises: RowsUnclear for a tape of many rows.
    """
    if tape.one is None:
        raise RowsUnclear(operator, (n,), tape.rows)
    order = list(range(n))
    for i in range(min(samples, n - 1)):
        if n - i >= 2**31:
            refuse(tape, operator, f"got a permutation of {n}, expected less than 2^31 entries")
        j = i + tape.one.integer(n - i, stream)
        order[i], order[j] = order[j], order[i]
    return order[:samples]
