"""Models, which return a row of logits or probabilities after every prefix of a sequence of ids."""

from __future__ import annotations

import importlib
import sys
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import CaptureError
from .options import Options
from .tokens import Tokenizer

Ids = NDArray[np.int64]

_NUMPY_HAS = ("torch.float16", "torch.float32", "torch.float64", "torch.int32", "torch.int64")


class Model(ABC):
    """A target or a draft: a base class for models of other libraries, whose objects `capture` takes.

    Raises: CaptureError in the models of this package, for rows or ids that do not fit.
    """

    name: str
    """Name of the model in metadata and messages."""
    values: str | None = None
    """The kind of the rows, `logit` or `probability`. None: logits; a row that looks like probabilities is an error."""
    tokenizer: Tokenizer | None = None
    """Makes ids of texts; None if texts are given as ids."""
    longest: int | None = None
    """Largest number of tokens of a context; None if it is unknown."""
    ends: frozenset[int] = frozenset()
    """Tokens that end a text."""

    @abstractmethod
    def vocabulary(self) -> int:
        """Returns the number V of entries of a row."""

    @abstractmethod
    def rows(self, ids: Ids, at: Sequence[int]) -> NDArray[Any]:
        """Returns rows [B, len(at), V]: for each sequence of `ids` [B, n], the row after its first at[k] + 1 tokens.

        Cost: one pass over `ids` in models of transformers.
        """

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Returns the provenance: everything that the rows depend on, as far as it is known."""

    def continued(self, ids: Ids, count: int, choose: Callable[[NDArray[Any]], int]) -> Ids:
        """Returns `ids` [n] with `count` more tokens. `choose` gets the row [V] after all tokens so far.

        Cost: a call of `rows` for each token, unless a subclass keeps a cache.
        """
        for _ in range(count):
            token = choose(self.rows(ids[None], [len(ids) - 1])[0, 0])
            ids = np.append(ids, token)
        return ids


class CallableModel(Model):
    """A function of ids [n], int64, that returns rows.

    fn: returns [n, V], one row after each prefix, or [V], the row after all ids, as lists or as an array of any library
        that converts to numpy; a leading dimension of 1 is dropped.
    values: the kind of rows, `logit` or `probability`; None for logits, where rows that look like probabilities raise
        CaptureError.
    """

    def __init__(self, fn: Callable[[Ids], Any], values: str | None, name: str | None = None) -> None:
        self._fn = fn
        self.values = values
        self.name = name or f"{getattr(fn, '__module__', '?')}.{getattr(fn, '__qualname__', type(fn).__qualname__)}"
        self._vocabulary: int | None = None

    def vocabulary(self) -> int:
        """Calls the function once with the sequence [0]."""
        if self._vocabulary is None:
            self._vocabulary = self._call(np.zeros(1, dtype=np.int64)).shape[-1]
        return self._vocabulary

    def rows(self, ids: Ids, at: Sequence[int]) -> NDArray[Any]:
        return np.stack([self._of_one(sequence, at) for sequence in ids])

    def describe(self) -> dict[str, Any]:
        return {"kind": "callable", "values": self.values or "logit"}

    def _of_one(self, ids: Ids, at: Sequence[int]) -> NDArray[Any]:
        used = ids[: max(at) + 1]
        result = self._call(used)
        if result.ndim == 2:
            return result[list(at)]
        last = {len(used): result}
        return np.stack([last[j + 1] if j + 1 in last else self._call(ids[: j + 1]) for j in at])

    def _call(self, ids: Ids) -> NDArray[Any]:
        given = self._fn(ids.copy())
        try:
            rows = to_numpy(given)
        except (TypeError, ValueError, OverflowError, RuntimeError) as error:
            found = f"{type(given).__name__} ({error})"
            raise CaptureError(self.name, found, f"rows [{len(ids)}, V] or [V] of numbers") from error
        if rows.dtype.kind not in "fiu":
            raise CaptureError(self.name, f"elements of type {rows.dtype}", "floating numbers or integers")
        if rows.ndim == 3 and rows.shape[0] == 1:
            rows = rows[0]
        good = rows.ndim == 1 or (rows.ndim == 2 and rows.shape[0] == len(ids))
        if not good or rows.shape[-1] < 1 or self._vocabulary not in (None, rows.shape[-1]):
            wide = self._vocabulary or "V"
            raise CaptureError(self.name, f"shape {list(rows.shape)}", f"[{len(ids)}, {wide}] or [{wide}]")
        return rows


def of_a_function(error: BaseException) -> bool:
    """Whether the exception `error` came from the function of a CallableModel."""
    frames = traceback.extract_tb(error.__traceback__)
    return any(frame.filename == __file__ and frame.name == CallableModel._call.__name__ for frame in frames)


def to_numpy(array: Any) -> NDArray[Any]:
    """Returns an array of numpy, torch (any device and type) or jax as a numpy array, and nested lists as a numpy array
    of float64. Types of torch that numpy does not have, such as bfloat16, become float32."""
    if hasattr(array, "detach"):
        array = array.detach().cpu()
        array = (array if str(array.dtype) in _NUMPY_HAS else array.float()).numpy()
    return np.asarray(array, dtype=None if hasattr(array, "dtype") else np.float64)


def open_model(given: Any, options: Options, tokenizer: Any = None) -> Model:
    """Opens the model that an argument of `capture` describes.

    given: a Model; a name or folder of a transformers model, or the path of its .gguf file; `python:MODULE:NAME` for a
        function or a model that a module has; a model of transformers that is already loaded; any callable.
    tokenizer: for models of transformers, in place of the model's; as `open_tokenizer` takes it.

    Raises: CaptureError for any other text, or a model that cannot be loaded.
    """
    if isinstance(given, str) and given.startswith("python:"):
        given = _from_module(given)
    if isinstance(given, Model):
        return given
    if isinstance(given, str) or hasattr(given, "__fspath__") or _is_transformers(given):
        from .hub import open_transformers

        return open_transformers(given, options, tokenizer)
    if callable(given):
        return CallableModel(given, options.values)
    raise CaptureError("model", repr(given), "a name, a folder, a model of transformers, or a callable")


def _is_transformers(given: Any) -> bool:
    module = sys.modules.get("transformers")
    return module is not None and isinstance(given, module.PreTrainedModel)


def _from_module(spec: str) -> Any:
    """Returns the object NAME of MODULE, from `python:MODULE:NAME`. The working folder is searched too."""
    _, module, name = (*spec.split(":", 2), "", "")[:3]
    if not module or not name:
        raise CaptureError("model", repr(spec), "python:MODULE:NAME")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, TypeError, ValueError) as error:  # a wrong module or name raises one of them
        raise CaptureError("model", f"{spec!r} ({error})", "a module that can be imported, with this name") from error
    except (Exception, SystemExit) as error:
        from draftproof.subject import words_of

        found = f"{spec!r} ({words_of(error)})"
        raise CaptureError("model", found, "a module that can be imported, with this name") from error
