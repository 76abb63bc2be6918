"""Tokenizers, which turn texts into ids."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .errors import CaptureError


class Tokenizer(Protocol):
    """Turns texts into ids."""

    name: str

    def encode(self, text: str) -> NDArray[np.int64]:
        """Returns the ids [n] of a text, with the model's leading tokens (such as BOS)."""

    def tokens(self) -> dict[str, int] | None:
        """Returns the id of each token, or None if the ids are unknown."""


class Bytes:
    """Turns a text into its bytes in UTF-8: ids 0..255."""

    name = "bytes"

    def encode(self, text: str) -> NDArray[np.int64]:
        return np.frombuffer(text.encode(), dtype=np.uint8).astype(np.int64)

    def tokens(self) -> dict[str, int] | None:
        return None


class Loaded:
    """A tokenizer of transformers, or any callable whose result has `input_ids`."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self.name = str(getattr(tokenizer, "name_or_path", "") or type(tokenizer).__name__)

    def encode(self, text: str) -> NDArray[np.int64]:
        result = self._tokenizer(text)
        ids = result["input_ids"] if not isinstance(result, (list, np.ndarray)) else result
        return np.asarray(ids, dtype=np.int64)

    def tokens(self) -> dict[str, int] | None:
        return dict(self._tokenizer.get_vocab()) if hasattr(self._tokenizer, "get_vocab") else None


def open_tokenizer(given: Any) -> Tokenizer | None:
    """Returns the tokenizer for None (no tokenizer), `bytes`, a name or folder, a loaded tokenizer, or a callable
    text -> ids.

    Raises: CaptureError for any other argument, or a tokenizer that cannot be loaded.
    """
    if given is None:
        return None
    if given == "bytes":
        return Bytes()
    if isinstance(given, str) or hasattr(given, "__fspath__"):
        from .hub import load_tokenizer

        return load_tokenizer(given)
    if callable(given):
        return Loaded(given)
    raise CaptureError("tokenizer", repr(given), "bytes, a name, a folder, a tokenizer, or a callable")


def check_agreement(target: Tokenizer | None, draft: Tokenizer | None) -> bool:
    """Returns whether both vocabularies are known, and checks that every id that both have is the same token.

    Raises: CaptureError with an id that is different tokens in the two: speculative decoding needs one vocabulary.
    """
    ours = target.tokens() if target is not None else None
    theirs = draft.tokens() if draft is not None else None
    if ours is None or theirs is None:
        return False
    by_id = {index: token for token, index in ours.items()}
    for token, index in theirs.items():
        if by_id.get(index, token) != token:
            found = f"id {index} is {token!r} for the draft and {by_id[index]!r} for the target"
            raise CaptureError("tokenizers", found, "the same token for every id")
    return True
