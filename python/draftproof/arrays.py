"""Rows of a request as the arrays that a function takes, and what it gives back as tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from draftproof.intercept import objects_of

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Rows:
    """The arrays of a `verify` request: p [b, P, V], q [b, Q, V], drafts [b, n], lengths [b], parents [b, n]."""

    p: NDArray[Any]
    q: NDArray[Any]
    drafts: NDArray[np.int32]
    lengths: NDArray[np.int32]
    parents: NDArray[np.int32] | None

    def parts(self) -> Iterator[Ints]:
        """The rows as consecutive batches. No batch has as many rows as another dimension has entries: the leading
        dimension of a random array then says whether it counts rows."""
        n, vocabulary = self.drafts.shape[1], self.p.shape[2]
        taken = {k * v for k in (1, n, n + 1) for v in (1, n, n + 1, vocabulary)} - {1}
        at, count = 0, len(self.p)
        while at < count:
            size = count - at
            while size in taken:
                size -= 1
            yield np.arange(at, at + size)
            at += size


class Converter:
    """Makes what a function takes out of numpy arrays. A function gets a copy of its own, which it may change."""

    def __init__(self, kind: str, dtype: str, device: str) -> None:
        self.kind = kind
        self._whole: Callable[[NDArray[Any]], Any]
        self._copy: Callable[[Any], Any]
        if kind == "torch":
            import torch

            wide = getattr(torch, dtype)
            self._whole = lambda a: torch.tensor(a, dtype=torch.int64 if a.dtype.kind in "iu" else wide, device=device)
            self._copy = lambda a: a.clone()
        elif kind == "numpy":
            self._whole = lambda a: a.astype(np.int64) if a.dtype.kind in "iu" else np.array(a)
            self._copy = lambda a: a.copy()
        elif kind == "list":
            self._whole = lambda a: a
            self._copy = lambda a: a.tolist()
        else:
            raise ValueError(f"arrays: found {kind!r}, wanted 'torch', 'numpy' or 'list'")

    def whole(self, array: NDArray[Any]) -> Any:
        """All rows at once, for `copy` to take parts of. Integers become 64 bits wide."""
        return self._whole(array)

    def copy(self, part: Any) -> Any:
        """A part of what `whole` gave, as a function takes it."""
        return self._copy(part)

    def __call__(self, array: NDArray[Any]) -> Any:
        return self._copy(self._whole(array))


def kind_of(fn: Callable[..., Any]) -> str:
    """`torch` if code that `fn` reaches names torch or something of it, else `numpy`."""
    for _, thing in objects_of(fn):
        owner = thing.__name__ if isinstance(thing, ModuleType) else getattr(thing, "__module__", None)
        if str(owner).split(".")[0] == "torch":
            return "torch"
    return "numpy"


def _host(value: Any) -> Any:
    """A numpy array of a tensor on any device, or of an array of another library in the host's memory; other values as
    they are."""
    if hasattr(value, "detach"):
        return value.detach().cpu().numpy()
    if hasattr(value, "__dlpack__") and not isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value) if hasattr(value, "__array__") else np.from_dlpack(value)
    return value


def tokens_of(output: Any) -> list[int]:
    """The tokens that a call for one row gave: a number, a sequence, an array; -1 after their end is dropped.

    Raises: TypeError for anything else.
    """
    values = _host(output)
    if isinstance(values, (list, tuple)):
        values = [_host(value) for value in values]
    try:
        array = np.asarray(values)
        if array.size and array.dtype.kind not in "iu":
            raise TypeError(f"dtype {array.dtype}")
        tokens: list[int] = array.reshape(-1).tolist()
    except (ValueError, TypeError) as error:
        raise TypeError(
            f"found {type(output).__name__} ({error}), wanted tokens: integers in a list or array"
        ) from None
    while tokens and tokens[-1] == -1:
        tokens.pop()
    return tokens


def tokens_of_batch(output: Any, rows: int, level: str) -> list[list[int]]:
    """The same for `rows` rows: an array [rows, n + 1], (array, counts) or a list of lists; at level position [rows].

    Raises: TypeError if there are not as many rows.
    """
    counts: list[int] | None = None
    if isinstance(output, tuple) and len(output) >= 2 and np.ndim(_host(output[0])) >= 1:
        output, second = output[0], _host(output[1])
        if level != "position" and np.shape(second) == (rows,):
            counts = [int(count) for count in second]
    values = _host(output)
    if (np.ndim(values) == 0 and rows != 1) or not hasattr(values, "__len__") or len(values) != rows:
        raise TypeError(f"found {type(output).__name__} of shape {np.shape(values)}, wanted {rows} rows of tokens")
    result = [tokens_of(values[i]) for i in range(rows)]
    if counts is not None:
        result = [tokens[:count] for tokens, count in zip(result, counts, strict=True)]
    return result
