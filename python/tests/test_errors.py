"""Tests that exceptions that leave the package are the package's or the user's, and name the location of the fault."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import draftproof
from draftproof import serve, store


def verify(p: Any, q: Any, drafts: Any) -> list[int]:
    for i, x in enumerate(drafts):
        if np.random.random() * q[i, x] < p[i, x]:
            continue
        rest = np.maximum(p[i] - q[i], 0)
        rest = (rest if rest.any() else p[i]).astype(float)
        return [*drafts[:i], int(np.random.choice(len(rest), p=rest / rest.sum()))]
    last = p[-1].astype(float)
    return [*drafts, int(np.random.choice(len(last), p=last / last.sum()))]


ROW = [[0.5, 0.5], [0.5, 0.5]]
WIDE = np.full((2, 1_000_000), 1e-6)
ONE_TOKEN = np.eye(1, 1_000_000).repeat(2, 0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: draftproof.check(verify, dtype="float8"), "dtype: got 'float8', expected one of float32"),
        (lambda: draftproof.check(verify, instance="L=1\0"), "instance: got 'L=1"),
        (lambda: draftproof.check(verify, instance="\ud800"), "instance: got "),
        (
            lambda: draftproof.distribution(verify, [[0.5, float("nan")]] * 2, [[0.5, 0.5]]),
            "p: row 0, token 1: got nan",
        ),
        (
            lambda: draftproof.distribution(
                verify, ROW, ROW[:1], settings=("temperature",), settings_of_request={"temperature": float("nan")}
            ),
            "settings_of_request: temperature: got nan",
        ),
        (lambda: draftproof.distribution(verify, WIDE, WIDE[:1]), "1,000,000 tuples of drafts on 1,000,000 tokens"),
        (
            lambda: draftproof.distribution(verify, ONE_TOKEN, ONE_TOKEN[:1]),
            "3,000,000 entries, which at least 256 calls",
        ),
        (lambda: draftproof.distribution(verify, WIDE, WIDE[:1], [3]), "at least 1,000,000 calls of fn"),
    ],
)
def test_wrong_arguments_are_named(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(ValueError) as caught:
        call()
    assert words in str(caught.value) and "expected" in str(caught.value)


def test_a_step_without_drafts_is_declared() -> None:
    rows, none = [[0.25, 0.75]], np.zeros((0, 2))
    with pytest.raises(draftproof.ProgramError, match="drafts: got 0, expected at least 1, as the program declares"):
        draftproof.distribution(verify, rows, none, [])
    found = draftproof.distribution(verify, rows, none, [], fewest_drafts=0)
    assert [found.of([token]) for token in (0, 1)] == [0.25, 0.75]


def test_rows_without_drafts_are_checked_among_others() -> None:
    def no_step(p: Any, q: Any, drafts: Any) -> Any:
        assert len(drafts) > 0, "no drafts"
        return verify(p, q, drafts)

    options: dict[str, Any] = {"tier": "edge", "raises": False, "keep": False}
    assert draftproof.check(no_step, **options).status == "passed"
    assert draftproof.check(verify, fewest_drafts=0, **options).status == "passed"
    (failure,) = draftproof.check(no_step, fewest_drafts=0, **options).failures
    assert failure.check == "answers" and "no drafts" in failure.evidence


def test_a_program_that_prints_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "_served", lambda *_: (0, "", "killed"))
    with pytest.raises(draftproof.ProgramError, match="got nothing, expected a JSON object; killed"):
        draftproof.check(verify, arrays="numpy", keep=False)


@pytest.mark.parametrize("text", ["L=1\0", "\ud800", "L=1\n", "x" * 200_000])
def test_stored_instances_that_no_command_can_take(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".draftproof").mkdir()
    (tmp_path / ".draftproof" / "failures.json").write_text(json.dumps({"verify": [text], "g": ["L=1"] * 99}))
    assert store.failures("verify") == [] and len(store.failures("g")) == store.MOST
    assert "expected a JSON object of lists of texts" in store.keep("verify", ["L=1"], asked=True)


def test_lists_in_lists_in_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".draftproof").mkdir()
    (tmp_path / ".draftproof" / "failures.json").write_text('{"verify": ' + "[" * 900 + "]" * 900 + "}")
    assert store.failures("verify") == [] and "expected a JSON object" in store.keep("verify", [], asked=True)
