"""Replaces the target's rows of a recording by rows that are computed again from the emitted text.

An engine whose state is wrong (tokens that are not rolled back, fed twice or lost, an offset after a wrap-around)
verifies against wrong rows. Its tokens are distributed as the rows that it used, so an audit with these rows passes.
An audit with the rows of a clean pass over the same text fails.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ..files import writable, written
from ..program import short
from .distributions import Distribution, filtered, log_distribution, padded, stored
from .errors import CaptureError, path_of
from .layout import ArraySpec, head
from .models import open_model
from .options import Filter, Options, Penalties
from .recorder import ids
from .trace import Trace, read_trace

_ROWS_BYTES = 1 << 28
"""Most bytes of rows in double precision that one call of the target returns."""

_UNCHANGED = Filter()
_NO_PENALTIES = Penalties()


def score_again(
    recording: str | os.PathLike[str],
    output: str | os.PathLike[str],
    target: Any,
    prompts: Mapping[int, Sequence[int]] | Sequence[int],
    *,
    settings: Filter | Mapping[int, Filter] = _UNCHANGED,
    penalties: Penalties | Mapping[int, Penalties] = _NO_PENALTIES,
    values: str | None = None,
) -> int:
    """Writes `recording` with the target's rows after each prefix of the emitted text, for `draftproof audit`.

    recording: a trace of a `Recorder` that recorded every block from the first emitted token on.
    output: the trace to write.
    target: as `capture` takes it: a name or folder of a transformers model, a loaded one, or a function of ids [n] that
        returns rows [n, V], or [V] after all of them. It must not be the engine's own object with its cache.
    prompts: for each request the tokens before its first emitted one; one sequence for all requests.
    settings: temperature, top-k and top-p of the engine, for all requests or for each.
    penalties: penalties of the engine, for all requests or for each. They are applied before `settings`; of a function
        that returns probabilities, to their logarithms. A repetition penalty depends on the sign of the engine's own
        logits, so it takes a target that returns these, and neither probabilities nor their logarithms.
    values: the kind of rows that a function returns, `logit` or `probability`. None takes logits, and rows that look
        like probabilities raise CaptureError.

    Returns: the number of records.

    Raises: CaptureError for a recording with blocks left out, a request without a prompt, settings or penalties, a text
        that is longer than the target's context, rows of more tokens than the recording's vocabulary, or a repetition
        penalty on probabilities. FileExistsError if the output is the recording, or no regular file.

    Cost: one pass of the target over each text, in pieces of 256 MiB of rows.
    Source: derived here, docs/captures.md.
    """
    trace = read_trace(recording)
    if trace.metadata.get("every") != "1":
        found = f"one block in {trace.metadata.get('every')}"
        raise CaptureError(str(recording), found, "every block: the text is made of all emitted tokens")
    model = open_model(target, Options(values=values))
    path = path_of("output", output)
    vocabulary = _vocabulary_of(trace, str(recording))
    metadata = trace.metadata | {"target_rows": "scored again", "target": model.name}
    specs = [ArraySpec(name, array.dtype.name, array.shape) for name, array in trace.arrays.items()]
    before, placed = head(specs, metadata)
    begin = {array.name: array for array in placed}
    replaced = ("p_top", "p_rest") if trace.truncated else ("p_rows",)
    with written(writable(path, [recording])) as file:
        file.write(before)
        for array in placed:
            if array.name not in replaced:
                file.seek(array.begin)
                file.write(np.ascontiguousarray(trace.arrays[array.name]).tobytes())
        for request in np.unique(trace.arrays["request"]).tolist():
            given = prompts.get(request) if isinstance(prompts, Mapping) else prompts
            by = settings.get(request) if isinstance(settings, Mapping) else settings
            less = penalties.get(request) if isinstance(penalties, Mapping) else penalties
            for name, value in (("prompts", given), ("settings", by), ("penalties", less)):
                if value is None:
                    raise CaptureError(name, f"none for request {request}", "one for each request of the recording")
            assert given is not None and by is not None and less is not None
            if not isinstance(by, Filter):
                raise CaptureError(f"settings, request {request}", short(by), "Filter(temperature, top_k, top_p)")
            if not isinstance(less, Penalties):
                wanted = "Penalties(repetition, presence, frequency)"
                raise CaptureError(f"penalties, request {request}", short(less), wanted)
            if less.repetition != 1 and model.values == "probability":
                got = f"repetition {less.repetition:g} and a target that returns probabilities"
                raise CaptureError(f"penalties, request {request}", got, "a target that returns the engine's logits")
            prompt = ids(given, f"prompts, request {request}")
            if prompt.ndim != 1:
                raise CaptureError(f"prompts, request {request}", f"shape {list(prompt.shape)}", "a list of tokens")
            records = _records_of(trace, request)
            text = np.concatenate([prompt, trace.arrays["emitted"][records].astype(np.int64)])
            if not len(prompt):
                raise CaptureError(f"prompts, request {request}", "no token", "at least one")
            if model.longest is not None and len(text) - 1 > model.longest:
                found = f"a text of {len(text):,} tokens"
                raise CaptureError(f"request {request}", found, f"at most {model.longest + 1:,} for {model.name}")
            step = max(1, _ROWS_BYTES // (8 * vocabulary))
            for first in range(0, len(records), step):
                part = records[first : first + step]
                at = [len(prompt) - 1 + first + i for i in range(len(part))]
                rows = model.rows(text[None, : at[-1] + 1], at)[0]
                place = f"{model.name}, request {request}, after {at[0] + 1} tokens and more"
                if less != _NO_PENALTIES:
                    rows = [_penalised(row, model.values, less, text[: n + 1], len(prompt), place)
                            for row, n in zip(rows, at, strict=True)]  # fmt: skip
                kind = model.values if less == _NO_PENALTIES else "logit"
                distributions = [_distribution(row, kind, by, vocabulary, place) for row in rows]
                _write(file, begin, trace, part, distributions)
    return trace.records


def _vocabulary_of(trace: Trace, place: str) -> int:
    """Returns the vocabulary that the metadata state. Raises: CaptureError if no row can have as many tokens."""
    stated = trace.metadata.get("vocabulary")
    row = trace.arrays["p_top" if trace.truncated else "p_rows"].shape[-1]
    number = int(stated) if isinstance(stated, str) and stated.isdecimal() and len(stated) <= 9 else 0
    if number < row or (number > row and not trace.truncated):
        wanted = f"at least {row}" if trace.truncated else str(row)
        raise CaptureError(f"{place}: vocabulary", short(stated), f"{wanted}, by the rows of the recording")
    return number


def _records_of(trace: Trace, request: int) -> NDArray[np.int64]:
    """Returns the indices of a request's records, in the order of its text."""
    blocks = np.flatnonzero(trace.arrays["request"] == request)
    return np.concatenate([np.arange(*trace.arrays["block_start"][b : b + 2]) for b in blocks.tolist()])


