"""Traces of running engines: the layout of the file, and its reader.

docs/captures.md describes every array.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..program import short
from .distributions import distribution_of_stored
from .errors import CaptureError, path_of, whole
from .layout import ArraySpec, read

SCHEMA = "draftproof.trace/1"

INDEX = "index"
"""Name of a file of an unfinished trace. It has INDEX_COLUMNS integers for each block: the numbers of records, drafts
and q rows of all blocks up to and including this block, the block's number of accepted drafts, and its request."""
INDEX_COLUMNS = 5

_RECORDS, _DRAFTS, _Q_ROWS = range(3)


def arrays_of(columns: int, top: bool, dtype: str) -> dict[str, tuple[int, ArraySpec]]:
    """Returns the arrays with one entry per record, draft or q row, and for each array the column of INDEX that counts
    its entries."""
    per = [
        (_RECORDS, ArraySpec("emitted", "int32", (0,))),
        (_RECORDS, ArraySpec("emitted_q", "int64", (0,))),
        (_DRAFTS, ArraySpec("drafts", "int32", (0,))),
        (_DRAFTS, ArraySpec("draft_parent", "int32", (0,))),
        (_DRAFTS, ArraySpec("draft_q", "int64", (0,))),
    ]
    for counter, name in ((_RECORDS, "p"), (_Q_ROWS, "q")):
        if top:
            per.append((counter, ArraySpec(f"{name}_top_ids", "int32", (0, columns))))
            per.append((counter, ArraySpec(f"{name}_top", "float32", (0, columns))))
            per.append((counter, ArraySpec(f"{name}_rest", "float32", (0,))))
        else:
            per.append((counter, ArraySpec(f"{name}_rows", dtype, (0, columns))))
    return {array.name: (counter, array) for counter, array in per}


@dataclass(frozen=True)
class Trace:
    """A trace in memory-mapped arrays: R records, B blocks, D drafts, Q rows of the proposal.

    arrays: the arrays of docs/captures.md by name.
    metadata: the strings of the file by name.
    """

    arrays: dict[str, NDArray[Any]]
    metadata: dict[str, str]

    @property
    def truncated(self) -> bool:
        """Whether a row has the probabilities of a few tokens and the sum of all others."""
        return "p_top" in self.arrays

    @property
    def blocks(self) -> int:
        """Number B of blocks."""
        return len(self.arrays["accepted"])

    @property
    def records(self) -> int:
        """Number R of emitted tokens."""
        return len(self.arrays["emitted"])

    def p(self, record: int) -> NDArray[np.float64]:
        """Returns the target's distribution at a record: [V], or in truncated traces [n + 1] with the sum of all other
        tokens at the end. Raises: CaptureError for another record."""
        return self._distribution("p", _index("record", record, self.records))

    def q(self, row: int) -> NDArray[np.float64]:
        """Returns a row of the proposal: [V], or [n + 1] as in `p`. Raises: CaptureError for another row."""
        rows = len(self.arrays["q_top" if self.truncated else "q_rows"])
        return self._distribution("q", _index("row", row, rows))

    def symbol(self, record: int) -> int:
        """Returns the index of the emitted token in `p(record)`: n for a token without an entry in a truncated row.
        Raises: CaptureError for another record."""
        record = _index("record", record, self.records)
        token = int(self.arrays["emitted"][record])
        if not self.truncated:
            return token
        ids = self.arrays["p_top_ids"][record]
        return int(np.flatnonzero(ids == token)[0]) if token in ids else len(ids)

    def block_of(self, block: int) -> range:
        """Returns the indices of a block's records. Raises: CaptureError for another block."""
        block = _index("block", block, self.blocks)
        start = self.arrays["block_start"]
        return range(int(start[block]), int(start[block + 1]))

    def _distribution(self, name: str, row: int) -> NDArray[np.float64]:
        if not self.truncated:
            return distribution_of_stored(self.arrays[f"{name}_rows"][row])
        distribution = np.append(self.arrays[f"{name}_top"][row], self.arrays[f"{name}_rest"][row]).astype(np.float64)
        distribution /= distribution.sum()
        return distribution


def _index(name: str, given: Any, count: int) -> int:
    found = whole(name, given, 0)
    if found >= count:
        raise CaptureError(name, short(given), f"less than {count}, their number in the trace")
    return found


def read_trace(path: str | os.PathLike[str]) -> Trace:
    """Reads a trace that a `Recorder` wrote.

    path: the `.safetensors` file.

    Raises: CaptureError if the file cannot be read or is not a trace, or its arrays contradict each other.
    Cost: the counts of the blocks are read; rows are mapped into memory and read when they are used.
    Source: the file is described in docs/captures.md.
    """
    file = path_of("trace", path)
    try:
        arrays, metadata = read(file)
    except OSError as error:
        raise CaptureError(str(file), str(error), "a trace") from error
    if metadata.get("schema") != SCHEMA:
        raise CaptureError(str(file), f"schema {metadata.get('schema')!r}", repr(SCHEMA))
    try:
        trace = Trace(arrays, metadata)
        rows = {name: len(arrays[f"{name}_top" if trace.truncated else f"{name}_rows"]) for name in "pq"}
        ends = {"block_start": trace.records, "draft_start": len(arrays["drafts"]), "q_start": rows["q"]}
        good = min(arrays[name].ndim for name in ("accepted", "request", "emitted", "drafts")) == 1
        good = good and rows["p"] == trace.records and len(arrays["request"]) == trace.blocks
        for name, count in ends.items():
            start = arrays[name]
            good = good and start.ndim == 1 and len(start) == trace.blocks + 1 and start[0] == 0 and start[-1] == count
            good = good and bool((np.diff(start) >= 0).all())
    except KeyError as error:
        raise CaptureError(str(file), f"no array {error}", "one") from error
    except TypeError:  # an array without a dimension has no length
        good = False
    if not good:
        raise CaptureError(str(file), "arrays that contradict each other", "one entry per record, draft and block")
    return trace
