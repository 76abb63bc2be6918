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


def test_an_interrupt_ends_the_run(run: pytest.Pytester) -> None:
    run.makepyfile(
        test_mine="""
import os, signal, draftproof

signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored

def slow(p, q, drafts):
    os.kill(os.getpid(), signal.SIGINT)
    return [0]

test_slow = draftproof.gates(slow, arrays="numpy")
"""
    )
    result = run.runpytest_subprocess(*plugin(), "-v")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*slow: undecided*", "*interrupted by the user*"])
    result.stdout.no_fnmatch_line("*test_slow*edge*")


def test_a_function_that_fails_is_shown_without_the_package(run: pytest.Pytester) -> None:
    run.makepyfile(
        test_mine="""
import draftproof

def nothing(p, q, drafts):
    return None

def raises(p, q, drafts):
    raise KeyError("no block")

test_nothing = draftproof.gates(nothing, tiers=["proof"], arrays="numpy")
test_raises = draftproof.gates(raises, tiers=["proof"], arrays="numpy")
"""
    )
    result = run.runpytest_subprocess(*plugin(), "--draftproof-page", "gates.html")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*returned NoneType*", '*raise KeyError("no block")*'])
    result.stdout.fnmatch_lines(["draftproof: 2 gates: 2 failed", "draftproof: gates.html"])
    page = (run.path / "gates.html").read_text()
    assert "returned NoneType" in page and "no block" in page
    result.stdout.no_fnmatch_line("*subject.py*in*")
    assert len(result.outlines) < 60


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("tiers=[]", "ValueError: tiers: got none, expected some of proof, edge, sampled"),
        ("tier='proof'", "TypeError: tier: got an argument of `check`, expected `tiers`"),
    ],
)
def test_tiers_that_gates_does_not_take(run: pytest.Pytester, arguments: str, words: str) -> None:
    run.makepyfile(test_mine=f"import draftproof\ntest_mine = draftproof.gates(len, {arguments})")
    result = run.runpytest_subprocess(*plugin())
    assert result.ret == pytest.ExitCode.INTERRUPTED  # as for every error of collection
    result.stdout.fnmatch_lines([f"*{words}*"])


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--draftproof-budget=0", "got 0, expected more than 0 and at most 1"),
        ("--draftproof-budget=nan", "got nan, expected more than 0"),
        ("--draftproof-seed=-1", "got -1, expected 0 to 2^64 - 1"),
        ("--draftproof-seed=99999999999999999999", "got 99999999999999999999, expected 0 to"),
        ("--draftproof-page=", "got '', expected the name of a file"),
        ("--draftproof-page=.", "got '.', expected the name of a file"),
        ("--draftproof-page=test_mine.py/page.html", "test_mine.py"),
    ],
)
def test_wrong_options_end_the_run_at_its_start(run: pytest.Pytester, option: str, words: str) -> None:
    result = run.runpytest_subprocess(*plugin(), option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{option.split('=')[0]}: *{words}*"])


def test_a_gate_in_a_class(run: pytest.Pytester) -> None:
    run.makepyfile(
        test_mine="""
import draftproof
from catalogue.without_torch import numpy_batch

class TestEngine:
    test_right = staticmethod(
        draftproof.gates(numpy_batch, tiers=["edge"], batched=True, models=4, predictions=32))
"""
    )
    run.runpytest_subprocess(*plugin()).assert_outcomes(passed=1)


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
    result = run.runpytest_subprocess(*plugin(), "--draftproof-page", "made/gates.html", "-k", "not sampled")
    result.stdout.fnmatch_lines(["draftproof: 3 gates: 2 passed, 1 failed", "draftproof: made/gates.html"])
    page = (run.path / "made" / "gates.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert all(words in page for words in ("right", "wrong", "exact_distribution", "p=("))
    os.mkfifo(run.path / "pipe")
    result = run.runpytest_subprocess(*plugin(), "--draftproof-page", "pipe", "-k", "right and edge")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["draftproof: *pipe*expected*"])


def test_workers_share_the_budget(run: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    result = run.runpytest_subprocess(*plugin(), "-p", "xdist", "-n", "2", "-k", "right")
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["draftproof: 3 gates: 3 passed; 1 sampled gates share*1e-09"])


@pytest.mark.parametrize("value", ["5", "'no JSON'", "'[]'", "'{}'", "{}"])
def test_a_property_of_a_test_with_the_name_of_the_package(value: str, run: pytest.Pytester) -> None:
    run.makepyfile(test_mine=f"def test_mine(record_property):\n    record_property('draftproof', {value})\n")
    run.runpytest_subprocess("-q").assert_outcomes(passed=1)


def test_expected_failures_are_told_from_others(run: pytest.Pytester) -> None:
    (run.path / "test_mine.py").write_text(
        MODULE
        + """
test_known = __import__("pytest").mark.xfail(draftproof.gates(wrong, tiers=["proof"], **few))
"""
    )
    result = run.runpytest_subprocess(*plugin(), "-k", "wrong or known")
    result.assert_outcomes(failed=1, xfailed=1)
    result.stdout.fnmatch_lines(["draftproof: 2 gates: 1 failed, 1 failed as expected"])
