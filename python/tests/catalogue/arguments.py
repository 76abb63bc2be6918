"""Calls of an entry on an input: arrays of its library in, tokens out."""

from __future__ import annotations

import inspect
import random
from typing import Any

import numpy as np

from catalogue import Entry
from catalogue.instance import Input


class Arguments:
    """Rows are float32. Batches are padded with zeros and -1."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry

    def tokens(self, given: Input) -> tuple[int, ...]:
        if self.entry.batched:
            return self.batch([given])[0]
        row = self._row(given, len(given.drafts))
        if self.entry.level == "position":
            row = [row[0][0], row[1], row[2]]
        return as_tokens(self._call(row))

    def batch(self, rows: list[Input]) -> list[tuple[int, ...]]:
        longest = max(len(given.drafts) for given in rows)
        columns = zip(*(self._row(given, longest) for given in rows), strict=True)
        arrays = [np.stack(column) for column in columns]
        if self.entry.level == "position":
            arrays = [arrays[0][:, 0], arrays[1], arrays[2]]
        drawn = self._call(arrays)
        return [tuple(x for x in as_tokens(row) if x >= 0) for row in drawn]

    def seed(self, value: int) -> None:
        random.seed(value)
        np.random.seed(value)
        if self.entry.arrays == "torch":
            import torch

            torch.manual_seed(value)

    def _row(self, given: Input, longest: int) -> list[Any]:
        count = len(given.drafts)
        p = np.zeros((longest + 1, len(given.p[0])), np.float32)
        q = np.zeros((longest, len(given.p[0])), np.float32)
        p[: len(given.p)], q[: len(given.q)] = given.p, np.array(given.q, np.float64).reshape(-1, q.shape[1])[:longest]
        if self.entry.level == "position":
            q = np.array(given.q[0], np.float32)
        if self.entry.logits:
            with np.errstate(divide="ignore"):
                p, q = np.log(p), np.log(q)
        rest = [-1] * (longest - count)
        row = [p, q, np.array(given.drafts + rest, np.int64)]
        return [*row, np.array(given.parents + rest, np.int64)] if self.entry.level == "tree" else row

    def _call(self, arrays: list[Any]) -> Any:
        extra: dict[str, Any] = {}
        names = inspect.signature(self.entry.fn).parameters
        if "rng" in names:
            extra["rng"] = np.random.default_rng(random.getrandbits(64))
        if self.entry.arrays == "list":
            return self.entry.fn(*(array.tolist() for array in arrays), **extra)
        if self.entry.arrays == "numpy":
            return self.entry.fn(*arrays, **extra)
        import torch

        if "generator" in names:
            extra["generator"] = torch.Generator().manual_seed(random.getrandbits(32))
        return self.entry.fn(*(torch.from_numpy(array.copy()) for array in arrays), **extra)


def as_tokens(drawn: Any) -> tuple[int, ...]:
    if hasattr(drawn, "tolist"):
        drawn = drawn.tolist()
    return tuple(int(x) for x in drawn) if isinstance(drawn, list | tuple) else (int(drawn),)
