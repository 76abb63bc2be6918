"""Tests of steps that draft inside: the models are objects, and the draws of the drafter are scripted, too."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import draftproof
from draftproof.models import StateModel, of_models

WRONG = (
    "residual is the target",
    "rejected draft stays in the cache",
    "drafts at temperature 2, verified at 1",
    "the coin is not drawn again",
    "ratio of the next position",
    "bonus from the proposal",
    "stops at a likely draft",
)


def step(fault: str = "", drafter: str = "model") -> Callable[..., list[int]]:
    """Returns a step that drafts a chain and verifies it token by token. The drafts are drawn from the proposal or are
    its likeliest tokens. The chain may stop before a flat proposal row. This is right, because the decision to stop
    depends only on drafts that are in the chain."""

    def fused(target: StateModel, proposal: StateModel, drafts: int) -> list[int]:
        every = range(target.vocabulary)
        context, found, q_rows = 0, [], []
        coin = random.random()
        for _ in range(drafts):
            row = proposal.rows[context].tolist()
            if drafter == "likeliest":
                found.append(int(np.argmax(row)))
                row = [float(x == found[-1]) for x in every]
            elif fault == "drafts at temperature 2, verified at 1":
                found += random.choices(every, [q**0.5 for q in row])
            else:
                found += random.choices(every, row)
            q_rows.append(row)
            context = proposal.state(found[-1:], context)
            if fault == "stops at a likely draft" and row[found[-1]] > 0.6:
                found.pop()
                break
            if drafter == "stops before a flat row" and max(proposal.rows[context]) < 0.6:
                break
        state, emitted = 0, []
        for i, x in enumerate(found):
            p, q = target.rows[state].tolist(), q_rows[i]
            if fault == "ratio of the next position" and i + 1 < len(found):
                q = q_rows[i + 1]
            coin = coin if fault == "the coin is not drawn again" else random.random()
            if coin * q[x] < p[x]:
                emitted.append(x)
                state = target.state([x], state)
                continue
            rest = [max(a - b, 0.0) for a, b in zip(p, q, strict=True)]
            if fault == "rejected draft stays in the cache" and i > 0:
                rest = target.rows[target.state([x], state)].tolist()
            return emitted + random.choices(every, p if fault == "residual is the target" or not any(rest) else rest)
        last = proposal.rows[context] if fault == "bonus from the proposal" else target.rows[state]
        return emitted + random.choices(every, last.tolist())

    return fused


@pytest.mark.parametrize("drafter", ["model", "likeliest", "stops before a flat row"])
def test_right_steps_pass(drafter: str, in_a_folder: Path) -> None:
    verdict = draftproof.check(None, step=step(drafter=drafter), raises=False)
    assert verdict.status == "passed", str(verdict)
    assert [tier.status for tier in verdict.tiers] == ["passed", "passed", "skipped"]


@pytest.mark.parametrize("fault", [pytest.param(WRONG[3], marks=pytest.mark.nightly), *WRONG[:3], *WRONG[4:]])
def test_wrong_steps_are_refuted(fault: str, in_a_folder: Path) -> None:
    verdict = draftproof.check(None, step=step(fault), raises=False, tier="proof")
    assert verdict.status == "failed"
    assert "draftproof.replay(None, " in str(verdict) and ", step=fused)" in str(verdict)
    assert "failed" in draftproof.replay(None, verdict.failures[0].counterexample, step=step(fault))


def test_steps_in_torch_and_with_generators(in_a_folder: Path) -> None:
    torch = pytest.importorskip("torch")

    def drawn(target: Any, proposal: Any, drafts: int, generator: Any) -> Any:
        state, found, q = 0, [], []
        for _ in range(drafts):
            q.append(proposal.rows[state])
            found.append(int(torch.multinomial(q[-1], 1, generator=generator)))
            state = proposal.state(found[-1:], state)
        rows = target.rows_after(found)
        for i, x in enumerate(found):
            if not torch.rand((), generator=generator) * q[i][x] < rows[i][x]:
                rest = (rows[i] - q[i]).clamp(min=0)
                weights = rest if rest.sum() > 0 else rows[i]
                return [*found[:i], int(torch.multinomial(weights, 1, generator=generator))]
        return [*found, int(torch.multinomial(rows[-1], 1, generator=generator))]

    assert draftproof.check(None, step=drawn, raises=False).status == "passed"


def test_the_models_are_every_prefix() -> None:
    seen: list[tuple[StateModel, StateModel, int]] = []
    of_models(lambda *given: seen.append(given), "seen")(np.ones((15, 2)), np.ones((14, 2)), None, None)
    assert seen[0][2] == 3
    p, q = np.arange(39.0).reshape(13, 3), np.repeat(np.arange(4.0), 3)[:, None] * np.ones(3)
    of_models(lambda *given: seen.append(given), "seen")(p, q, None, None)
    target, proposal, drafts = seen[1]
    assert drafts == 2 and target.vocabulary == 3
    assert target.state([1]) == 2 and target.state([1, 2]) == 9
    assert (target.rows_after([1, 2]) == p[[0, 2, 9]]).all()
    assert (proposal.rows_after([1, 0])[:, 0] == [0, 2, 0]).all()


GENERATOR = np.random.default_rng(0)


def test_generators_of_a_step_are_found() -> None:
    def drawn(target: StateModel, proposal: StateModel, drafts: int) -> list[int]:
        return [int(GENERATOR.integers(2))]

    with pytest.raises(ValueError, match="expected random numbers that can be replaced"):
        draftproof.adapter(None, step=drawn)


def test_steps_cannot_change_the_models_of_later_calls(in_a_folder: Path) -> None:
    def writes(target: StateModel, proposal: StateModel, drafts: int) -> list[int]:
        target.next[0, 0] = 0
        return [0]

    with pytest.raises(draftproof.FunctionFailed, match="read-only"):
        draftproof.check(None, step=writes)


def test_functions_of_given_drafts_refuse_a_step() -> None:
    with pytest.raises(ValueError, match="distribution: got a step"):
        draftproof.distribution(None, np.ones((2, 2)) / 2, [0.5, 0.5], [0], step=step())
    with pytest.raises(ValueError, match="acceptance: got a step"):
        draftproof.acceptance(draftproof.adapter(None, step=step()), "zipf:V=8")


def test_the_case_of_a_step_has_its_name() -> None:
    assert "fused" in str(draftproof.gates(None, step=step()).__doc__)


def test_a_step_is_declared_alone() -> None:
    for asked in ({"batched": True}, {"grammar": True}, {"draft": lambda q, K: [0]}, {"arrays": "list"}):
        with pytest.raises(ValueError, match="step: got"):
            draftproof.adapter(None, step=step(), **asked)
    for asked in ({"generate": step()}, {"most_drafts": 2}, {"level": "position"}):
        with pytest.raises(ValueError, match="step: got"):
            draftproof.adapter(None, step=step(), **asked)
    for wrong in ({"fn": lambda p, q, drafts: [0], "step": step()}, {"fn": None, "step": 5}):
        with pytest.raises(ValueError, match="step: got"):
            draftproof.adapter(**wrong)
    assert draftproof.adapter(None, step=partial(step())).declaration.name == "fused"


def test_a_step_may_draw_by_races() -> None:
    def fused(target: StateModel, proposal: StateModel, drafts: int) -> list[int]:
        def pick(row: Any) -> int:
            clocks = -np.log(np.maximum(np.random.random(len(row)), 1e-300))
            with np.errstate(divide="ignore"):
                return int(np.where(row > 0, clocks / row, np.inf).argmin())

        found = [pick(proposal.rows[0])]
        p, q = target.rows[0], proposal.rows[0]
        if random.random() * q[found[0]] < p[found[0]]:
            return [*found, pick(target.rows[target.state(found)])]
        residual = np.maximum(p - q, 0)
        return [pick(residual if residual.any() else p)]

    verdict = draftproof.check(None, step=fused, tier="proof", models=4, predictions=64, keep=False, raises=False)
    assert verdict.status == "passed", str(verdict)
