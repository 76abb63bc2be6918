"""Fixtures shared by the tests of the package."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from cost_tables import table

from draftproof import program

# The plug-in is loaded here too, because a checkout on PYTHONPATH has no entry point that loads it.
pytest_plugins = ["pytester", "draftproof.pytest_plugin"]

CHAIN = """
import numpy as np
from draftproof.declare import adapter
from draftproof.engines import Engine, EngineAdapter, Missing

def right():
    def verify(p, q, drafts):
        for i, x in enumerate(drafts):
            if not np.random.random() * q[i][x] < p[i][x]:
                return [*drafts[:i], np.random.choice(len(q[i]), p=residual(p[i], q[i]))]
        return [*drafts, np.random.choice(p.shape[1], p=p[-1].astype(np.float64) / p[-1].astype(np.float64).sum())]
    return adapter(verify, arrays="numpy", name="verify")

def residual(p, q):
    left = np.maximum(p.astype(np.float64) - q, 0)
    left = left if left.sum() > 0 else p.astype(np.float64)
    return left / left.sum()

def absent():
    raise Missing("no such kernel")

CHAIN = EngineAdapter("chain", right, models=3, predictions=32, tiers=("proof",))
ENGINE = Engine(adapters=(CHAIN, EngineAdapter("gone", absent)), packages=("numpy",))
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skips tests marked nightly unless `./dev test nightly` runs them."""
    for item in items:
        if "DRAFTPROOF_NIGHTLY" not in os.environ and item.get_closest_marker("nightly"):
            item.add_marker(pytest.mark.skip(reason="nightly"))


@pytest.fixture
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns an empty working folder, where failing instances are stored. Skips the test if the program is not
    built."""
    try:
        program.find()
    except program.ProgramNotFound as error:
        pytest.skip(str(error))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns a checkout with one small engine, which is written with numpy."""
    (tmp_path / "python" / "engines" / "results").mkdir(parents=True)
    (tmp_path / "docs" / "findings").mkdir(parents=True)
    (tmp_path / "build" / "engines" / "small").mkdir(parents=True)
    (tmp_path / "python" / "engines" / "small.py").write_text(CHAIN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DRAFTPROOF_ENGINE_PACKAGES", raising=False)
    return tmp_path


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Runs torch on one thread, because threads make small tensors slower. Does nothing where torch is missing."""
    if importlib.util.find_spec("torch") is None:
        yield
        return
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def costs_file(tmp_path: Path) -> Path:
    """Returns a file with the table of costs of cost_tables.py."""
    path = tmp_path / "costs.json"
    path.write_text(json.dumps(table()))
    return path
