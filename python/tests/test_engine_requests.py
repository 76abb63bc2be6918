"""Tests of adapters of engines that serve several requests, around stand-ins for the engines, which are right or have
one bug."""

from __future__ import annotations

import importlib.util
import math
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import draftproof
from draftproof.engines import module_of

ENGINES = Path(__file__).resolve().parents[1] / "engines"
SERVER = module_of(ENGINES / "_llama_cpp_server.py", "llama_cpp_server_under_test")
WHOLE = module_of(ENGINES / "_vllm_whole.py", "vllm_whole_under_test")


def kept(weights: list[float], sampler: str, asked: dict[str, Any]) -> list[float]:
    """Returns the weights after one sampler of llama.cpp's chain, which divides them by their sum first."""
    p = [weight / sum(weights) for weight in weights]
    order = sorted(range(len(p)), key=lambda x: -p[x])
    if sampler == "temperature":
        at = asked["temperature"]
        return [x ** (1 / at) for x in p] if at > 0 else [float(x == order[0]) for x in range(len(p))]
    if sampler == "top_k":
        chosen = order[: asked["top_k"] or None]
    elif sampler == "top_p":
        before = [sum(p[x] for x in order[:i]) for i in range(len(order))]
        chosen = [x for x, mass in zip(order, before, strict=True) if mass < asked["top_p"]]
    else:
        chosen = [x for x in order if p[x] >= asked["min_p"] * max(p)]
    return [weight if x in chosen else 0.0 for x, weight in enumerate(p)]


def server(bug: str = "") -> Any:
    """Returns a server that draws each token from the target. Penalties also count tokens of the prompt."""

    def text_of(document: dict[str, Any], asked: dict[str, Any]) -> list[int]:
        after, counts, text, own = document["next"], Counter[int](), list[int](), random.Random(asked["seed"])
        state = 0
        for token in asked["prompt"]:
            state = after[state][token]
            counts[token] += bug != "prompt is not counted"
        (stop,) = asked.get("stop", [""])
        while len(text) < asked["n_predict"]:
            logits = [math.log(p) if p > 0 else -math.inf for p in document["target"][state]]
            for x, bias in asked["logit_bias"]:
                logits[x] += bias
            for x, count in counts.items() if "penalties" in asked["samplers"] else ():
                logits[x] = logits[x] * asked["repeat_penalty"] - count * asked["frequency_penalty"]
            weights = [math.exp(logit) for logit in logits]
            samplers = [name for name in asked["samplers"] if name != "penalties"]
            for sampler in (
                sorted(samplers, key=lambda x: x == "temperature") if bug == "temperature last" else samplers
            ):
                weights = kept(weights, sampler, asked)
            if bug == "drafts consume draws" and document["drafts"]:
                own.random()
            token = own.choices(range(len(weights)), weights)[0]
            text.append(token)
            counts[token] += 1
            state = after[state][token]
            if token in document["ends"] or (stop and "".join(chr(ord("A") + x) for x in text).endswith(stop)):
                break
        return text

    return lambda document: [text_of(document, asked) for asked in document["requests"]]


@pytest.mark.parametrize("bug", ["", "temperature last", "prompt is not counted"])
def test_settings_of_llama_cpp(bug: str, in_a_folder: Path) -> None:
    verdict = draftproof.check(SERVER.subject(server(bug), "stand_in"), raises=False)
    assert verdict.status == ("failed" if bug else "passed"), str(verdict)


@pytest.mark.parametrize("bug", ["", "drafts consume draws"])
def test_equal_seeds_of_llama_cpp(bug: str, in_a_folder: Path) -> None:
    def checked() -> Any:
        return draftproof.check(SERVER.subject(server(bug), "stand_in", equal_seeds=True), raises=False)

    if bug:
        with pytest.raises(draftproof.FunctionFailed, match=r"without .* with equal seeds"):
            checked()
    else:
        assert checked().status == "passed"


def whole_engine(bug: str = "") -> Any:
    """Returns an engine that draws each token from the target model of _vllm_whole.py."""
    import torch

    def text_of(tables: Any, prompt: list[int], asked: dict[str, Any]) -> list[int]:
        text: list[int] = []
        stop = asked.get("stop", [""])[0].split()
        read = [*prompt, *(prompt[-1:] if bug == "prompt read twice" else [])]
        cached = WHOLE.summands(torch, torch.tensor(read), torch.arange(len(read))).sum(0, keepdim=True)
        while len(text) < asked["max_tokens"]:
            if text:
                place = torch.tensor([len(read)])
                cached += WHOLE.summands(torch, torch.tensor(text[-1:]), place)
                read.append(text[-1])
            state = WHOLE.states(torch, cached / len(read), torch.tensor([len(read) - 1]), tables.size)
            logits = tables.rows[0][state[0]].tolist()
            counts = Counter([*text, *(prompt if bug == "prompt is counted" else [])])
            for x in range(len(logits)):
                logits[x] *= asked["repetition_penalty"] if x in {*prompt, *text} else 1.0
                logits[x] -= asked["presence_penalty"] * (counts[x] > 0) + asked["frequency_penalty"] * counts[x]
            if len(text) < asked["min_tokens"] and bug != "no least length":
                logits[asked["stop_token_ids"][0]] = -math.inf
            weights = [math.exp(logit) for logit in logits]
            for sampler in ("temperature", "top_k", "top_p"):
                weights = kept(weights, sampler, asked)
            text += random.choices(range(len(weights)), weights)
            if text[-1] in asked["stop_token_ids"] or (stop and [chr(65 + x) for x in text[-len(stop) :]] == stop):
                break
        return text

    return lambda tables, requests: [text_of(tables, prompt, asked) for prompt, asked in requests]


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
@pytest.mark.parametrize("bug", ["", "prompt read twice", "prompt is counted", "no least length"])
def test_settings_of_whole_vllm(bug: str, in_a_folder: Path) -> None:
    verdict = draftproof.check(WHOLE.subject(whole_engine(bug), "stand_in"), raises=False)
    assert verdict.status == ("failed" if bug else "passed"), str(verdict)
