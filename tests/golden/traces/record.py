"""Writes the traces in this folder with the recorder of the package, for tests of the reader in captures/trace.cpp.

    PYTHONPATH=python python tests/golden/traces/record.py FOLDER

whole.safetensors, half.safetensors and top.safetensors are one run, in float32, float16 and with four tokens a row:
60 blocks of an engine with V = 12 and up to 3 drafts that verifies them by rejection sampling.
wrong.safetensors is of an engine that emits token 11 at record 40, where p is 0.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from draftproof.capture import Recorder

VOCABULARY, BLOCKS, DRAFTS = 12, 60, 3
RowsOf = NDArray[np.float64]


def rows(generator: np.random.Generator, count: int) -> RowsOf:
    """Returns distributions [count, V] in which token 11 has probability 0."""
    weights = generator.exponential(size=(count, VOCABULARY)) ** 2 + 1e-3
    weights[:, -1] = 0
    distributions: RowsOf = weights / weights.sum(axis=1, keepdims=True)
    return distributions


def verified(generator: np.random.Generator, p: RowsOf, q: RowsOf, drafts: list[int]) -> list[int]:
    """Returns the emitted tokens of one block."""
    emitted: list[int] = []
    for i, x in enumerate(drafts):
        if generator.random() * q[i, x] < p[i, x]:
            emitted.append(x)
            continue
        rest = np.maximum(p[i] - q[i], 0)
        return [*emitted, int(generator.choice(VOCABULARY, p=rest / rest.sum()))]
    return [*emitted, int(generator.choice(VOCABULARY, p=p[len(drafts)]))]


def record(path: Path, wrong: bool = False, **form: Any) -> None:
    """Writes one trace."""
    generator = np.random.default_rng(7)
    with Recorder(path, VOCABULARY, engine="rejection sampling 1", draft_sampling="iid", **form) as recorder:
        for block in range(BLOCKS):
            p, q = rows(generator, DRAFTS + 1), rows(generator, DRAFTS)
            drafts = [int(generator.choice(VOCABULARY, p=row)) for row in q]
            emitted = verified(generator, p, q, drafts)
            if wrong and recorder.records <= 40 < recorder.records + len(emitted):
                emitted[40 - recorder.records] = VOCABULARY - 1
            recorder.block(p, q, drafts, emitted, accepted=_accepted(drafts, emitted), request=block % 4)


def _accepted(drafts: list[int], emitted: list[int]) -> int:
    same = [a == b for a, b in zip(drafts, emitted, strict=False)]
    return same.index(False) if False in same else len(same)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    record(folder / "whole.safetensors")
    record(folder / "half.safetensors", dtype="float16")
    record(folder / "top.safetensors", top=4)
    record(folder / "wrong.safetensors", wrong=True)
