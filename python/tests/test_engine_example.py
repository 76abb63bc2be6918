"""Runs the gate of examples/engine_pull_request on a stand-in for the engine, on stand-ins with bugs, and on the
engine."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "engine_pull_request" / "test_speculative_sampling.py"

needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")

STAND_IN = """
import torch

def _speculative_sampling(candidate_input_ids, candidate_logits, candidate_length, new_logits):
    drafts = candidate_input_ids[0, -candidate_length:]
    p, q = new_logits[0].softmax(-1), candidate_logits[0].softmax(-1)
    at = torch.arange(candidate_length)
    coins = torch.rand(candidate_length)
    kept = coins * q[at, drafts] < p[at, drafts]
    n = int(kept.int().cumprod(0).sum())
    weights = p[n]
    if n < candidate_length and (p[n] - q[n]).max() > 0:
        weights = (p[n] - q[n]).clamp(min=0)
    return torch.cat([drafts[:n], torch.multinomial(weights, 1)])[None], n
"""


@pytest.fixture
def run(in_a_folder: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.chdir(pytester.path)
    shutil.copy(EXAMPLE, pytester.path)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    return pytester


def engine(run: pytest.Pytester, source: str) -> None:
    folder = run.path / "transformers" / "generation"
    folder.mkdir(parents=True)
    for package in (folder.parent, folder):
        (package / "__init__.py").touch()
    (folder / "utils.py").write_text(source)


def outcomes(run: pytest.Pytester) -> dict[str, int]:
    return run.runpytest_subprocess("-p", "no:cacheprovider").parseoutcomes()


def test_it_has_at_most_30_lines() -> None:
    assert len(EXAMPLE.read_text().splitlines()) <= 30


@needs_torch
def test_it_passes_on_a_right_stand_in(run: pytest.Pytester) -> None:
    engine(run, STAND_IN)
    assert outcomes(run) == {"passed": 1}


@needs_torch
def test_it_fails_on_a_bug(run: pytest.Pytester) -> None:
    right, bug = "coins * q[at, drafts] < p[at, drafts]", "coins * q[at, drafts] < 0.99 * p[at, drafts]"
    assert right in STAND_IN
    engine(run, STAND_IN.replace(right, bug))
    assert outcomes(run) == {"failed": 1}


def test_without_the_engine_it_says_so(run: pytest.Pytester) -> None:
    engine(run, "raise ImportError('no engine')")
    result = run.runpytest_subprocess("-rs", "-p", "no:cacheprovider")
    result.stdout.fnmatch_lines(["*transformers is not installed*"])
    assert "failed" not in result.parseoutcomes()


@needs_torch
def test_it_passes_on_the_release(run: pytest.Pytester) -> None:
    if importlib.util.find_spec("transformers") is None:
        pytest.skip("transformers is not installed")
    assert outcomes(run) == {"passed": 1}
