"""Records what a running engine does: the rows, drafts and tokens of every call of its verifier.

    with Recorder("run.safetensors", vocabulary=32000, engine="mine 1.2") as record:
        ...
        record.block(p, q, drafts, emitted)      # in the loop, after the verifier

The records grow in the folder `run.safetensors.part` and become one file when the recorder is closed.
docs/captures.md describes the file.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import threading
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from .._renamed import warn
from ..files import replaceable, written
from ..program import short
from .block import Block, made_block
from .errors import CaptureError, path_of, whole
from .layout import MOST_BYTES, ArraySpec, head
from .models import to_numpy
from .options import VALUES
from .trace import INDEX, INDEX_COLUMNS, SCHEMA, arrays_of

_BUFFER = 1 << 20
"""Number of bytes of records after which all files are flushed. Newer records may be lost if the process is killed."""


class Recorder:
    """Writes a trace. Safe to call from several threads; blocks of different requests may come in any order.

    output: the `.safetensors` file; None records nothing, so that an engine may keep the calls in its loop.
    vocabulary: V.
    top: None stores whole rows; n stores the probabilities of n likely tokens of each row and the sum of all others.
    dtype: type of the stored rows: `float32`, or `float16` for whole rows.
    values: the kind of the rows given to `block`, `probability` or `logit`.
    draft_sampling: how the drafts of a node were drawn from its q row: `iid`, `without_replacement`, `greedy` or
        another name; `unknown` if the engine does not document it.
    engine: the engine's name and version.
    every: 1 records every block, n every n-th block.
    most_bytes: the size of the trace in bytes at which recording stops, with a warning.
    metadata: more strings for the file.
    draft_law: the old name of `draft_sampling`.

    Raises: CaptureError for a bad argument, or if the output or the folder of an unfinished trace exists.
    Source: the file is described in docs/captures.md.
    """

    def __init__(
        self,
        output: str | os.PathLike[str] | None,
        vocabulary: int,
        *,
        top: int | None = None,
        dtype: str = "float32",
        values: str = "probability",
        draft_sampling: str = "unknown",
        engine: str = "",
        every: int = 1,
        most_bytes: int = MOST_BYTES,
        metadata: Mapping[str, str] | None = None,
        draft_law: str | None = None,
    ) -> None:
        if draft_law is not None:
            warn("Recorder(draft_law=..)", "Recorder(draft_sampling=..)")
            draft_sampling = draft_law
        vocabulary, top, every = _check(vocabulary, top, dtype, values, every)
        most_bytes = whole("most_bytes", most_bytes, 0)
        for name, words in (("draft_sampling", draft_sampling), ("engine", engine)):
            if not isinstance(words, str):
                raise CaptureError(name, short(words), "a text")
        if not isinstance(metadata or {}, Mapping) or not all(
            isinstance(word, str) for pair in (metadata or {}).items() for word in pair
        ):
            raise CaptureError("metadata", short(metadata), "texts by name")
        self.on = output is not None
        self.blocks = 0
        """Blocks recorded."""
        self.records = 0
        """Emitted tokens recorded."""
        self._seen = 0
        self._vocabulary, self._top, self._dtype, self._values = vocabulary, top, dtype, values
        self._every, self._most_bytes = every, min(most_bytes, MOST_BYTES)
        self._lock = threading.Lock()
        self._counts = {"records": 0, "drafts": 0, "q_rows": 0}
        self._written = self._pending = 0
        if output is None:
            return
        self._output = path_of("output", output)
        self._folder = folder_of(self._output)
        about = {
            **(metadata or {}),
            "schema": SCHEMA,
            "values": "probability" if top is not None else "logit" if dtype == "float16" else "log_probability",
            "vocabulary": str(vocabulary),
            "draft_sampling": draft_sampling,
            "engine": engine,
            "every": str(every),
        }
        _make_folder(self._output, self._folder)
        columns = vocabulary if top is None else min(top, vocabulary)
        form = {"columns": columns, "top": top is not None, "dtype": dtype, "metadata": about}
        (self._folder / "about.json").write_text(json.dumps(form), encoding="ascii")
        self._specs = arrays_of(columns, top is not None, dtype)
        self._columns = columns
        self._files: dict[str, IO[bytes]] = {
            name: (self._folder / name).open("wb", buffering=2 * _BUFFER) for name in [*self._specs, INDEX]
        }
        atexit.register(self.close)

    def block(
        self,
        p: Any,
        q: Any,
        drafts: Any,
        emitted: Any,
        *,
        accepted: int | None = None,
        parents: Any = None,
        draft_rows: Any = None,
        request: int = 0,
    ) -> None:
        """Records one call of the verifier for one request.

        p: [>= E, V], the target's rows at the E emitted tokens, in order, as the verifier used them: after temperature
            and filters. Rows after the E-th are ignored.
        q: [Q, V], the proposal's rows that the drafts were drawn from.
        drafts: [D] tokens.
        emitted: [E] tokens, E >= 1.
        accepted: how many of the emitted tokens are accepted drafts; E - 1 if None.
        parents: [D], for each draft the index of the draft before it in this block, -1 at the root; None for a chain.
            K drafts of one position have -1 each.
        draft_rows: [D], for each draft its row of `q`; 0, 1, .. if None.
        request: a number that all blocks of one text share.

        Raises: CaptureError, which names the block and the argument, if shapes or ids do not fit.

        Cost: one pass over the rows in double precision, and a write of the stored rows to the disk.
        """
        if not self.on:
            return
        place = f"block {self.blocks}"
        given = (
            _rows(f"{place}: p", p),
            _rows(f"{place}: q", q),
            ids(drafts, f"{place}: drafts"),
            ids(emitted, f"{place}: emitted"),
        )
        tree = None if parents is None else ids(parents, f"{place}: parents")
        rows = None if draft_rows is None else ids(draft_rows, f"{place}: draft_rows")
        taken = None if accepted is None else whole(f"{place}: accepted", accepted, 0)
        number = whole(f"{place}: request", request, -(2**63))
        if number >= 2**63:  # refused before anything is written, because a half-written block shifts all later ones
            raise CaptureError(f"{place}: request", short(request), "a number below 2^63")
        with self._lock:
            self._seen += 1
            if (self._seen - 1) % self._every or not self.on:
                return
            block = made_block(*given, taken, tree, rows, self._vocabulary, self._values, f"block {self.blocks}")
            self._append(block, number)

    def batch(
        self,
        p: Any,
        q: Any,
        drafts: Any,
        emitted: Any,
        *,
        accepted: Any = None,
        lengths: Any = None,
        requests: Any = None,
    ) -> None:
        """Records one call of the verifier for B requests with chains of drafts.

        p: [B, L + 1, V]. q: [B, L, V]. drafts: [B, L]. emitted: [B, L + 1], filled up with -1.
        accepted: [B], how many of the emitted tokens are accepted drafts; E - 1 of E tokens if None. It must be given
            if a step may end at an accepted draft, for example an end token.
        lengths: [B], number of drafts of each request; L if None.
        requests: [B], numbers of the texts; 0, 1, .. if None.

        Raises: CaptureError, as `block`.

        Cost: as `block`, for each request.
        """
        if not self.on:
            return
        tokens, proposed, all_p, all_q = ids(emitted, "emitted"), ids(drafts, "drafts"), _rows("p", p), _rows("q", q)
        size = len(tokens) if tokens.ndim else 0
        for name, array, form in (
            ("emitted", tokens, "[B, L + 1]"),
            ("drafts", proposed, "[B, L]"),
            ("p", all_p, "[B, L + 1, V]"),
            ("q", all_q, "[B, L, V]"),
        ):
            if array.ndim != form.count(",") + 1 or len(array) != size:
                raise CaptureError(name, f"shape {list(array.shape)}", f"{form} with B = {size}")
        counts = np.full(size, proposed.shape[1]) if lengths is None else ids(lengths, "lengths")
        texts = np.arange(size) if requests is None else ids(requests, "requests")
        kept = None if accepted is None else ids(accepted, "accepted")
        of_requests: list[tuple[str, Any]] = [("lengths", counts), ("requests", texts), ("accepted", kept)]
        for name, array in of_requests:
            if array is not None and array.shape != (size,):
                raise CaptureError(name, f"shape {list(array.shape)}", f"[{size}], one for each request")
        for b, (n, number) in enumerate(zip(counts.tolist(), texts.tolist(), strict=True)):
            if not 0 <= n <= proposed.shape[1]:
                raise CaptureError(f"lengths, request {b}", str(n), f"0 to {proposed.shape[1]}")
            out = tokens[b][tokens[b] >= 0]
            known = None if kept is None else int(kept[b])
            self.block(all_p[b], all_q[b][:n], proposed[b][:n], out, accepted=known, request=number)

    def close(self) -> None:
        """Writes the file. Later calls of `block` and `batch` record nothing."""
        with self._lock:
            if not self.on:
                return
            self._finish()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _append(self, block: Block, request: int) -> None:
        data = block.stored(self._columns, self._top is not None, self._dtype, self._counts["q_rows"])
        grown = sum(array.nbytes for array in data.values()) + INDEX_COLUMNS * 8
        if self._written + grown > self._most_bytes:
            self._finish()
            message = f"{self._output}: recording stopped after {self.records} records, at {self._most_bytes} bytes"
            warnings.warn(message, stacklevel=4)
            return
        for name, array in data.items():
            self._files[name].write(array.tobytes())
        for name, count in (("records", len(block.emitted)), ("drafts", len(block.drafts)), ("q_rows", len(block.q))):
            self._counts[name] += count
        index = [*self._counts.values(), block.accepted, request]
        self._files[INDEX].write(np.array(index, dtype="<i8").tobytes())
        self.blocks += 1
        self.records = self._counts["records"]
        self._written += grown
        self._pending += grown
        if self._pending >= _BUFFER:
            self._pending = 0
            # The index is flushed last, so that it never has a block whose rows are not yet written.
            for file in self._files.values():
                file.flush()

    def _finish(self) -> None:
        self.on = False
        for file in self._files.values():
            file.close()
        atexit.unregister(self.close)
        assemble(self._folder, self._output)


def ids(values: Any, place: str = "tokens") -> NDArray[np.int64]:
    """Returns tokens or indices of any array library as int64.

    Raises: CaptureError, which names the `place`, for elements of a type other than integers.
    """
    try:
        array = np.asarray(values.detach().cpu().numpy() if hasattr(values, "detach") else values)
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise CaptureError(place, f"{type(values).__name__} ({error})", "an array of integers") from error
    if array.dtype.kind not in "iu" and (array.size or array.dtype.kind != "f"):
        raise CaptureError(place, f"elements of type {array.dtype}", "integers")
    return array.astype(np.int64)


def _rows(place: str, values: Any) -> NDArray[Any]:
    """Returns rows of any array library. Raises: CaptureError, which names `place`, if `values` are not numbers."""
    try:
        rows = to_numpy(values)
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise CaptureError(place, f"{type(values).__name__} ({error})", "rows of numbers") from error
    if rows.dtype.kind not in "fiu":
        raise CaptureError(place, f"elements of type {rows.dtype}", "floating numbers or integers")
    return rows


def _make_folder(output: Path, folder: Path) -> None:
    if output.suffix != ".safetensors":
        raise CaptureError("output", repr(str(output)), "a name that ends in .safetensors")
    if output.exists():
        raise CaptureError("output", f"{str(output)!r} exists", "a new name")
    replaceable(output)  # output.exists() is False for a dangling link
    try:
        folder.mkdir()
    except FileExistsError:
        raise CaptureError(str(folder), "an unfinished trace", "a new name, or `recover` first") from None
    except FileNotFoundError:
        raise CaptureError("output", f"no folder {str(output.parent)!r}", "a folder that exists") from None


def _check(vocabulary: Any, top: Any, dtype: Any, values: Any, every: Any) -> tuple[int, int | None, int]:
    """Returns the vocabulary, the number of tokens of a row and the distance of recorded blocks as integers. Raises:
    CaptureError."""
    counts = (
        whole("vocabulary", vocabulary, 1),
        None if top is None else whole("top", top, 1),
        whole("every", every, 1),
    )
    if dtype not in ("float32",) if top is not None else dtype not in ("float16", "float32"):
        raise CaptureError("dtype", repr(dtype), "float32" if top is not None else "float16 or float32")
    if values not in VALUES:
        raise CaptureError("values", repr(values), "one of " + ", ".join(VALUES))
    return counts


def recover(output: str | os.PathLike[str]) -> int:
    """Writes the trace of a recorder that was never closed, from its folder `output.part`, up to its last whole block.

    output: the path that was given to the recorder.

    Returns: the number of blocks.

    Raises: CaptureError if there is no such folder, or its files are not those of a recorder.
    Cost: one copy of the recorded rows.
    Source: the file is described in docs/captures.md.
    """
    path = path_of("output", output)
    folder = folder_of(path)
    if not (folder / "about.json").is_file():
        raise CaptureError(str(folder), "no unfinished trace", "the folder of a recorder")
    return assemble(folder, path)


def folder_of(output: Path) -> Path:
    """Returns the folder with the unfinished trace of `output`."""
    return output.with_name(output.name + ".part")


def assemble(folder: Path, output: Path) -> int:
    """Writes the trace up to the last block that is complete in every array, and removes the folder.

    Returns: the number of blocks.
    """
    form = _form(folder / "about.json")
    specs = arrays_of(form["columns"], form["top"], form["dtype"])
    raw = (folder / INDEX).read_bytes()
    index = np.frombuffer(raw[: len(raw) // (INDEX_COLUMNS * 8) * INDEX_COLUMNS * 8], "<i8").reshape(-1, INDEX_COLUMNS)
    if (np.diff(index[:, :3], axis=0, prepend=0) < 0).any():
        raise CaptureError(str(folder / INDEX), "counts that fall", "the counts of a recorder, which never fall")
    complete = len(index)
    for name, (counter, array) in specs.items():
        have = (folder / name).stat().st_size // array.row_bytes
        complete = min(complete, int(np.searchsorted(index[:, counter], have, side="right")))
    index = index[:complete]
    ends = index[-1, :3] if complete else np.zeros(3, dtype=np.int64)
    arrays = [
        ArraySpec(array.name, array.dtype, (int(ends[counter]), *array.shape[1:])) for counter, array in specs.values()
    ]
    small = {
        name: np.concatenate([[0], index[:, column]]).astype("<i8")
        for column, name in enumerate(("block_start", "draft_start", "q_start"))
    }
    small |= {"accepted": index[:, 3].astype("<i4"), "request": index[:, 4].astype("<i8")}
    arrays += [ArraySpec(name, array.dtype.name, array.shape) for name, array in small.items()]
    counts = {"blocks": str(complete), "records": str(ends[0]), "drafts": str(ends[1])}
    before, placed = head(arrays, form["metadata"] | counts)
    with written(output) as file:
        file.write(before)
        for array in placed:
            if array.name in small:
                file.write(small[array.name].tobytes())
            else:
                with (folder / array.name).open("rb") as source:
                    _copy(source, file, array.bytes)
    shutil.rmtree(folder)
    return complete


def _form(file: Path) -> dict[str, Any]:
    """Returns the form of an unfinished trace. Raises: CaptureError if the file does not have it."""
    try:
        form = json.loads(file.read_text(encoding="ascii"))
    except (ValueError, RecursionError) as error:
        raise CaptureError(str(file), f"no JSON ({error})", "the file of a recorder") from error
    good = (
        isinstance(form, dict)
        and isinstance(form.get("columns"), int)
        and form["columns"] >= 1
        and isinstance(form.get("top"), bool)
        and form.get("dtype") in ("float16", "float32")
        and isinstance(form.get("metadata"), dict)
    )
    if not good:
        raise CaptureError(str(file), short(form), "the columns, top, dtype and metadata of a recorder")
    return dict(form)


def _copy(source: IO[bytes], target: IO[bytes], count: int) -> None:
    while count:
        data = source.read(min(count, 16 << 20))
        if not data:
            raise CaptureError(source.name, f"an end {count} bytes too early", "all that the index counts")
        target.write(data)
        count -= len(data)
