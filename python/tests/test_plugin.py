"""Tests of the pytest plug-in, in runs of pytest."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

MODULE = """
import numpy as np, draftproof
from catalogue.without_torch import numpy_batch

np.random.seed(1)  # rows of a batch have no seeds of the host
few = {"batched": True, "models": 4, "predictions": 32}

def right(p, q, drafts):
    return numpy_batch(p, q, drafts, rng=np.random)

def wrong(p, q, drafts):
    sums = p[:, -1].cumsum(1)
    return np.column_stack([drafts, (np.random.random((len(p), 1)) * sums[:, -1:] < sums).argmax(1)])

test_right = draftproof.gates(right, **few)
test_wrong = draftproof.gates(wrong, tiers=["proof"], **few)
"""


@pytest.fixture
def run(in_a_folder: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.chdir(pytester.path)
    pytester.makepyfile(test_mine=MODULE)
    here = Path(__file__).parent
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, (here.parent, here))))
    return pytester


def plugin() -> list[str]:
    """Returns the arguments that load the plug-in; empty if the installed package registers it."""
    from importlib.metadata import entry_points

    there = any(entry.value == "draftproof.pytest_plugin" for entry in entry_points(group="pytest11"))
    return [] if there else ["-p", "draftproof.pytest_plugin"]


def test_one_case_for_each_tier_and_a_budget(run: pytest.Pytester) -> None:
    result = run.runpytest_subprocess(*plugin(), "--draftproof-budget", "0.5", "--junitxml=junit.xml", "-v")
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["*test_right*proof*PASSED*", "*test_wrong*proof*FAILED*"])
    result.stdout.fnmatch_lines(["*wrong: failed*", "*exact_distribution*"])
    result.stdout.fnmatch_lines(["draftproof: 4 gates: 3 passed, 1 failed; 1 sampled gates share*5e-10"])
    properties = (run.path / "junit.xml").read_text()
    assert 'name="draftproof"' in properties
    assert (run.path / ".draftproof" / "failures.json").exists()


def test_seed_and_profile_reach_the_gate(run: pytest.Pytester) -> None:
    run.makeconftest(
        """
        def pytest_runtest_logreport(report):
            import json
            for key, value in report.user_properties:
                if key == "draftproof" and report.when == "call":
                    with open("seen", "a") as file:
                        file.write(json.dumps({k: json.loads(value)[k] for k in ("seed", "profile")}) + "\\n")
        """
    )
    run.runpytest_subprocess(*plugin(), "--draftproof-seed", "7", "--draftproof-profile", "quick", "-k", "edge")
    seen = [json.loads(line) for line in (run.path / "seen").read_text().splitlines()]
    assert seen == [{"seed": 7, "profile": "quick"}]


def test_a_page_of_all_gates(run: pytest.Pytester) -> None:
    result = run.runpytest_subprocess(*plugin(), "--draftproof-page", "gates.html", "-k", "not sampled")
    result.stdout.fnmatch_lines(["draftproof: 3 gates: 2 passed, 1 failed", "draftproof: gates.html"])
    page = (run.path / "gates.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert all(words in page for words in ("right", "wrong", "exact_distribution", "p=("))
    result = run.runpytest_subprocess(*plugin(), "--draftproof-page", "/nowhere/gates.html", "-k", "right and edge")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["draftproof: *nowhere*expected*"])


def test_workers_share_the_budget(run: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    result = run.runpytest_subprocess(*plugin(), "-p", "xdist", "-n", "2", "-k", "right")
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["draftproof: 3 gates: 3 passed; 1 sampled gates share*1e-09"])


@pytest.mark.parametrize("value", ["5", "'no JSON'", "'[]'", "'{}'", "{}"])
def test_a_property_of_a_test_with_the_name_of_the_package(value: str, run: pytest.Pytester) -> None:
    run.makepyfile(test_mine=f"def test_mine(record_property):\n    record_property('draftproof', {value})\n")
    run.runpytest_subprocess("-q").assert_outcomes(passed=1)
