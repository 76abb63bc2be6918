"""Small models in numpy for the tests of captures, and their distributions."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from draftproof import program
from draftproof.capture.models import CallableModel

V = 23
TEXTS = [np.random.default_rng([7, i]).integers(0, V, size=n).tolist() for i, n in enumerate((31, 12, 40, 9, 26))]

_TARGET = np.random.default_rng(1).normal(size=(V, V)) * 2
_DRAFT = _TARGET + np.random.default_rng(2).normal(size=(V, V))

MODULE = """
import os, signal, sys
sys.path.insert(0, {folder!r})
from capture_small_models import draft, target as plain

calls = 0
def target(ids):
    global calls
    calls += 1
    if calls == int(os.environ.get("AT_CALL", "0")):
        os.kill(os.getpid(), int(os.environ["SIGNAL"]))
    return plain(ids)
"""


def target(ids: NDArray[np.int64]) -> NDArray[np.float64]:
    """Returns logits [n, V] that depend on the last token and on the number of tokens."""
    return _TARGET[ids] + 0.1 * np.arange(len(ids))[:, None] * np.sin(np.arange(V))


def draft(ids: NDArray[np.int64]) -> NDArray[np.float64]:
    return _DRAFT[ids]


def softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    result: NDArray[np.float64] = weights / weights.sum(axis=-1, keepdims=True)
    return result


def distributions_after(context: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns the distributions of target and draft after a stored context, without its padding."""
    ids = np.asarray(context)[np.asarray(context) >= 0].astype(np.int64)
    return softmax(target(ids)[-1]), softmax(draft(ids)[-1])


def named(fn: Callable[[NDArray[np.int64]], Any]) -> CallableModel:
    """Returns a callable as a model whose name does not depend on the callable."""
    return CallableModel(fn, "logit", "the target")


def run_program(*arguments: str) -> dict[str, Any]:
    """Returns the program's output, or skips the test if the program is not built."""
    try:
        return program.run(arguments)
    except program.ProgramNotFound as error:
        pytest.skip(str(error))


def run_module(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs `python -m draftproof.capture` in `folder`, where `small_models.py` has the models above."""
    here = Path(__file__).parent
    (folder / "small_models.py").write_text(MODULE.format(folder=str(here)), encoding="utf-8")
    variables = {**os.environ, "PYTHONPATH": str(here.parent), **environment}
    command = [sys.executable, "-m", "draftproof.capture", *arguments]
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
