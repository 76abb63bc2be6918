"""Errors name the random numbers that no tape replaces, and races are found in each form that functions use."""

from __future__ import annotations

import math
import os
import random
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from numpy_chain import right

import draftproof
from draftproof.deadline import Ended

FEW: dict[str, Any] = {"models": 5, "predictions": 32, "keep": False, "raises": False}
Pick = Callable[[Any], int]


def chain(p: Any, q: Any, drafts: Any, coin: Callable[[], float], pick: Pick) -> list[int]:
    for i, x in enumerate(drafts):
        if coin() * q[i, x] < p[i, x]:
            continue
        residual = np.maximum(p[i].astype(float) - q[i], 0)
        return [*drafts[:i], pick(residual if residual.any() else p[i].astype(float))]
    return [*drafts, pick(p[len(drafts)].astype(float))]


def inverted(w: Any, u: float) -> int:
    sums = np.cumsum(w)
    return int(np.searchsorted(sums, u * sums[-1], side="right"))


def by_operating_system(p: Any, q: Any, drafts: Any) -> list[int]:
    def uniform() -> float:
        return float((int.from_bytes(os.urandom(8), "big") >> 11) / 2**53)

    return chain(p, q, drafts, uniform, lambda w: inverted(w, uniform()))


def by_bits(p: Any, q: Any, drafts: Any) -> list[int]:
    bits = np.random.PCG64()

    def uniform() -> float:
        return float((int(bits.random_raw()) >> 11) / 2**53)

    return chain(p, q, drafts, uniform, lambda w: inverted(w, uniform()))


pool = ThreadPoolExecutor(1)


def in_a_thread(p: Any, q: Any, drafts: Any) -> list[int]:
    def uniform() -> float:
        return float(pool.submit(random.random).result())

    return chain(p, q, drafts, uniform, lambda w: inverted(w, uniform()))


class Distribution:
    """Holds the generator behind numpy.random, as a distribution of scipy.stats does."""

    def __init__(self) -> None:
        self.random_state: Any = np.random.mtrand._rand

    @property
    def held(self) -> Any:
        return self.random_state


# An object of a library, whose attributes are not searched for generators.
Distribution.__module__ = "scipy.stats"
uniform_distribution = Distribution()


def by_a_held_generator(p: Any, q: Any, drafts: Any) -> list[int]:
    def uniform() -> float:
        return float(uniform_distribution.held.uniform())

    return chain(p, q, drafts, uniform, lambda w: inverted(w, uniform()))


@pytest.mark.parametrize(
    ("fn", "source"),
    [
        (by_operating_system, "os.urandom"),
        (by_bits, "random_raw"),
        (in_a_thread, "another thread"),
        (by_a_held_generator, "behind numpy.random"),
    ],
)
def test_sources_that_no_tape_replaces_are_named_and_not_refuted(fn: Any, source: str) -> None:
    for tier in ("proof", "edge"):
        with pytest.raises(draftproof.UnknownRandomness, match=source):
            draftproof.check(fn, tier=tier, **FEW)
    assert draftproof.check(fn, tier="sampled", keep=False).status == "passed"


def test_the_generator_behind_numpys_functions_is_replaced_where_a_call_reads_it() -> None:
    def verify(p: Any, q: Any, drafts: Any) -> list[int]:
        return right(p, q, drafts, np.random.mtrand._rand)  # as scipy.stats.rv_discrete(..).rvs() in the call does

    before = np.random.mtrand._rand
    assert draftproof.check(verify, tier=("proof", "edge"), **FEW).status == "passed"
    assert np.random.mtrand._rand is before


def test_the_states_of_generators_are_as_before_a_check() -> None:
    random.seed(5)
    np.random.seed(5)
    wanted = random.random(), np.random.random()
    random.seed(5)
    np.random.seed(5)
    with pytest.raises(draftproof.UnknownRandomness, match=r"os\.urandom"):
        draftproof.check(by_operating_system, tier="proof", **FEW)
    assert (random.random(), np.random.random()) == wanted


def test_numbers_that_are_kept_between_calls_are_told_as_such() -> None:
    kept: list[float] = []

    def verify(p: Any, q: Any, drafts: Any) -> list[int]:
        def uniform() -> float:
            if not kept:
                kept.extend(np.random.random(64).tolist())
            return kept.pop()

        return chain(p, q, drafts, uniform, lambda w: inverted(w, uniform()))

    (finding,) = draftproof.check(verify, tier="proof", **FEW).failures
    assert finding.check == "function"
    assert "equal calls have different results" in finding.evidence
    assert "something is kept between calls" in finding.evidence


def test_other_uses_of_the_operating_systems_numbers_are_no_fault() -> None:
    def verify(p: Any, q: Any, drafts: Any, rng: Any) -> list[int]:
        assert uuid.uuid4()
        return right(p, q, drafts, rng)

    assert draftproof.check(verify, tier="proof", **FEW).status == "passed"


