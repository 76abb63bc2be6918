"""Members of results and public functions name an argument of another type, and take numbers of any library."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import draftproof
from draftproof.acceptance import Lengths, bound, pooled, steps_for
from draftproof.capture import CaptureError, Recorder, read_trace
from draftproof.results import Distribution, Outcome

OUTCOMES = (Outcome((0, 1), "ok", 0.5), Outcome((0,), "ok", 0.25), Outcome((), "failed", 0.25))
FOUND = Distribution("mine", OUTCOMES, 0.0, 0.0, "cut", 1, 1)
LENGTHS = Lengths.of_marginal([0.5, 0.25])
OTHERS = [None, object(), 1.5, float("nan"), 1j, "abc", b"x", [None], ["a"], [[1]], np.array(["a"])]
ROWS = [[0.5, 0.5]]


def accepts_nothing(*given: Any) -> list[int]:
    return [0]


CALLS: dict[str, Callable[[Any], Any]] = {
    "of_marginal": Lengths.of_marginal,
    "of_conditional": Lengths.of_conditional,
    "of_rows: p": lambda one: Lengths.of_rows(one, ROWS),
    "of_rows: q": lambda one: Lengths.of_rows(ROWS, one),
    "mixed": Lengths.mixed,
    "shortened": LENGTHS.shortened,
    "Lengths": Lengths,
    "Lengths: drafts": lambda one: Lengths((0.25, 0.75), one),
    "pooled": pooled,
    "bound: lengths": lambda one: bound(one, 10),
    "bound: steps": lambda one: bound(LENGTHS, one),
    "bound: loss": lambda one: bound(LENGTHS, 10, loss=one),
    "bound: between": lambda one: bound(LENGTHS, 10, between=one),
    "steps_for: lengths": steps_for,
    "steps_for: miss": lambda one: steps_for(LENGTHS, miss=one),
    "steps_for: steps_per_prompt": lambda one: steps_for(LENGTHS, steps_per_prompt=one),
    "first": FOUND.first,
    "keyed: fn": draftproof.keyed,
    "keyed: keys": lambda one: draftproof.keyed(accepts_nothing, one),
    "adapter: fn": draftproof.adapter,
    "adapter: draft": lambda one: draftproof.adapter(accepts_nothing, draft=one),
    "gates: tiers": lambda one: draftproof.gates(accepts_nothing, tiers=one),
}
FINE = {("adapter: draft", None), ("bound: between", 1.5), ("Lengths: drafts", None), ("Lengths: drafts", 1.5)}


@pytest.mark.parametrize("name", CALLS)
def test_other_types_are_named(name: str) -> None:
    for one in OTHERS:
        if isinstance(one, float | None) and (name, one) in FINE:
            continue
        with pytest.raises(ValueError, match=r"(?s): got .*, expected "):
            CALLS[name](one)


@pytest.mark.parametrize("one", [None, object(), 1.5, 1j, "abc", [None], ["a"], [[1]], [0.5], np.array([0.5])])
def test_tokens_of_a_distribution_are_integers(one: Any) -> None:
    with pytest.raises(ValueError, match=r"tokens: got .*, expected a token or a sequence of tokens"):
        FOUND.of(one)


def test_tokens_of_any_library() -> None:
    for one in ([0, 1], (0, 1), np.array([0, 1]), iter([0, 1])):
        assert FOUND.of(one) == 0.5
    assert FOUND.of(0) == FOUND.of(np.int64(0)) == FOUND.of([0]) == 0.25
    assert FOUND.of(()) == 0.0
    torch = pytest.importorskip("torch")
    assert FOUND.of(torch.tensor([0, 1])) == 0.5 and FOUND.of(torch.tensor(0)) == 0.25


@pytest.mark.parametrize("count", [None, [0.5], ["a"], [-1], [0.5, 1], [10**400], [float("nan")], [0, 0], 3])
def test_counts(count: Any) -> None:
    with pytest.raises(ValueError, match=r"got .*, expected"):
        Lengths.of_counts(count)


def test_numbers_beyond_double() -> None:
    for call in (Lengths.of_marginal, Lengths, LENGTHS.shortened, FOUND.first):
        with pytest.raises(ValueError, match=r"got .*, expected"):
            call(10**400 if call in (LENGTHS.shortened, FOUND.first) else [10**400])


def test_numbers_of_any_library() -> None:
    assert Lengths.of_marginal(np.array([0.5, 0.25])) == LENGTHS
    assert Lengths(np.array([0.5, 0.25, 0.25])) == LENGTHS
    exact = Lengths.of_rows([[Fraction(1, 2), Fraction(1, 2)]], [[Fraction(1, 4), Fraction(3, 4)]])
    assert exact.mean == Fraction(3, 4)
    rows = np.full((1, 3), 1 / 3, np.float32)  # the sum of the row is above 1
    assert rows.astype(float).sum() > 1 and Lengths.of_rows(rows, rows).mean == 1
    torch = pytest.importorskip("torch")
    assert Lengths.of_marginal(torch.tensor([0.5, 0.25])) == LENGTHS


@pytest.mark.parametrize(
    ("p", "q", "words"),
    [
        (ROWS, ROWS * 2, "p: got 1 rows, expected at least 2"),
        ([[1.0]], ROWS, "row 0: got 1 and 2 entries, expected as many"),
        ([[0.9, 0.9]], [[0.9, 0.9]], "conditional rate of draft 1: got 1.8, expected 0 to 1"),
        (ROWS, [], "got none, expected one for each draft"),
    ],
)
def test_rows_that_do_not_fit(p: Any, q: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Lengths.of_rows(p, q)


def test_records_of_a_trace(tmp_path: Path) -> None:
    with Recorder(tmp_path / "run.safetensors", 2) as recorder:
        recorder.block([[0.5, 0.5]] * 2, [[0.5, 0.5]], [0], [0, 1])
    trace = read_trace(tmp_path / "run.safetensors")
    assert trace.p(1).tolist() == trace.q(0).tolist() == [0.5, 0.5]
    for member, count in ((trace.p, 2), (trace.q, 1), (trace.symbol, 2), (trace.block_of, 1)):
        for wrong in (None, "a", 0.0, -1, count):
            with pytest.raises(CaptureError, match=r"got .*, expected"):
                member(wrong)