def _penalised(
    row: NDArray[Any], values: str | None, by: Penalties, text: NDArray[np.int64], prompt: int, place: str
) -> NDArray[np.float64]:
    """Returns the logits [V] of `row` after penalties. The first `prompt` tokens of `text` are the prompt."""
    checked = log_distribution(row, values, place)  # checks the row
    logits = checked if values == "probability" else np.asarray(row, np.float64).copy()
    counts = np.bincount(text[prompt:], minlength=len(logits))
    seen = np.bincount(text, minlength=len(logits)) > 0
    if len(counts) > len(logits) or len(seen) > len(logits):
        wanted = f"tokens below {len(logits)}, the length of the target's rows"
        raise CaptureError(place, f"token {text.max()}", wanted)
    changed = np.where(logits > 0, logits / by.repetition, logits * by.repetition)
    logits[seen] = changed[seen]
    penalised: NDArray[np.float64] = logits - by.presence * (counts > 0) - by.frequency * counts
    return penalised


def _distribution(row: NDArray[Any], values: str | None, by: Filter, vocabulary: int, place: str) -> Distribution:
    if len(row) > vocabulary:
        raise CaptureError(place, f"rows of {len(row)} tokens", f"the {vocabulary} of the recording")
    distribution = padded(log_distribution(row, values, place), vocabulary)
    if by == _UNCHANGED:
        return distribution
    with np.errstate(divide="ignore"):
        return np.log(filtered(distribution, by))


def _write(
    file: IO[bytes],
    begin: Mapping[str, ArraySpec],
    trace: Trace,
    records: NDArray[np.int64],
    distributions: list[Distribution],
) -> None:
    """Writes the rows of `records`. Truncated rows keep the tokens of the recording, which were chosen before the
    emitted token was drawn."""
    entries: dict[str, NDArray[Any]] = {}
    if trace.truncated:
        ids = trace.arrays["p_top_ids"][records]
        masses = [np.exp(distribution) for distribution in distributions]
        entries["p_top"] = np.stack([mass[kept] for mass, kept in zip(masses, ids, strict=True)])
        entries["p_rest"] = np.array([np.delete(mass, kept).sum() for mass, kept in zip(masses, ids, strict=True)])
    else:
        entries["p_rows"] = stored(distributions, begin["p_rows"].dtype)
    for name, values in entries.items():
        array = begin[name]
        for record, value in zip(records.tolist(), values.astype(array.numpy), strict=True):
            file.seek(array.begin + record * array.row_bytes)
            file.write(value.tobytes())
