"""Tests of whole engines that serve several requests: slots filled again, prompts, preemption, ends and lengths."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import draftproof
from draftproof.models import StateModel

END = 2
WRONG_MASKS = (
    "no mask for the bonus",
    "mask of the start of the step",
    "grammar reads rejected drafts",
    "grammar skips accepted drafts",
    "grammar of the slot before",
    "forbidden drafts are removed",
)
WRONG = (
    "keeps rejected drafts",
    "slot is not reset",
    "reads the prompt twice",
    "loses the last token of the prompt",
    "resumes without the text",
    "states are not compacted",
    "drafts of a neighbour",
    "overruns the length",
)


@dataclass
class Request:
    number: int
    prompt: list[int]
    length: int
    text: list[int] = field(default_factory=list)


def engine(slots: int, fault: str = "", preempts: bool = False) -> Callable[..., list[list[int]]]:
    """Returns an engine with token verification of chains. A slot has a request, and the states of target and grammar,
    which serve as its cache.
    """

    def generate(
        target: Any, proposal: Any, prompts: Any, lengths: Any, drafts: int, grammar: Any = None
    ) -> list[list[int]]:
        p_of, q_of, every = target.rows.tolist(), proposal.rows.tolist(), range(target.vocabulary)
        waiting = [Request(i, prompt, length) for i, (prompt, length) in enumerate(zip(prompts, lengths, strict=True))]
        done: dict[int, list[int]] = {}
        running: list[Request | None] = [None] * slots
        states, masks = [0] * slots, [0] * slots
        preempted = preempts

        def masked(row: list[float], mask: int) -> list[float]:
            return row if grammar is None else [p if ok else 0.0 for p, ok in zip(row, grammar.rows[mask], strict=True)]

        def read(tokens: list[int], mask: int) -> int:
            return 0 if grammar is None else int(grammar.state(tokens, mask))

        while waiting or any(running):
            for at in range(slots):
                if running[at] is None and waiting:
                    request = running[at] = waiting.pop(0)
                    tokens = request.prompt + ([] if fault == "resumes without the text" else request.text)
                    tokens = tokens * 2 if fault == "reads the prompt twice" else tokens
                    tokens = tokens[:-1] if fault == "loses the last token of the prompt" else tokens
                    states[at] = target.state(tokens, states[at] if fault == "slot is not reset" else 0)
                    masks[at] = read(request.text, masks[at] if fault == "grammar of the slot before" else 0)
            for at, request in enumerate(running):
                if request is None:
                    continue
                q_state = states[(at + 1) % slots] if fault == "drafts of a neighbour" else states[at]
                context, q_context, mask, step, found = states[at], states[at], masks[at], [], []
                for _ in range(drafts):
                    found += random.choices(every, q_of[q_state])
                    q_state = proposal.state(found[-1:], q_state)
                    if fault == "forbidden drafts are removed" and not grammar.rows[read(found[:-1], mask)][found[-1]]:
                        found.pop()
                        break
                for x in found:
                    p, q = masked(p_of[context], mask), q_of[q_context]
                    if not random.random() * q[x] * sum(p) < p[x]:
                        rest = [max(a / sum(p) - b, 0.0) for a, b in zip(p, q, strict=True)]
                        step += random.choices(every, rest if any(rest) else p)
                        break
                    step.append(x)
                    context, q_context = target.state([x], context), proposal.state([x], q_context)
                    mask = mask if fault == "mask of the start of the step" else read([x], mask)
                else:
                    row = p_of[context]
                    step += random.choices(every, row if fault == "no mask for the bonus" else masked(row, mask))
                states[at] = target.state(
                    step[-1:] if fault == "keeps rejected drafts" else step,
                    target.state(found, states[at]) if fault == "keeps rejected drafts" else states[at],
                )
                text = found + step[-1:] if fault == "grammar reads rejected drafts" else step
                masks[at] = read(text[-1:] if fault == "grammar skips accepted drafts" else text, masks[at])
                request.text += step
                if len(request.text) >= request.length:
                    done[request.number] = request.text[: None if fault == "overruns the length" else request.length]
                    running[at] = None
            if preempted and len(done) == 1 and running[-1] is not None:
                waiting.append(running[-1])
                running[-1], preempted = None, False
            if fault == "states are not compacted":
                running.sort(key=lambda request: request is None)
        return [done[i] for i in range(len(prompts))]

    return generate


@pytest.mark.parametrize(("slots", "preempts"), [(1, False), (3, False), (8, True)])
def test_right_engines_pass(slots: int, preempts: bool, in_a_folder: Path) -> None:
    verdict = draftproof.check(None, generate=engine(slots, preempts=preempts), requests=True, raises=False)
    assert verdict.status == "passed", str(verdict)
    assert "a token lost, doubled or displaced once in" in str(verdict)


@pytest.mark.parametrize("slots", [1, 3])
def test_right_engines_pass_under_a_grammar(slots: int, in_a_folder: Path) -> None:
    asked: dict[str, Any] = {"requests": True, "grammar": True, "raises": False}
    verdict = draftproof.check(None, generate=engine(slots, preempts=True), **asked)
    assert verdict.status == "passed", str(verdict)


@pytest.mark.parametrize("fault", WRONG_MASKS)
def test_wrong_masks_are_refuted(fault: str, in_a_folder: Path) -> None:
    asked: dict[str, Any] = {"requests": True, "grammar": True, "raises": False, "keep": False}
    wrong = engine(3, fault, preempts=True)
    verdicts = [draftproof.check(None, generate=wrong, seed=seed, **asked) for seed in range(1, 6)]
    assert sum(verdict.status == "failed" for verdict in verdicts) == 5


@pytest.mark.parametrize("fault", WRONG)
def test_wrong_engines_are_refuted(fault: str, in_a_folder: Path) -> None:
    wrong = engine(3, fault, preempts=True)
    verdicts = [
        draftproof.check(None, generate=wrong, requests=True, raises=False, keep=False, seed=seed)
        for seed in range(1, 6)
    ]
    assert sum(verdict.status == "failed" for verdict in verdicts) == 5
    if fault == "overruns the length":
        assert "expected at most" in str(verdicts[0])


def test_end_tokens_end_requests(in_a_folder: Path) -> None:
    def ends(cut: bool) -> Any:
        def generate(target: Any, proposal: Any, prompts: Any, lengths: Any, drafts: int) -> list[list[int]]:
            texts = engine(3)(target, proposal, prompts, lengths, drafts)
            return [text[: text.index(1) + 1] if cut and 1 in text else text for text in texts]

        return generate

    asked: dict[str, Any] = {"requests": True, "end_tokens": [1], "raises": False, "keep": False}
    assert draftproof.check(None, generate=ends(True), **asked).status == "passed"
    assert "follows the end token 1" in str(draftproof.check(None, generate=ends(False), **asked))


def test_a_model_with_a_state_depends_on_the_whole_prefix() -> None:
    seen: list[tuple[StateModel, StateModel, list[list[int]], list[int], int]] = []

    def generate(*given: Any) -> list[list[int]]:
        seen.append(given)
        return engine(3)(*given)

    draftproof.check(None, generate=generate, requests=True, keep=False)
    checked = [given for given in seen if len(given[2]) == 8]  # the first calls only try the function
    assert len(checked) > 20
    for target, _, prompts, lengths, _ in checked[:4]:
        assert len(lengths) == 8 and len({len(prompt) for prompt in prompts}) > 2
        assert target.rows.shape == target.next.shape == (len(target.rows), target.vocabulary)
        prompt = max(prompts, key=len)
        assert (target.rows_after(prompt)[-1] == target.rows[target.state(prompt)]).all()
        doubled, lost = target.state(prompt * 2), target.state(prompt[:-1])
        assert doubled != target.state(prompt) or lost != target.state(prompt)
        for other in range(1, len(target.rows)):  # different states stay different after a text
            assert target.state(prompt, 0) != target.state(prompt, other)


@pytest.mark.parametrize(
    ("answer", "said"),
    [([[0]], "returned 1 texts, expected one for each of"), (None, "TypeError"), ([[0.5]] * 2, "expected tokens")],
)
def test_an_engine_that_returns_no_texts_is_an_error(answer: Any, said: str) -> None:
    with pytest.raises(draftproof.FunctionFailed, match=said):
        draftproof.check(None, generate=lambda *given: answer, requests=True)


def test_requests_need_an_engine() -> None:
    for asked in ({"requests": True}, {"requests": True, "generate": engine(1), "memory": 2}):
        with pytest.raises(ValueError, match="requests: got"):
            draftproof.check(lambda p, q, drafts: [0], **asked)
    with pytest.raises(ValueError, match="grammar: got"):
        draftproof.check(None, generate=engine(1), grammar=True)


def short(fault: str) -> Callable[..., list[list[int]]]:
    """Returns an engine that draws from the target without drafts; the fault is in the first tokens of all texts, or in
    one text.
    """

    def generate(target: Any, proposal: Any, prompts: Any, lengths: Any, drafts: int) -> list[list[int]]:
        texts = []
        for number, (prompt, length) in enumerate(zip(prompts, lengths, strict=True)):
            state, text = target.state(prompt), []
            while len(text) < length and END not in text:
                row = target.rows[state].copy()
                if fault == "no early end" and len(text) < 4:
                    row[END] = 0
                if fault == "wrong first tokens" and len(text) == 0:
                    row = proposal.rows[proposal.state(prompt)]
                if fault == "one request" and number == 5:
                    row = row**2
                text += random.choices(range(len(row)), row)
                state = target.state(text[-1:], state)
            texts.append(text)
        return texts

    return generate


@pytest.mark.parametrize("fault", ["no early end", "wrong first tokens", "one request"])
def test_rare_places_of_a_text_are_seen(fault: str, in_a_folder: Path) -> None:
    given = {"requests": True, "end_tokens": [END], "raises": False}
    assert draftproof.check(None, generate=short(""), **given).status == "passed"
    assert draftproof.check(None, generate=short(fault), **given).status == "failed"


def cached(blocks_have_parents: bool, size: int = 4) -> Callable[..., list[list[int]]]:
    """Returns an engine whose requests share a cache of prompts, which has the states after blocks of `size` tokens."""

    def generate(target: Any, proposal: Any, prompts: Any, lengths: Any, drafts: int) -> list[list[int]]:
        cache: dict[Any, int] = {}
        texts = []
        for prompt, length in zip(prompts, lengths, strict=True):
            state, text, at = 0, [], 0
            for at in range(size, len(prompt) + 1, size):
                key = tuple(prompt[:at]) if blocks_have_parents else (at, *prompt[at - size : at])
                state = cache.setdefault(key, target.state(prompt[at - size : at], state))
            state = target.state(prompt[at:], state)
            for _ in range(length):
                text += random.choices(range(target.vocabulary), target.rows[state])
                state = target.state(text[-1:], state)
            texts.append(text)
        return texts

    return generate


@pytest.mark.parametrize("size", [4, 16])
def test_a_cache_of_blocks_needs_what_came_before(size: int, in_a_folder: Path) -> None:
    verdicts = [draftproof.check(None, generate=cached(parents, size), requests=True, raises=False, keep=False)
                for parents in (True, False)]  # fmt: skip
    assert [verdict.status for verdict in verdicts] == ["passed", "failed"]


def greedy(pick: Callable[[Any], int]) -> Callable[..., list[list[int]]]:
    def generate(target: Any, proposal: Any, prompts: Any, lengths: Any, drafts: int) -> list[list[int]]:
        texts = []
        for prompt, length in zip(prompts, lengths, strict=True):
            state, text = target.state(prompt), []
            while len(text) < length:
                text.append(pick(target.rows[state]))
                state = target.state(text[-1:], state)
            texts.append(text)
        return texts

    return generate


def test_greedy_texts_are_of_the_likeliest_tokens(in_a_folder: Path) -> None:
    first, last = (lambda row: int(row.argmax())), (lambda row: len(row) - 1 - int(row[::-1].argmax()))
    halves = (lambda row: int(row.astype(np.float16).argmax())), (lambda row: int(row.astype(np.float32).argmax()))
    found = [draftproof.check(None, generate=greedy(pick), requests=True, greedy="first", raises=False, keep=False)
             for pick in halves]  # fmt: skip
    assert [verdict.status for verdict in found] == ["failed", "passed"]
    statuses = {
        (name, declared): draftproof.check(
            None, generate=greedy(pick), requests=True, greedy=declared, raises=False, keep=False
        ).status
        for name, pick in (("first", first), ("last", last))
        for declared in ("first", "last", "any")
    }
    assert {key: status for key, status in statuses.items() if status == "passed"}.keys() == {
        ("first", "first"), ("first", "any"), ("last", "last"), ("last", "any")
    }  # fmt: skip
    wrong = draftproof.check(None, generate=greedy(lambda row: 0), requests=True, greedy="any", raises=False)
    assert wrong.status == "failed" and "which is not the likeliest" in str(wrong)


def test_a_dict_of_texts_is_refused(in_a_folder: Path) -> None:
    def generate(target: Any, proposal: Any, prompts: Any, lengths: Any, drafts: int) -> Any:
        return dict(enumerate(prompts))

    with pytest.raises(draftproof.FunctionFailed, match="returned a dict, expected a list with a text"):
        draftproof.check(None, generate=generate, requests=True)


def fails_at(call: int, fn: Callable[..., list[list[int]]]) -> Callable[..., list[list[int]]]:
    """Returns fn with an exception in one call, or in this call and all later ones if the number is negative."""
    calls = 0

    def generate(*given: Any) -> list[list[int]]:
        nonlocal calls
        calls += 1
        if calls == call or (call < 0 and calls >= -call):
            raise RuntimeError("the cache is full")
        return fn(*given)

    return generate


@pytest.mark.parametrize(("fn", "status"), [(short(""), "undecided"), (short("wrong first tokens"), "failed")])
def test_an_exception_in_a_long_check_is_a_finding_beside_the_evidence_so_far(fn: Any, status: str) -> None:
    # The first call only tries the function.
    given = {"requests": True, "end_tokens": [END], "keep": False, "raises": False}
    verdict = draftproof.check(None, generate=fails_at(90, fn), **given)
    found = {finding.check: finding for finding in verdict.findings}
    assert verdict.status == "failed"
    assert found["generated_text"].status == status
    assert ("answers" in found) == (status == "undecided")
    if status == "undecided":
        assert found["generated_text"].work > 5000
        assert "a call failed; before it e = 10^" in found["generated_text"].evidence
        assert "8 requests for texts of (" in found["answers"].evidence
        assert "RuntimeError: the cache is full" in found["answers"].evidence
        assert "in generate)" in found["answers"].evidence
        assert "socket:" not in found["answers"].evidence  # the name of a temporary folder, which differs by run


def test_an_engine_that_always_fails_has_no_verdict() -> None:
    for call in (-1, -2):  # in the first call, which only tries the function, and in all later ones
        with pytest.raises(draftproof.FunctionFailed, match="the cache is full"):
            draftproof.check(None, generate=fails_at(call, short("")), requests=True, raises=False)


def seeded(kind: str) -> Callable[..., list[list[int]]]:
    """Returns an engine that draws from the target, with one generator for each request."""

    def generate(target: Any, proposal: Any, prompts: Any, lengths: Any, drafts: int, rng: Any) -> list[list[int]]:
        call, texts = int(rng.integers(2**62)), []
        for number, (prompt, length) in enumerate(zip(prompts, lengths, strict=True)):
            seeds = {
                "constant": [number],
                "of the call": [call],
                "of four slots": [call, number % 4],
                "of six slots": [call, number % 6],
                "of pairs": [call, (number + 1) // 2],
                "of the request": [call, number],
            }
            random = np.random.Generator(np.random.PCG64(seeds[kind]))
            state, text = target.state(prompt), list[int]()
            while len(text) < length:
                text.append(int(random.choice(target.vocabulary, p=target.rows[state])))
                state = target.state(text[-1:], state)
            texts.append(text)
        return texts

    return generate


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("constant", "the engine's random numbers do not depend on the seed"),
        ("of the call", "have equal prompts, their texts are equal, too, so they have equal random numbers"),
        *((kind, "have equal prompts, their texts are") for kind in ("of four slots", "of pairs")),
        ("of six slots", "generated_text: e = 10^"),  # its texts alone show it
        ("of the request", ""),
    ],
)
def test_equal_texts_show_equal_random_numbers(kind: str, said: str) -> None:
    verdict = draftproof.check(None, generate=seeded(kind), requests=True, keep=False, raises=False)
    assert verdict.status == ("failed" if said else "passed")
    assert said in str(verdict)


def test_an_engine_for_one_text_needs_its_seed() -> None:
    def generate(target: Any, proposal: Any, length: int, drafts: int) -> list[int]:
        random, text = np.random.Generator(np.random.PCG64(5)), [0]
        while len(text) <= length:
            text.append(int(random.choice(len(target), p=target[text[-1]])))
        return text[1:]

    verdict = draftproof.check(None, generate=generate, keep=False, raises=False)
    assert verdict.status == "failed"
    assert "texts of equal prompts are equal in two calls with different seeds" in str(verdict)
