"""Tests of whole engines that apply a grammar's mask and the settings of each request: the mask comes first."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import draftproof

FEW: dict[str, Any] = {"requests": True, "grammar": True, "settings": ("temperature", "top_k", "frequency_penalty"),
                       "keep": False, "raises": False}  # fmt: skip
WRONG = ("top-k before the mask", "bonus without the mask", "counts have rejected drafts")


def truncated(weights: Any, top_k: int) -> Any:
    kept = weights.copy()
    kept[np.argsort(-weights, kind="stable")[top_k or len(kept) :]] = 0
    return kept


def engine(fault: str = "") -> Callable[..., list[list[int]]]:
    """Returns an engine that verifies chains of drafts token by token, one request after the other."""

    def generate(
        target: Any, proposal: Any, prompts: Any, lengths: Any, drafts: int, grammar: Any, settings: Any
    ) -> list[list[int]]:
        every = range(target.vocabulary)

        def row_of(state: int, legal: Any, counts: Counter[int], given: Any) -> Any:
            weights = target.rows[state] * np.exp([-given["frequency_penalty"] * counts[x] for x in every])
            early = fault == "top-k before the mask"
            weights = (truncated(weights, given["top_k"]) if early else weights) * legal
            if not weights.any():  # every kept token is forbidden
                weights = target.rows[state] * legal
            weights = weights if early else truncated(weights, given["top_k"])
            weights = (weights / weights.max()) ** (1 / given["temperature"])
            return weights / weights.sum()

        texts = []
        for prompt, length, given in zip(prompts, lengths, settings, strict=True):
            text: list[int] = []
            rejected: Counter[int] = Counter()
            while len(text) < length:
                state, mask, found, q = target.state(prompt + text), grammar.state(text), [], []
                for _ in range(drafts):
                    q.append(proposal.rows[proposal.state(found, proposal.state(prompt + text))])
                    found += random.choices(every, q[-1])
                counts = Counter(text) + rejected
                for i, x in enumerate([*found, -1]):
                    legal = grammar.rows[mask]
                    if x < 0 and fault == "bonus without the mask":
                        legal = np.ones_like(legal)
                    p = row_of(state, legal, counts, given)
                    if x < 0:
                        text += random.choices(every, p)
                    elif random.random() * q[i][x] < p[x]:
                        text.append(x)
                        counts[x] += 1
                        state, mask = target.state([x], state), grammar.state([x], mask)
                        continue
                    else:
                        rest = np.maximum(p - q[i], 0)
                        text += random.choices(every, rest if rest.any() else p)
                        if fault == "counts have rejected drafts":
                            rejected[x] += 1
                    break
            texts.append(text[:length])
        return texts

    return generate


def test_a_right_engine_passes() -> None:
    verdict = draftproof.check(None, generate=engine(), **FEW)
    assert verdict.status == "passed", str(verdict)


@pytest.mark.parametrize("fault", WRONG)
def test_wrong_engines_are_found(fault: str) -> None:
    verdict = draftproof.check(None, generate=engine(fault), **FEW)
    assert verdict.status == "failed", str(verdict)
    assert "p before the settings (" in str(verdict)


def test_a_state_that_allows_the_end_token_alone_comes_without_min_tokens() -> None:
    """Tokens 0 and 1: in grammar state 1 only the end token 1 is legal, so a least length would leave no mass."""
    asked: set[int] = set()

    def generate(
        target: Any, proposal: Any, prompts: Any, lengths: Any, drafts: int, grammar: Any, settings: Any
    ) -> list[list[int]]:
        texts = []
        for prompt, length, given in zip(prompts, lengths, settings, strict=True):
            asked.add(given["min_tokens"])
            text: list[int] = []
            while len(text) < length and text[-1:] != [1]:
                p = target.rows[target.state(prompt + text)] * grammar.rows[grammar.state(text)]
                p[1] *= len(text) >= given["min_tokens"]
                kept = truncated(p, given["top_k"]) ** (1 / given["temperature"])
                text += random.choices([0, 1], kept / kept.sum())
            texts.append(text)
        return texts

    few = {**FEW, "settings": ("temperature", "top_k", "min_tokens"), "most_vocabulary": 2, "end_tokens": [1]}
    for seed in (1, 2, 3):
        verdict = draftproof.check(None, generate=generate, seed=seed, **few)
        assert verdict.status == "passed", str(verdict)
    assert asked == {0}


def test_a_verifier_takes_one_of_the_two() -> None:
    with pytest.raises(ValueError, match="expected one of the two, or generate alone"):
        draftproof.check(lambda p, q, drafts, legal, top_k: [0], grammar=True, settings="top_k")
