"""Converts the rows of a request to the arrays that a function takes, and its return value to tokens."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from draftproof.intercept import objects_of

Ints = NDArray[np.int64]


# Settings of a request for a text, in the order of the protocol. The default values have no effect.
TEXT_SETTINGS: dict[str, Any] = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0, "repetition_penalty": 1.0,
                                 "presence_penalty": 0.0, "frequency_penalty": 0.0, "logit_bias": {}, "min_tokens": 0,
                                 "stop": []}  # fmt: skip
SETTINGS = tuple(TEXT_SETTINGS)[:4]  # the settings that a `verify` request may have
UNCHANGED = tuple(float(TEXT_SETTINGS[name]) for name in SETTINGS)


@dataclass(frozen=True)
class Rows:
    """The arrays of a `verify` request: p [b, P, V], q [b, Q, V], drafts [b, n], lengths [b], parents [b, n]."""

    p: NDArray[Any]
    q: NDArray[Any]
    drafts: NDArray[np.int32]
    lengths: NDArray[np.int32]
    parents: NDArray[np.int32] | None
    legal: NDArray[np.int32] | None = None  # [b, P, V] under a grammar
    settings: NDArray[np.float64] | None = None  # [b, 4], columns in the order of SETTINGS

    def parts(self) -> Iterator[Ints]:
        """Yields the row numbers of consecutive batches. In a batch the numbers of rows, of drafts, and of drafts plus
        rows differ from each other and from products of other dimensions, so that the first dimension of a random
        array identifies the rows that it belongs to."""
        n, vocabulary = self.drafts.shape[1], self.p.shape[2]
        taken = {k * v for k in (1, n, n + 1) for v in (1, n, n + 1, vocabulary)} - {1}
        at, count = 0, len(self.p)
        while at < count:
            size = count - at
            while size > 1:
                lengths = self.lengths[at : at + size]
                drafts = int(lengths.sum())
                even = bool((lengths == n).all())
                if size not in taken and (even or not {drafts, drafts + size} & ({size, 0} | taken)):
                    break
                size -= 1
            yield np.arange(at, at + size)
            at += size


class Argument:
    """An array in the form that a function takes; detects and undoes changes that the function makes."""

    __slots__ = ("_before", "_form", "_memory", "key", "name", "value")

    def __init__(self, name: str, array: NDArray[Any], value: Any, memory: Any, before: Any) -> None:
        """memory: the elements of `value`; before: a copy of them from before the call, to find changes."""
        self.name, self.value, self._memory, self._before = name, value, memory, before
        self.key = array.tobytes()
        self._form = _form_of(value)

    def changed(self) -> bool:
        if _form_of(self.value) != self._form:
            return True
        if isinstance(self._before, bytes):
            return bool(self._memory.tobytes() != self._before)
        if isinstance(self._before, list):
            return bool(self._memory != self._before)
        return not bool((self._memory == self._before).all())

    def restore(self) -> None:
        """Undoes the changes, so that the object can be passed to the next call."""
        if _form_of(self.value) != self._form:
            shape, one = self._form[0], self.value is self._memory
            if not isinstance(self._before, bytes):
                self._memory = self._before.clone()
            elif one:
                self._memory = np.frombuffer(self._before, self._memory.dtype).reshape(shape).copy()
            self.value = self._memory if one else _tensor_on(self._memory)
            self._form = _form_of(self.value)
        if isinstance(self._before, bytes):
            self._memory[...] = np.frombuffer(self._before, self._memory.dtype).reshape(self._memory.shape)
        elif isinstance(self._before, list):
            self._memory[:] = copy.deepcopy(self._before)
        else:
            self._memory.copy_(self._before)

    def changed_rows(self) -> NDArray[np.bool_]:
        """Returns which entries of the first dimension the function changed; all, if it changed the shape."""
        if _form_of(self.value) != self._form:
            return np.ones(self._form[0][0], np.bool_)
        count = len(self._memory)
        if isinstance(self._before, bytes):
            before = np.frombuffer(self._before, self._memory.dtype).reshape(self._memory.shape)
            return np.array([a.tobytes() != b.tobytes() for a, b in zip(self._memory, before, strict=True)], np.bool_)
        return np.array([bool(np.any(np.asarray(a != b))) for a, b in zip(self._memory, self._before, strict=True)],
                        np.bool_).reshape(count)  # fmt: skip


def _tensor_on(memory: NDArray[Any]) -> Any:
    """Returns a tensor that shares the memory of an array."""
    import torch

    return torch.from_numpy(memory)


def _form_of(value: Any) -> Any:
    """Returns shape, strides, memory and `requires_grad`, which a function can change in place; None for a list."""
    if isinstance(value, list):
        return None
    if isinstance(value, np.ndarray):
        return value.shape, value.strides
    return tuple(value.shape), value.stride(), value.data_ptr(), value.requires_grad


def torch_for(place: str) -> Any:
    """Returns torch. Raises: ImportError with `place` and what to install, if it is missing or cannot be imported."""
    try:
        return import_module("torch")
    except ImportError as error:
        wanted = "draftproof[torch] installed, as by `pip install draftproof[torch]`"
        raise ImportError(f"{place}: got no torch ({error}), expected {wanted}", name="torch") from error


class Arguments:
    """Converts numpy arrays to the arguments of a function. `kept` caches them, so that calls with equal arrays share
    one object."""

    MOST_BYTES = 1 << 26  # limit of the cache

    def __init__(self, kind: str, dtype: str, device: str) -> None:
        self._kept: dict[tuple[str, tuple[int, ...], bytes], Argument] = {}
        self._bytes = 0
        self._make: Callable[[str, NDArray[Any]], Argument]
        if kind == "torch":
            torch = torch_for("arrays='torch'")
            wide = getattr(torch, dtype)

            def make(name: str, array: NDArray[Any]) -> Argument:
                flags, integers = array.dtype.kind == "b", array.dtype.kind in "iu"
                if device == "cpu" and (flags or integers or dtype != "bfloat16"):
                    memory = np.array(array, np.bool_ if flags else np.int64 if integers else dtype)
                    return Argument(name, array, torch.from_numpy(memory), memory, memory.tobytes())
                kind = torch.bool if flags else torch.int64 if integers else wide
                try:
                    value = torch.tensor(array, dtype=kind, device=device)
                except (RuntimeError, TypeError, AssertionError) as error:  # torch raises each of them
                    said = (str(error).splitlines() or [type(error).__name__])[0]
                    raise ValueError(f"device: got {device!r:.60} ({said}), expected a device of torch here") from error
                if value.is_meta:
                    raise ValueError("device: got 'meta', expected a device whose tensors have elements")
                return Argument(name, array, value, value, value.clone())
        elif kind == "numpy":

            def make(name: str, array: NDArray[Any]) -> Argument:
                value = np.array(array, np.int64 if array.dtype.kind in "iu" else None)
                return Argument(name, array, value, value, value.tobytes())
        elif kind == "list":

            def make(name: str, array: NDArray[Any]) -> Argument:
                value = array.tolist()
                return Argument(name, array, value, value, array.tolist())
        else:
            raise ValueError(f"arrays: got {kind!r}, expected 'torch', 'numpy' or 'list'")
        self._make = make

    def new(self, name: str, array: NDArray[Any]) -> Argument:
        """Returns a new argument with a copy of `array`."""
        return self._make(name, array)

    def kept(self, name: str, array: NDArray[Any]) -> Argument:
        """Returns the cached argument for a name and equal elements, which the first call makes."""
        key = name, array.shape, array.tobytes()
        argument = self._kept.get(key)
        if argument is None:
            if self._bytes > self.MOST_BYTES:
                self._kept.clear()
                self._bytes = 0
            self._bytes += 2 * array.nbytes
            argument = self._kept[key] = self._make(name, array)
        return argument


def kind_of(fn: Callable[..., Any]) -> str:
    """Returns `torch` if the code that `fn` can reach refers to an object of torch or draftproof.torch, else
    `numpy`."""
    for _, thing in objects_of(fn):
        owner = thing.__name__ if isinstance(thing, ModuleType) else getattr(thing, "__module__", None)
        if re.match(r"(draftproof\.)?torch(\.|$)", str(owner)):
            return "torch"
    return "numpy"


def _host(value: Any) -> Any:
    """Returns tensors on any device, and arrays of other libraries in host memory, as numpy arrays; other values are
    returned unchanged."""
    if hasattr(value, "detach"):
        return value.detach().cpu().numpy()
    if hasattr(value, "__dlpack__") and not isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value) if hasattr(value, "__array__") else np.from_dlpack(value)
    return value


LARGEST_TOKEN = 2**31 - 1


def tokens_of(output: Any) -> list[int]:
    """Returns the tokens of a call for one row. `output` is a number, a sequence or an array; trailing -1 are dropped.

    Raises: TypeError for anything else.
    """
    values = output
    if not (type(values) is list and all([type(value) is int for value in values])):
        values = _host(output)
        if isinstance(values, list | tuple):
            values = [_host(value) for value in values]
        try:
            array = np.asarray(values)
            if array.size and array.dtype.kind not in "iu":
                numbers = array.dtype == object and all(isinstance(value, int) for value in array.ravel())
                raise TypeError("a number beyond 64 bits" if numbers else f"dtype {array.dtype}")
            if array.ndim > 2 or (array.ndim == 2 and array.size != array.shape[-1]):
                raise TypeError(f"shape {list(array.shape)}")
            values = array.reshape(-1).tolist()
        except (ValueError, TypeError) as error:
            raise TypeError(
                f"returned {type(output).__name__} ({error}), expected tokens: integers in a list or array"
            ) from None
    end = len(values)
    while end and values[end - 1] == -1:
        end -= 1
    tokens: list[int] = values[:end]
    for token in tokens:
        if not -LARGEST_TOKEN <= token <= LARGEST_TOKEN:
            raise TypeError(f"returned the token {token}, expected 0 .. V - 1")
    return tokens


def tokens_of_batch(output: Any, rows: int, level: str) -> list[list[int]]:
    """Returns the tokens of each row.

    output: an array [rows, n + 1], or [rows] at level position; a tuple of such an array and the number of tokens of
        each row; or a list with the tokens of each row.

    Raises: TypeError if the number of rows differs.
    """
    counts: list[int] | None = None
    if isinstance(output, tuple) and len(output) >= 2 and hasattr(_host(output[0]), "__len__"):
        output, second = output[0], _host(output[1])
        if level != "position" and np.shape(second) == (rows,):
            counts = [int(count) for count in second]
    values = _host(output)
    count = len(values) if isinstance(values, list | tuple) or np.ndim(values) else -1
    if count != rows:
        found = type(output).__name__ + (f" of length {count}" if count >= 0 else "")
        raise TypeError(f"returned {found}, expected {rows} rows of tokens")
    result = [tokens_of(values[i]) for i in range(rows)]
    if counts is not None:
        result = [tokens[:count] for tokens, count in zip(result, counts, strict=True)]
    return result