@pytest.mark.parametrize("checked", ["function", "row_alone"])
def test_a_fault_beside_such_a_source_stays_a_fault(checked: str) -> None:
    calls = [0]

    def of_calls(p: Any, q: Any, drafts: Any, rng: Any) -> list[int]:
        assert uuid.uuid4()
        calls[0] += 1
        return right(p, q, drafts, rng)[: 1 + calls[0] % 2]

    def of_rows(p: Any, q: Any, drafts: Any, lengths: Any) -> list[list[int]]:
        assert uuid.uuid4()
        return [[0 if len(p) > 1 else 1]] * len(p)

    fn, tier = (of_calls, "proof") if checked == "function" else (of_rows, "edge")
    verdict = draftproof.check(fn, tier=tier, batched=checked == "row_alone", arrays="numpy", **FEW)
    assert checked in [finding.check for finding in verdict.failures]


def rest_of_one(w: Any, rng: Any) -> Any:
    return -np.log(1 - rng.random(len(w)))


def log1p(w: Any, rng: Any) -> Any:
    return -np.log1p(-rng.random(len(w)))


def of_u(w: Any, rng: Any) -> Any:
    return -np.log(np.maximum(rng.random(len(w)), 1e-300))


def narrow(w: Any, rng: Any) -> Any:
    return -np.log1p(-rng.random(len(w), dtype=np.float32)).astype(float)


def race(clocks: Callable[[Any, Any], Any], power: float = 1.0) -> Callable[..., list[int]]:
    def verify(p: Any, q: Any, drafts: Any, rng: Any) -> list[int]:
        def pick(w: Any) -> int:
            with np.errstate(divide="ignore", invalid="ignore"):
                return int(np.where(w > 0, clocks(w, rng) / w**power, math.inf).argmin())

        return chain(p, q, drafts, rng.random, pick)

    return verify


@pytest.mark.parametrize(
    "clocks", [rest_of_one, *(pytest.param(one, marks=pytest.mark.nightly) for one in (log1p, of_u, narrow))]
)
def test_exponential_races_are_found_in_either_form(clocks: Any) -> None:
    assert draftproof.check(race(clocks), tier="proof", **FEW).status == "passed"
    wrong = draftproof.check(race(clocks, 0.9), tier="proof", **FEW)
    assert "exact_distribution" in [finding.check for finding in wrong.failures]


def test_races_of_a_position_and_of_a_residual_alone() -> None:
    def raced(p: Any, q: Any, rng: Any) -> int:
        residual = np.maximum(p.astype(float) - q, 0)
        weights = residual if residual.any() else p.astype(float)
        with np.errstate(divide="ignore", invalid="ignore"):
            return int(np.where(weights > 0, log1p(weights, rng) / weights, math.inf).argmin())

    def position(p: Any, q: Any, drafts: Any, rng: Any) -> int:
        x = int(drafts[0])
        return x if rng.random() * q[x] < p[x] else raced(p, q, rng)

    def residual_alone(p: Any, q: Any, drafts: Any, rng: Any) -> list[int]:
        x = int(drafts[0])
        if rng.random() * q[0, x] < p[0, x]:
            return [x, inverted(p[1].astype(float), rng.random())]
        return [raced(p[0], q[0], rng)]

    for fn, declared in ((position, {"level": "position", "most_drafts": 1}), (residual_alone, {"most_drafts": 1})):
        verdict = draftproof.check(fn, tier="proof", **FEW, **declared)  # type: ignore[arg-type]
        assert verdict.status == "passed", str(verdict)


def test_the_time_may_end_before_the_form_of_races_is_known() -> None:
    def slow(p: Any, q: Any, drafts: Any, rng: Any) -> list[int]:
        time.sleep(0.2)
        return race(log1p)(p, q, drafts, rng)

    assert draftproof.check(slow, time_limit=0.5, **FEW).status == "undecided"
    with pytest.raises(Ended):
        draftproof.distribution(slow, [[0.5, 0.5]] * 2, [[0.5, 0.5]], [0], time_limit=0.1, races=True)


def test_as_many_numbers_as_tokens_that_are_no_race() -> None:
    def verify(p: Any, q: Any, drafts: Any, rng: Any) -> list[int]:
        u = rng.random(q.shape)[range(len(drafts)), drafts].tolist()
        return chain(p, q, drafts, lambda: u.pop(0), lambda w: inverted(w, rng.random()))

    assert draftproof.check(verify, tier="proof", **FEW).status == "passed"


@pytest.mark.parametrize("scaled_below", [pytest.param(9.0, marks=pytest.mark.nightly), 0.999])
def test_running_sums_that_end_below_one_emit_a_last_token_without_mass(scaled_below: float) -> None:
    def verify(p: Any, q: Any, drafts: Any, rng: Any) -> list[int]:
        def pick(w: Any) -> int:
            total = w.sum(dtype=np.float32)
            sums = np.cumsum(w / total if total < scaled_below else w, dtype=np.float32)
            return min(int(np.searchsorted(sums, rng.random(dtype=np.float32), side="right")), len(w) - 1)

        for i, x in enumerate(drafts):
            if rng.random() * q[i, x] < p[i, x]:
                continue
            residual = np.maximum(p[i] - q[i], 0)
            return [*drafts[:i], pick(residual if residual.any() else p[i])]
        return [*drafts, pick(p[len(drafts)])]

    verdict = draftproof.check(verify, tier="proof", predictions=32, keep=False, raises=False)
    assert "zero_support" in [finding.check for finding in verdict.failures]
