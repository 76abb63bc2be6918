"""Texts, their pieces, and the positions that are captured."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..program import short
from .errors import CaptureError, path_of
from .options import Options
from .tokens import Tokenizer

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Piece:
    """Consecutive tokens of a text, and the captured positions among them.

    text: number of the text.
    first: index of ids[0] in the text.
    ids: [n], without the tokens that a continuation will add.
    at: ascending indices j; the captured row follows ids[: j + 1], and ids[j + 1] is the next token of the text.
    """

    text: int
    first: int
    ids: Ids
    at: tuple[int, ...]


def read_texts(texts: Any) -> tuple[list[str | Ids], str]:
    """Returns the texts, each as a string or as ids, and the SHA-256 hash of all of them.

    texts: a list of strings, or of sequences of ids; or the path of a file. In a file `.jsonl` every line is a string,
        a list of ids, or an object with `text` or `ids`. In every other file texts are separated by blank lines.

    Raises: CaptureError with the number of the text or the line of the file, if it is not such a text.
    """
    if isinstance(texts, (str, os.PathLike)):
        path = path_of("texts", texts)
        read = _of_json_lines(path) if path.suffix == ".jsonl" else _of_plain(path)
    elif not isinstance(texts, Iterable):
        raise CaptureError("texts", short(texts), "a list of texts, or the path of a file")
    else:
        read = [_one(f"texts[{i}]", text) for i, text in enumerate(texts)]
    if not read:
        raise CaptureError("texts", "none", "at least one")
    digest = hashlib.sha256()
    for text in read:
        content = text.encode() if isinstance(text, str) else text.astype("<i8").tobytes()
        digest.update(f"{'text' if isinstance(text, str) else 'ids'} {len(content)} ".encode() + content)
    return read, digest.hexdigest()


def encoded(texts: Sequence[str | Ids], tokenizer: Tokenizer | None, vocabulary: int) -> list[Ids]:
    """Returns the ids of every text.

    Raises: CaptureError if there is no tokenizer for a string, or an id is not below `vocabulary`.
    """
    result = []
    for i, text in enumerate(texts):
        if isinstance(text, str):
            if tokenizer is None:
                wanted = "a tokenizer (--tokenizer), or texts as ids in .jsonl"
                raise CaptureError(f"texts[{i}]", "a string, and a target without tokenizer", wanted)
            text = tokenizer.encode(text)
        wrong = np.flatnonzero((text < 0) | (text >= vocabulary))
        if len(wrong):
            raise CaptureError(f"texts[{i}], token {wrong[0]}", f"id {text[wrong[0]]}", f"an id below {vocabulary}")
        result.append(text)
    return result


def chosen_pieces(texts: Sequence[Ids], options: Options) -> list[Piece]:
    """Returns the pieces that contain captured positions, in the order of the texts; `at` has only these positions.

    The captured positions are spread evenly over all positions of the texts.

    Raises: CaptureError if the texts have fewer positions than wanted.
    """
    pieces = list(_continuations(texts, options) if options.continue_tokens else _cut(texts, options))
    total = sum(len(piece.at) for piece in pieces)
    if total < options.positions:
        each = f"with at least {options.skip} tokens before and one after"
        wanted = f"{options.positions}: more texts, or fewer positions"
        raise CaptureError("texts", f"{total} positions {each} in {len(texts)} texts", wanted)
    indices = ((2 * np.arange(options.positions) + 1) * total) // (2 * options.positions)
    chosen, before = [], 0
    for piece in pieces:
        low, high = np.searchsorted(indices, [before, before + len(piece.at)])
        if high > low:
            at = tuple(piece.at[i - before] for i in indices[low:high])
            chosen.append(Piece(piece.text, piece.first, piece.ids, at))
        before += len(piece.at)
    return chosen


def _cut(texts: Sequence[Ids], options: Options) -> Iterable[Piece]:
    """Yields pieces of `context` tokens and the token after them."""
    for number, ids in enumerate(texts):
        for first in range(0, len(ids), options.context):
            part = ids[first : first + options.context + 1]
            yield Piece(number, first, part, tuple(range(options.skip - 1, len(part) - 1)))


def _continuations(texts: Sequence[Ids], options: Options) -> Iterable[Piece]:
    """Yields the last tokens of every text as a prompt, with the positions of the tokens to be drawn after it."""
    longest = options.context - options.continue_tokens
    for number, ids in enumerate(texts):
        first = max(0, len(ids) - longest)
        prompt = ids[first:]
        if len(prompt):
            least = max(options.skip, len(prompt)) - 1
            yield Piece(number, first, prompt, tuple(range(least, len(prompt) - 1 + options.continue_tokens)))


def _of_plain(path: Path) -> list[str | Ids]:
    lines, texts = [], list[str]()
    for line in [*_read(path).splitlines(), ""]:
        if line.strip():
            lines.append(line)
        elif lines:
            texts.append("\n".join(lines))
            lines = []
    return list(texts)


def _of_json_lines(path: Path) -> list[str | Ids]:
    found = []
    for number, line in enumerate(_read(path).split("\n"), start=1):
        if not line.strip():
            continue
        place = f"{path}, line {number}"
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise CaptureError(place, f"no JSON ({error})", "a string, a list of ids, or an object") from error
        if isinstance(value, dict):
            value = value.get("text", value.get("ids"))
        found.append(_one(place, value))
    return found


def _one(place: str, value: Any) -> str | Ids:
    if isinstance(value, str) and value:
        if any("\ud800" <= c <= "\udfff" for c in value):
            raise CaptureError(place, f"{short(value)}, with half a surrogate pair", "a text that UTF-8 can encode")
        return value
    if not isinstance(value, (str, dict)) and value is not None:
        try:
            ids = np.asarray(value)
        except (ValueError, TypeError, OverflowError, RuntimeError) as error:
            raise CaptureError(place, f"{short(value)} ({error})", "a text, or a list of ids") from error
        true = isinstance(value, (list, tuple)) and any(isinstance(one, (bool, np.bool_)) for one in value)
        if ids.ndim == 1 and len(ids) and ids.dtype.kind in "iu" and not true:
            return ids.astype(np.int64)
    raise CaptureError(place, short(value), "a text, or a list of ids")


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise CaptureError(str(path), str(error), "a file of texts in UTF-8") from error
