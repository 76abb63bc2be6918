"""The random numbers of one call of a function, given by the host, and the log of what the function drew.

A tape has b rows of m places. A place holds one number v in [0, 1), or a negative one that forces an outcome. The
n-th draw of a row takes the n-th place. The kind of a draw determines what v becomes; `docs/adapters.md` has the table.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import numpy as np
import numpy.typing as npt

from draftproof.seeds import SeedBook, SeededSource
from draftproof.tape_row import (
    CLOCK,
    COIN,
    INTEGER,
    PICK,
    DrawEntry,
    NoMass,
    RowsUnclear,
    RowTape,
    TapeShort,
    UnknownRandomness,
    clock_of,
    mass_fault,
)

__all__ = ["CLOCK", "COIN", "INTEGER", "PICK", "DrawEntry", "DrawLines", "NoMass", "RowTape", "RowsUnclear", "Tape",
           "TapeShort", "UnknownRandomness"]  # fmt: skip

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Rows = Ints | Sequence[int] | int
Log = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], Floats, list[str]]

MOST_BEYOND = 4096  # number of draws beyond a row's tape after which a call is ended, because it may never end


@dataclass
class DrawLines:
    """Instructions that in the rehearsal drew arrays of uniforms whose length was not the vocabulary size.

    These instructions draw no race, even if the length equals the vocabulary size of another model.
    """

    known: set[tuple[CodeType, int]] = field(default_factory=set)
    recording: bool = False


class Tape:
    """Random numbers for b rows, and their log.

    `one` is the tape of the single row if b = 1, else None. Stand-ins then draw from it, because plain Python numbers
    are ten times faster than arrays of one entry.

    A row that draws more than m numbers is `short`: it gets zeros (clocks of 1, the first cell with weight), which are
    not logged. A row that draws from weights without mass is `massless`, has a text in `faults`, and gets cell 0.
    TapeShort or NoMass ends a call as soon as all of its rows are short or massless.

    lengths    number of drafts of each row, [b], which determines the elements of an array that belong to the row
    constant   the number for draws that cannot be assigned to rows; None: such a draw is an error
    """

    def __init__(
        self,
        values: npt.ArrayLike,
        vocabulary: int,
        races: bool = False,
        lengths: Ints | None = None,
        book: SeedBook | None = None,
    ) -> None:
        """values: float64 [b, m], below 1. races: whether uniforms whose last dimension is `vocabulary` are
        exp(-clock), or 1 - exp(-clock) if `complement` is set.

        Raises: ValueError for another shape, or for a value of 1 or more or not a number.
        """
        array = np.asarray(values, np.float64)
        if array.ndim != 2:
            raise ValueError(f"values of a tape: got shape {list(array.shape)}, expected [rows, places]")
        if array.size and not array.max() < 1:  # `not <` also catches NaN
            raise ValueError(f"values of a tape: got {array.max()}, expected values below 1")
        self.values = array
        self._start(vocabulary, races, {"": -1}, [], book)
        self.rows, self.places = array.shape
        self.lengths = np.ones(self.rows, np.int64) if lengths is None else lengths
        if self.rows == 1:
            self.one: RowTape | None = RowTape(array[0].tolist(), self._number_of)
        else:
            self._source: SeededSource | None = None
            self._known: dict[tuple[Hashable, int, int], Floats] = {}
            self._used = np.zeros(self.rows, np.int64)
            self._short = np.zeros(self.rows, np.bool_)
            self._massless = np.zeros(self.rows, np.bool_)
            self._faults: dict[int, str] = {}
            self._entries: list[tuple[Ints, Ints, tuple[int, int, int, int], Floats | None]] = []
            self._beyond = 0

    @classmethod
    def of_row(
        cls,
        values: list[float],
        vocabulary: int,
        races: bool,
        streams: dict[str, int],
        draw_log: list[DrawEntry],
        book: SeedBook,
    ) -> Tape:
        """Returns the tape of one row, whose numbers were checked before. Many tapes may share `streams` and
        `draw_log`."""
        tape = cls.__new__(cls)
        tape._start(vocabulary, races, streams, draw_log, book)
        tape.rows, tape.places = 1, len(values)
        tape.one = RowTape(values, tape._number_of)
        return tape

    def share(self, streams: dict[str, int], draw_log: list[DrawEntry]) -> None:
        """Replaces the tape's streams and draw log by objects that other tapes use too."""
        self._streams, self.draw_log = streams, draw_log

    def _start(
        self, vocabulary: int, races: bool, streams: dict[str, int], draw_log: list[DrawEntry], book: SeedBook | None
    ) -> None:
        self.vocabulary, self.races, self.book = vocabulary, races, book
        self.compiled = True  # whether the function may call code of torch.compile
        self.lines: DrawLines | None = None
        self.complement = False
        self.every_operator = True  # whether torch runs under the dispatch mode
        self.draw_log = draw_log
        self.refused: UnknownRandomness | None = None  # stored, because the function may catch it
        self.one = None
        self.constant: float | None = None
        self.seeded: dict[Hashable, Any] = {}  # for each generator: its SeededSource, or a generator not replaced
        self._streams = streams

    @property
    def source(self) -> SeededSource | None:
        """The seeded generator that draws the next numbers; None if no seeded generator draws them."""
        return self._source if self.one is None else self.one.source

    @source.setter
    def source(self, source: SeededSource | None) -> None:
        if self.one is None:
            self._source = source
        else:
            self.one.source = source

    def single(self, operator: str, shape: Sequence[int] = ()) -> RowTape:
        """Returns a tape for draws that cannot be assigned to a row: the tape of the only row, or a tape whose numbers
        are all `constant`.

        Raises: RowsUnclear for several rows without `constant`.
        """
        if self.one is not None:
            return self.one
        if self.constant is None:
            raise RowsUnclear(operator, shape, self.rows)
        return RowTape([self.constant] * 512, self._number_of)

    # State of the rows.

    @property
    def used(self) -> Ints:
        """Number of entries of the tape that each row has used, [b]."""
        return self._used if self.one is None else np.array([self.one.at])

    @property
    def short(self) -> npt.NDArray[np.bool_]:
        """Whether each row drew more than m numbers, [b]."""
        return self._short if self.one is None else np.array([self.one.short])

    @property
    def massless(self) -> npt.NDArray[np.bool_]:
        """Whether each row drew from weights without mass, [b]."""
        return self._massless if self.one is None else np.array([bool(self.one.fault)])

    @property
    def faults(self) -> dict[int, str]:
        """For each massless row, a description of its weights."""
        if self.one is None:
            return self._faults
        return {0: self.one.fault} if self.one.fault else {}

    # Draws for many rows at once. Each row occurs once in `rows`.

    def coins(self, rows: Rows, n: int, bits: int, stream: str = "") -> Floats:
        """Returns [len(rows), n]: n uniforms, multiples of 2^-bits, for each of `rows`. Raises: TapeShort."""
        if not 1 <= bits <= 53:
            raise ValueError(f"a coin: got {bits} bits, expected 1 to 53")
        if self.one is not None:
            return np.array([self.one.coins(n, bits, stream)])
        v, _ = self._take(rows, n, (COIN, 0, bits, self._number_of(stream)))
        scale = 2.0**bits
        return np.floor(np.maximum(v, 0.0) * scale) / scale

    def picks(self, rows: Rows, weights: npt.ArrayLike, stream: str = "") -> Ints:
        """Returns [len(rows)]: a cell for each of `rows`, by weights [len(rows), n]. Raises: TapeShort, NoMass."""
        w = np.asarray(weights, np.float64)
        if w.ndim != 2 or len(w) != (1 if isinstance(rows, int) else len(rows)):
            raise ValueError(f"weights of picks: got shape {list(w.shape)}, expected one line for each row")
        if self.one is not None:
            return np.array([self.one.pick(w[0].tolist(), stream)])
        n = w.shape[1]
        with np.errstate(invalid="ignore", over="ignore"):
            sums = np.cumsum(w, axis=1)
        total = sums[:, -1] if n else np.zeros(len(w))
        bad = ~((w >= 0).all(axis=1) & (total > 0) & (total < math.inf))
        given, w = w, np.where(bad[:, None], 0.0, w)
        v, at = self._take(rows, 1, (PICK, n, 0, self._number_of(stream)), w)
        v = v[:, 0]
        lost = (self.short[at] | bad) if bad.any() else self.short[at]
        drawn = np.where(v < 0, self._forced(v, n, ~lost, "cell"), 0)
        open_ = v >= 0
        if open_.any():
            first = (sums[open_] <= (v[open_] * total[open_])[:, None]).sum(axis=1)
            last = (sums[open_] < total[open_, None]).sum(axis=1)
            drawn[open_] = np.minimum(first, last)
        drawn[bad] = 0
        for i in np.flatnonzero(bad & ~self._massless[at]):
            self._massless[at[i]] = True
            self._faults[int(at[i])] = mass_fault(given[i].tolist())
        if bad.any() and (self._massless | self._short).all():
            raise self._end()
        return drawn

    def clocks(self, rows: Rows, n: int, stream: str = "", bits: int = 53) -> Floats:
        """Returns [len(rows), n]: a race of n exponentials of rate 1 for each of `rows`. Raises: TapeShort.

        `bits`: significant bits of the clocks. The host infers weights from the clocks, and derives the error of these
        weights from `bits`.
        """
        if self.one is not None:
            return np.array([self.one.clocks(n, bits, stream)])
        v, _ = self._take(rows, n, (CLOCK, n, bits, self._number_of(stream)))
        return np.array([clock_of(x) for x in v.ravel().tolist()]).reshape(v.shape)

    def integers(self, rows: Rows, n: int, stream: str = "") -> Ints:
        """Returns [len(rows)]: an integer in 0 .. n - 1 for each of `rows`. Raises: TapeShort."""
        if not 1 <= n < 2**31:
            raise ValueError(f"an integer below {n}: expected 1 to 2^31 - 1")
        if self.one is not None:
            return np.array([self.one.integer(n, stream)])
        v, at = self._take(rows, 1, (INTEGER, n, 0, self._number_of(stream)))
        v = v[:, 0]
        forced = self._forced(v, n, ~self._short[at], "integer")
        return np.where(v < 0, forced, np.minimum(n - 1, (np.maximum(v, 0.0) * n).astype(np.int64)))

    # The log.

    def log(self) -> Log:
        """Returns `draw_counts` int32 [b], `draws` int32 [sum, 4], `weights` float64 and the names of streams, in the
        form of the protocol's message `result` (docs/adapters-protocol.md).

        Weights without mass are logged as zeros, because the protocol admits invalid weights only in rows of status 4.
        """
        streams = list(self._streams)[1:]
        if self.one is not None:
            draws = np.array(self.one.draws, np.int32).reshape(-1, 4)
            return np.array([len(draws)], np.int32), draws, np.array(self.one.weights, np.float64), streams
        counts = self._used.astype(np.int32)
        begin = np.concatenate([[0], np.cumsum(self._used)])
        draws = np.zeros((begin[-1], 4), np.int32)
        picks = []
        for rows, places, draw, weights in self._entries:
            line = begin[rows] + places
            draws[line] = draw
            if weights is not None:
                picks.append((line, weights))
        size = np.where(draws[:, 0] == PICK, draws[:, 1], 0).astype(np.int64)
        end = np.cumsum(size)
        flat = np.zeros(end[-1] if len(end) else 0)
        for line, weights in picks:
            flat[(end - size)[line][:, None] + np.arange(weights.shape[1])] = weights
        return counts, draws, flat, streams

    def _number_of(self, stream: str) -> int:
        return self._streams.setdefault(stream, len(self._streams) - 1)

    def _take(
        self, rows: Rows, n: int, draw: tuple[int, int, int, int], weights: Floats | None = None
    ) -> tuple[Floats, Ints]:
        """Returns the next n numbers of each row [len(rows), n], and `rows` as an array. Numbers beyond the tape are 0,
        or -1 for clocks, which forces a clock of 1."""
        at = np.atleast_1d(np.asarray(rows, np.int64))
        if self._source is not None:
            source, self._source = self._source, None
            keys = [(source.root, source.at, row) for row in at.tolist()]
            source.at += n
            known = [key in self._known and len(self._known[key]) >= n for key in keys]
            if all(known):
                values = np.array([self._known[key][:n] for key in keys])
                if draw[0] != CLOCK:  # a number below 0 is a forced clock
                    values = np.where(values < 0, np.minimum(-np.expm1(values), 1 - 2.0**-53), values)
            elif any(known):
                raise UnknownRandomness("a seeded generator", "some rows of the batch drew its numbers before")
            else:
                values = self._take(rows, n, draw, weights)[0]
                kept = values if draw[0] == CLOCK else np.maximum(values, 0.0)
                self._known.update(zip(keys, kept, strict=True))
            self._source = source
            return values, at
        start = self._used[at]
        if (start + n <= self.places).all():
            place = start[:, None] + np.arange(n)
            self._used[at] += n
            self._enter(np.repeat(at, n), place.ravel(), draw, weights)
            return self.values[at[:, None], place], at
        place = start[:, None] + np.arange(n)
        there = place < self.places
        v = np.full(place.shape, -1.0 if draw[0] == CLOCK else 0.0)
        row = np.broadcast_to(at[:, None], place.shape)[there]
        v[there] = self.values[row, place[there]]
        self._used[at] = np.minimum(start + n, self.places)
        self._short[at] |= start + n > self.places
        self._enter(row, place[there], draw, None if weights is None else weights[there[:, 0]])
        self._beyond += 1
        if (self._short | self._massless).all() or self._beyond > MOST_BEYOND:
            raise self._end()
        return v, at

    def _enter(self, rows: Ints, places: Ints, draw: tuple[int, int, int, int], weights: Floats | None) -> None:
        self._entries.append((rows, places, draw, weights))

    def _end(self) -> TapeShort | NoMass:
        if self._short.any():
            return TapeShort(f"the tape has {self.places} places, {int(self._short.sum())} rows draw more")
        return NoMass("; ".join(f"row {row}: {text}" for row, text in sorted(self._faults.items())[:4]))

    def _forced(self, v: Floats, n: int, wanted: npt.NDArray[np.bool_], what: str) -> Ints:
        """Returns the outcomes that negative numbers force. Raises: ValueError for an outcome that does not exist."""
        cell = -v - 1
        wrong = wanted & (v < 0) & ~((cell >= 0) & (cell < n) & (cell == np.floor(cell)))
        if wrong.any():
            raise ValueError(f"a tape: got forced {what} {cell[wrong][0]:g}, expected 0 .. {n - 1}")
        return np.where(v < 0, np.clip(cell, 0, max(n - 1, 0)), 0).astype(np.int64)
