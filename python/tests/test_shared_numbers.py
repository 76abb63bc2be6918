"""Batched functions whose rows share random numbers fail, although each row has the right distribution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import draftproof
from draftproof import gate
from draftproof.deadline import Deadline, Ended
from draftproof.subject import Subject

FEW: dict[str, Any] = {"models": 3, "predictions": 32, "keep": False, "raises": False, "batched": True}


def batched(shared: str) -> Callable[..., Any]:
    """Returns a verifier of a batch: `shared` is coins, picks, results (of pairs if all rows are equal), or empty for a
    right one."""

    def verify(p: Any, q: Any, drafts: Any, rng: Any) -> Any:
        rows, length = drafts.shape
        coins = rng.random((1 if shared == "coins" else rows, length))
        picks = rng.random((1 if shared == "picks" else rows, 1))
        row, step = np.arange(rows)[:, None], np.arange(length)
        accepted = (coins * q[row, step, drafts] < p[row, step, drafts]).cumprod(1).sum(1)
        weights = np.maximum(p - np.concatenate([q, np.zeros_like(p[:, :1])], 1), 0)[np.arange(rows), accepted]
        weights = np.where(weights.any(1, keepdims=True), weights, p[np.arange(rows), accepted]).astype(float)
        sums = weights.cumsum(1)
        token = (sums <= picks * sums[:, -1:]).sum(1)
        tokens = np.concatenate([drafts, np.full((rows, 1), -1)], 1)
        tokens[np.arange(rows), accepted] = token
        tokens = np.where(np.arange(length + 1) <= accepted[:, None], tokens, -1)
        if shared == "results" and all((array == array[:1]).all() for array in (p, q, drafts)):
            tokens[1::2] = tokens[: 2 * (rows // 2) : 2]
        return tokens

    return verify


@pytest.mark.parametrize(
    ("shared", "place", "fewest"), [("coins", "first", 1), ("picks", "last", 1), ("picks", "last", 2)]
)
def test_rows_that_share_numbers_are_refuted(shared: str, place: str, fewest: int) -> None:
    verdict = draftproof.check(batched(shared), tier="edge", fewest_drafts=fewest, **FEW)
    (finding,) = verdict.failures
    assert (finding.check, finding.tier) == ("independent_rows", "edge")
    assert f"64 rows with equal inputs have equal {place} tokens in each of 16 calls" in finding.evidence
    assert verdict.status == "failed"


def test_shared_numbers_are_named_where_trials_show_them_too() -> None:
    """Trials count as independent, so that the sampled tier refutes the function as well."""
    found = draftproof.check(batched("coins"), **FEW)
    assert {"edge", "sampled"} <= {one.tier for one in found.failures}, str(found)
    assert any(one.check == "independent_rows" for one in found.failures), str(found)


def test_results_that_are_copied_from_equal_rows_are_refuted() -> None:
    (finding,) = draftproof.check(batched("results"), tier="edge", **FEW).failures
    assert finding.check == "independent_rows"
    assert "of 64 rows with equal inputs, 32 have in each of 16 calls the first token of a row" in finding.evidence


def test_unscripted_rows_that_share_numbers_are_refuted() -> None:
    # The trials of a batch have equal results, so the sampled tier may have seen other distributions before.
    verdict = draftproof.check(batched("coins"), tier="sampled", scripted=False, **FEW)
    assert verdict.status == "failed"


def test_a_check_that_ends_before_the_rows_are_compared_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(subject: Subject, deadline: Deadline) -> None:
        deadline.over = "time limit"
        raise Ended(deadline.over)

    monkeypatch.setattr(gate, "check_independent_rows", ended)
    verdict = draftproof.check(batched(""), tier="edge", **FEW)
    assert verdict.status == "undecided" and "time limit" in str(verdict)


def test_rows_with_numbers_of_their_own_pass() -> None:
    verdict = draftproof.check(batched(""), tier="edge", **FEW)
    assert verdict.status == "passed"
    (finding,) = [one for one in verdict.findings if one.check == "independent_rows"]
    assert finding.status == "passed"


def test_block_verification_repeats_its_likeliest_first_token() -> None:
    def of_a_row(p: Any, q: Any, drafts: list[int], rng: Any) -> list[int]:
        weights, kept = [1.0], 0
        for i, x in enumerate(drafts):
            weights.append(min(1.0, weights[-1] * p[i, x] / q[i, x]))
        for i in range(1, len(drafts) + 1):
            rest = np.maximum(weights[i] * p[i] - q[i], 0).sum() if i < len(drafts) else weights[i]
            kept = i if rng.random() * (rest + 1 - weights[i] if i < len(drafts) else 1) < rest else kept
        row = p[kept] if kept == len(drafts) else np.maximum(weights[kept] * p[kept] - q[kept], 0)
        row = row if row.any() else p[kept]
        return [*drafts[:kept], int(rng.choice(len(row), p=row / row.sum()))]

    def block(p: Any, q: Any, drafts: Any, rng: Any) -> Any:
        tokens = np.full((len(drafts), drafts.shape[1] + 1), -1)
        for b, row in enumerate(drafts.tolist()):
            found = of_a_row(p[b].astype(float), q[b].astype(float), row, rng)
            tokens[b, : len(found)] = found
        return tokens

    verdict = draftproof.check(block, tier="edge", arrays="numpy", fewest_drafts=4, most_drafts=4, **FEW)
    assert verdict.status == "passed", str(verdict)


def test_a_function_without_random_numbers_is_not_judged_by_its_equal_rows() -> None:
    def greedy(p: Any, q: Any, drafts: Any) -> Any:
        accepted = (p[:, :-1].argmax(2) == drafts).cumprod(1).sum(1)
        tokens = np.where(np.arange(drafts.shape[1] + 1) <= accepted[:, None], p.argmax(2), -1)
        return tokens

    verdict = draftproof.check(greedy, tier=("proof", "edge"), greedy="first", **FEW)
    assert verdict.status == "passed"
    assert "independent_rows" not in [one.check for one in verdict.findings]


def test_a_constant_seed_is_noted_and_not_refuted_by_equal_rows() -> None:
    def verify(p: Any, q: Any, drafts: Any) -> Any:
        return batched("")(p, q, drafts, np.random.default_rng(3))

    failures = draftproof.check(verify, tier="edge", **FEW).failures
    assert "independent_rows" not in [finding.check for finding in failures]
