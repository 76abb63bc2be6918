"""Tests of whole engines whose requests have different settings: temperature, truncations, penalties, bias, stops."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import draftproof

EVERY = ("temperature", "top_k", "top_p", "min_p", "repetition_penalty", "presence_penalty", "frequency_penalty",
         "logit_bias", "min_tokens", "stop")  # fmt: skip
END = 5
# Each fault, and the settings under which it changes the distribution.
WRONG = {
    "counts keep rejected drafts": ("frequency_penalty",),
    "drafts of a step do not count": ("presence_penalty", "frequency_penalty"),
    "counts of the slot before": ("frequency_penalty",),
    "counts have the prompt": ("presence_penalty",),
    "repetition without the prompt": ("repetition_penalty",),
    "settings of the first request": ("temperature",),
    "settings of a neighbour": ("temperature", "top_k"),
    "bonus without settings": ("min_p",),
    "temperature after the truncation": ("temperature", "top_p"),
    "bias of the draft alone": ("logit_bias",),
    "least length at the end of a step": ("min_tokens",),
    "end is the last token of a step": ("stop",),
    "stop within a step alone": ("stop",),
    "stop of at most two tokens": ("stop",),
    "bias of one token": ("logit_bias",),
}


@dataclass
class Request:
    number: int
    prompt: list[int]
    length: int
    settings: dict[str, Any]
    text: list[int] = field(default_factory=list)
    counts: Counter[int] = field(default_factory=Counter)


def target_row(row: list[float], request: Request, counts: Counter[int], written: int, fault: str) -> list[float]:
    """Returns the row of probabilities under the settings of a request. `counts` has the number of each token in its
    text so far, and `written` the length of this text."""
    given = request.settings
    seen = set(counts) | (set() if fault == "repetition without the prompt" else set(request.prompt))
    logits = [math.log(p) if p > 0 else -math.inf for p in row]
    for x in range(len(row)):
        if x in seen:
            logits[x] *= given.get("repetition_penalty", 1.0)
        if counts[x]:
            logits[x] -= given.get("presence_penalty", 0.0) + given.get("frequency_penalty", 0.0) * counts[x]
    biases = list(given.get("logit_bias", {}).items())
    for x, bias in biases[: {"bias of the draft alone": 0, "bias of one token": 1}.get(fault)]:
        logits[x] += bias
    if written < given.get("min_tokens", 0):
        logits[END] = -math.inf
    cold = [logit / (1.0 if fault == "temperature after the truncation" else given.get("temperature", 1.0))
            for logit in logits]  # fmt: skip
    weights = [math.exp(logit) for logit in cold]
    order = sorted(range(len(row)), key=lambda x: -weights[x])
    kept = order[: given.get("top_k", 0) or None]
    mass, total = 0.0, sum(weights)
    for n, x in enumerate(order):
        if mass >= given.get("top_p", 1.0) * total and given.get("top_p", 1.0) < 1:
            kept = [y for y in kept if y in order[:n]]
            break
        mass += weights[x]
    kept = [x for x in kept if weights[x] >= given.get("min_p", 0.0) * max(weights)]
    if fault == "temperature after the truncation":
        weights = [weight ** (1 / given.get("temperature", 1.0)) for weight in weights]
    weights = [weight if x in kept else 0.0 for x, weight in enumerate(weights)]
    return [weight / sum(weights) for weight in weights]


def engine(slots: int, fault: str = "", preempts: bool = False) -> Callable[..., list[list[int]]]:
    """Returns an engine with token verification of chains by rows under settings. A request's counts of tokens persist
    across steps.
    """

    def generate(target: Any, proposal: Any, prompts: Any, lengths: Any, drafts: int, settings: Any) -> list[list[int]]:
        p_of, q_of, every = target.rows.tolist(), proposal.rows.tolist(), range(target.vocabulary)
        given = [settings[0]] * len(prompts) if fault == "settings of the first request" else settings
        waiting = [Request(i, *of) for i, of in enumerate(zip(prompts, lengths, given, strict=True))]
        running: list[Request] = []
        done: dict[int, list[int]] = {}
        preempted, left = preempts, Counter[int]()
        while waiting or running:
            while waiting and len(running) < slots:
                running.append(waiting.pop(0))
                request = running[-1]
                if fault == "counts have the prompt":
                    request.counts = Counter(request.prompt)
                if fault == "counts of the slot before":
                    request.counts = left.copy()
            for at, request in enumerate(list(running)):
                rules = running[at - 1] if fault == "settings of a neighbour" and at < len(running) else request
                state = target.state(request.prompt + request.text)
                counts, step, found = request.counts.copy(), [], []
                for _ in range(drafts):
                    found += random.choices(every, q_of[proposal.state(found, state)])
                start = len(request.text)
                for i, x in enumerate([*found, -1]):
                    at_end = fault == "least length at the end of a step"
                    at_start = fault == "least length at the start of a step"
                    rows = Request(0, request.prompt, 0, rules.settings)
                    written = start + (len(found) if at_end else 0 if at_start else i)
                    p = target_row(p_of[state], rows, counts, written, fault)
                    if x < 0:
                        p = p_of[state] if fault.startswith("bonus without settings") else p
                        step += random.choices(every, p)
                        break
                    q = q_of[proposal.state(found[:i], target.state(request.prompt + request.text))]
                    if not random.random() * q[x] < p[x]:
                        rest = [max(a - b, 0.0) for a, b in zip(p, q, strict=True)]
                        step += random.choices(every, rest if any(rest) else p)
                        break
                    step.append(x)
                    state = target.state([x], state)
                    if fault != "drafts of a step do not count":
                        counts[x] += 1
                request.counts += Counter(found + step[-1:] if fault == "counts keep rejected drafts" else step)
                stop, before = list(request.settings.get("stop", [])), len(request.text)
                for i, x in enumerate(step):
                    request.text.append(x)
                    if fault == "stop of at most two tokens":
                        stop = stop[-2:]
                    tail = request.text[before if fault == "stop within a step alone" else 0 :][-len(stop) :]
                    ended = x == END or (bool(stop) and tail == stop)
                    late = fault == "end is the last token of a step" and x != END and i + 1 < len(step)
                    if (ended and not late) or len(request.text) == request.length:
                        done[request.number] = request.text
                        running.remove(request)
                        left = request.counts
                        break
            if preempted and len(done) == 1 and running:
                waiting.append(running.pop())
                preempted = False
        return [done[i] for i in range(len(prompts))]

    return generate


def check(fn: Any, settings: Any, **given: Any) -> Any:
    return draftproof.check(
        None, generate=fn, requests=True, settings=settings, end_tokens=[END], raises=False, **given
    )


@pytest.mark.parametrize(
    ("slots", "preempts"), [(3, True), *(pytest.param(n, False, marks=pytest.mark.nightly) for n in (1, 8))]
)
def test_right_engines_pass(slots: int, preempts: bool, in_a_folder: Path) -> None:
    verdict = check(engine(slots, preempts=preempts), EVERY)
    assert verdict.status == "passed", str(verdict)


def test_no_stop_sequence_can_begin_in_a_prompt(in_a_folder: Path) -> None:
    stops = set()

    def generate(target: Any, proposal: Any, prompts: Any, lengths: Any, drafts: int, settings: Any) -> Any:
        for prompt, given in zip(prompts, settings, strict=True):
            stop = list(given["stop"])
            stops.add(len(stop))
            assert not any(list(prompt[-n:]) == stop[:n] for n in range(1, len(stop) + 1))
        return engine(3)(target, proposal, prompts, lengths, drafts, settings)

    assert check(generate, "stop").status == "passed"
    assert stops == {0, 1, 2, 3, 4}


@pytest.mark.parametrize("fault", WRONG)
def test_wrong_engines_are_found(fault: str, in_a_folder: Path) -> None:
    verdict = check(engine(3, fault), WRONG[fault])
    assert verdict.status == "failed", str(verdict)


@pytest.mark.parametrize(
    ("fault", "settings"),
    [
        ("least length at the start of a step", "min_tokens"),
        pytest.param("bonus without settings, one temperature", "temperature", marks=pytest.mark.nightly),
    ],
)
def test_faults_of_few_tokens_are_found_by_more_texts(fault: str, settings: str, in_a_folder: Path) -> None:
    verdict = check(engine(3, fault), settings, profile="pr")
    assert verdict.status == "failed", str(verdict)


def test_findings_name_the_settings_of_the_request(in_a_folder: Path) -> None:
    said = str(check(engine(3, "end is the last token of a step"), "stop"))
    assert "follows the stop sequence (" in said and "with stop (" in said


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(ValueError, match=r"settings: got 'stop', expected some of temperature, top_k, top_p, min_p$"):
        draftproof.check(lambda p, q, drafts: [0], settings="stop")
    with pytest.raises(ValueError, match=r"got no fn, expected a verifier that applies them, or"):
        draftproof.check(None, generate=lambda *_: [], settings="temperature")
