"""Tests of requests of temperature 0 beside requests that draw, on right and wrong verifiers, batches and engines."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import draftproof

Row = Sequence[float]
FEW: dict[str, Any] = {"settings": ("temperature",), "greedy": "first", "keep": False, "raises": False}


def likeliest(row: Row, last: bool = False) -> list[float]:
    at = [x for x, p in enumerate(row) if p == max(row)][-1 if last else 0]
    return [float(x == at) for x in range(len(row))]


def at_temperature(row: Row, temperature: float, fault: str = "") -> list[float]:
    if temperature == 0 and fault != "a low temperature":
        return likeliest(row, last=fault == "last of equal ones")
    weights = [p ** (1 / (temperature or 0.1)) for p in row]
    return [weight / sum(weights) for weight in weights]


def drawn(weights: Row, u: float) -> int:
    sums = np.cumsum(weights)  # sum() may be larger than the last of them: since Python 3.12 it is compensated
    return int(np.searchsorted(sums, u * sums[-1], side="right"))


def verified(
    found: Sequence[int], p_of: Callable[[int], Row], q_of: Callable[[int], Row], t: float, uniforms: Row, fault: str
) -> list[int]:
    """Returns the tokens of one request by token verification: p_of(i) is the target's row after i drafts, uniforms
    [L + 1].
    """
    for i, x in enumerate(found):
        p, q = at_temperature(p_of(i), t, fault), q_of(i)
        tested = p_of(i) if fault == "drafts tested as drawn" and t == 0 else p
        if uniforms[i] * q[x] < tested[x]:
            continue
        rest = [max(a - b, 0.0) for a, b in zip(p, q, strict=True)]
        return [*found[:i], drawn(rest if any(rest) else p, uniforms[-1])]
    row = p_of(len(found))
    return [*found, drawn(row if fault == "bonus is drawn" and t == 0 else at_temperature(row, t, fault), uniforms[-1])]


def chain(fault: str = "") -> Callable[..., list[int]]:
    def verify(p: Any, q: Any, drafts: Any, temperature: float) -> list[int]:
        u = np.random.random(len(p)).tolist()
        return verified(drafts.tolist(), lambda i: p[i].tolist(), lambda i: q[i].tolist(), temperature, u, fault)

    return verify


def batch(fault: str = "") -> Callable[..., list[list[int]]]:
    def verify(p: Any, q: Any, drafts: Any, lengths: Any, temperature: Any) -> list[list[int]]:
        given = temperature.copy()
        if fault == "greedy if all are":
            given[temperature == 0] = 0 if (temperature == 0).all() else 1
        if fault == "greedy if the first is":
            given = np.where(temperature[0] == 0, 0, np.where(temperature == 0, 1, temperature))
        coins, last = np.random.random(drafts.shape).tolist(), np.random.random(len(p)).tolist()
        return [
            verified(x[:n].tolist(), lambda i, a=a: a[i].tolist(), lambda i, b=b: b[i].tolist(), t, [*u[:n], v], "")
            for a, b, x, n, t, u, v in zip(p, q, drafts, lengths.tolist(), given.tolist(), coins, last, strict=True)
        ]

    return verify


def engine(fault: str = "") -> Callable[..., list[list[int]]]:
    def generate(target: Any, proposal: Any, prompts: Any, lengths: Any, drafts: int, settings: Any) -> list[list[int]]:
        temperatures = [one["temperature"] for one in settings]
        if fault == "greedy if the first is":
            temperatures = [0 if temperatures[0] == 0 else t or 1 for t in temperatures]
        texts = []
        for prompt, length, t in zip(prompts, lengths, temperatures, strict=True):
            text: list[int] = []
            while len(text) < length:
                state, found = target.state(prompt + text), list[int]()
                for _ in range(drafts):
                    found += random.choices(range(target.vocabulary), proposal.rows[proposal.state(found, state)])
                rows = [(model.rows[model.state(found[:i], state)]).tolist()
                        for model in (target, proposal) for i in range(drafts + 1)]  # fmt: skip
                u = [random.random() for _ in range(drafts + 1)]
                text += verified(found, rows.__getitem__, lambda i, rows=rows: rows[drafts + 1 + i], t, u, fault)
            texts.append(text[:length])
        return texts

    return generate


@pytest.mark.parametrize(("fn", "batched"), [(chain(), False), (batch(), True)])
def test_right_verifiers_pass(fn: Any, batched: bool) -> None:
    verdict = draftproof.check(fn, batched=batched, arrays="numpy", **FEW)
    assert verdict.status == "passed", str(verdict)


WRONG = ["a low temperature", "last of equal ones", "drafts tested as drawn", "bonus is drawn"]


@pytest.mark.parametrize("fault", WRONG)
def test_wrong_verifiers_fail(fault: str) -> None:
    verdict = draftproof.check(chain(fault), arrays="numpy", tier="proof", **FEW)
    assert verdict.status == "failed"
    assert "temperature 0" in str(verdict)


@pytest.mark.parametrize("fault", ["greedy if all are", "greedy if the first is"])
def test_a_neighbour_does_not_decide_who_is_greedy(fault: str) -> None:
    verdict = draftproof.check(batch(fault), arrays="numpy", batched=True, tier="edge", **FEW)
    assert verdict.status == "failed", str(verdict)


@pytest.mark.parametrize("seed", [1, *(pytest.param(n, marks=pytest.mark.nightly) for n in (2, 3))])
def test_a_right_engine_passes(seed: int) -> None:
    verdict = draftproof.check(None, generate=engine(), requests=True, seed=seed, **FEW)
    assert verdict.status == "passed", str(verdict)


@pytest.mark.parametrize("fault", [*(w for w in WRONG if w != "last of equal ones"), "greedy if the first is"])
def test_wrong_engines_fail(fault: str) -> None:
    verdict = draftproof.check(None, generate=engine(fault), requests=True, **FEW)
    assert verdict.status == "failed", str(verdict)


def greedy_engine(compared: str) -> Callable[..., list[list[int]]]:
    """Returns an engine without drafts, whose requests of temperature 0 take the largest entry of rows in a type."""

    def generate(target: Any, proposal: Any, prompts: Any, lengths: Any, drafts: int, settings: Any) -> list[list[int]]:
        texts = []
        for prompt, length, given in zip(prompts, lengths, settings, strict=True):
            text: list[int] = []
            while len(text) < length:
                row = target.rows[target.state(prompt + text)]
                if given["temperature"] == 0:
                    text.append(int(row.astype(compared).argmax()))
                    continue
                weights = row ** (1 / given["temperature"])
                kept = weights * (weights >= given.get("min_p", 0.0) * weights.max())
                kept[np.argsort(-row)[given["top_k"] or len(row) :]] = 0
                text.append(drawn(kept.tolist(), random.random()))
            texts.append(text)
        return texts

    return generate


@pytest.mark.parametrize("settings", [("temperature", "top_k"), ("temperature", "top_k", "min_p")])
@pytest.mark.parametrize(("compared", "status"), [("float32", "passed"), ("float16", "failed")])
def test_an_engine_with_an_argmax_in_half_precision_fails(settings: Any, compared: str, status: str) -> None:
    given = {**FEW, "settings": settings}
    verdict = draftproof.check(None, generate=greedy_engine(compared), requests=True, **given)
    assert verdict.status == status, str(verdict)
    if status == "failed":
        found = re.search(r"is not the likeliest: p = (\S+), and token \d+ has p = ([^ ;]+)", str(verdict))
        assert found, str(verdict)
        emitted, largest = map(float, found.groups())
        assert largest > emitted > largest * (1 - 2**-14)


def near_tied(compared: str, last: bool = False, **more: Any) -> Any:
    """Returns the verdict on a greedy chain that takes the largest entry of rows in a type."""

    def verify(p: Any, q: Any, drafts: Any, **settings: Any) -> list[int]:
        rows = p.astype(compared)
        best = [int(row.argmax()) if not last else len(row) - 1 - int(row[::-1].argmax()) for row in rows]
        n = next((i for i, x in enumerate(drafts.tolist()) if x != best[i]), len(drafts))
        return best[: n + 1]

    given = {"arrays": "numpy", "keep": False, "raises": False, "tier": "proof", **more}
    return draftproof.check(verify, greedy="last" if last else "first", **given)


@pytest.mark.parametrize("more", [{}, {"logits": True}, {"dtype": "float64"}, {"most_vocabulary": 2}])
@pytest.mark.parametrize("last", [False, True])
def test_an_argmax_in_half_precision_fails(last: bool, more: dict[str, Any]) -> None:
    assert near_tied("float16", last, **more).status == "failed"
    assert near_tied(more.get("dtype", "float32"), last, **more).status == "passed"


def test_rows_in_half_precision_may_be_compared_in_it() -> None:
    assert near_tied("float16", dtype="float16").status == "passed"


@pytest.mark.parametrize("fault", ["drafts tested as drawn", "bonus is drawn"])
def test_counterexamples_of_temperature_zero_are_small_and_replayed(fault: str) -> None:
    verdict = draftproof.check(chain(fault), arrays="numpy", tier="proof", **FEW)
    found = verdict.failures[0].counterexample
    assert found.startswith("L=1 K=1 [] p=(1 1)/2 q=("), found
    said = draftproof.replay(chain(fault), found, arrays="numpy", settings=("temperature",), greedy="first")
    assert "failed" in said and "temperature 0" in said
