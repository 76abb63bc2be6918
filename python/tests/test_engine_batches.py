"""Ragged and mixed batches of vLLM's doors, on a stand-in engine that is right or has one slip."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, make_dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from draftproof.engines import module_of
from draftproof.serve import tell

if importlib.util.find_spec("torch") is None:
    pytest.skip("torch is not installed", allow_module_level=True)

import torch

BATCHES = module_of(Path(__file__).resolve().parents[2] / "engines" / "_vllm_batches.py", "batches_under_test")
OF_DRAFTS = ("draft_token_ids", "num_draft_tokens", "cu_num_draft_tokens", "cu_num_sampled_tokens")
OF_LOGITS = ("target_logits_indices", "bonus_logits_indices", "logits_indices")
OF_SAMPLING = ("temperature", "all_greedy", "all_random", "generators", "no_penalties", "bad_words_token_ids",
               "logitsprocs", "output_token_ids", "top_k", "top_p")  # fmt: skip
OF_PENALTIES = ("frequency_penalties", "presence_penalties", "repetition_penalties")


@dataclass
class Engine:
    """Rejection sampling on flat arrays of many requests. `slip` is what is wrong with it."""

    slip: str = ""

    def rejection_sample(
        self, ids: Any, counts: Any, most: int, ends: Any, proposal: Any, logits: Any, bonus: Any, sampling: Any
    ) -> Any:
        out, p = torch.full((len(counts), most + 1), -1, dtype=torch.int32), logits.softmax(-1)
        own = [sampling.generators.get(request) for request in range(len(counts))]
        coins = torch.cat(
            [torch.rand(n, dtype=torch.float64, generator=one) for n, one in zip(counts, own, strict=True)]
        )
        if self.slip == "squared_coins" and sampling.generators:
            coins = coins**2
        for request, (count, end) in enumerate(zip(counts, ends.tolist(), strict=True)):
            first = 0 if self.slip == "first_rows" else end - count
            greedy = float(sampling.temperature[request]) == 0 and self.slip != "never_greedy"
            kept = 0
            for i in range(count):
                x, row = int(ids[end - count + i]), first + i
                accepted = int(p[row].argmax()) == x if greedy else coins[row] * proposal[row, x] < p[row, x]
                left = (p[row] - proposal[row]).clamp(min=0)
                left = left if float(left.sum()) > 0 else p[row]
                wanted = int(p[row].argmax()) if greedy else x if accepted else int(torch.multinomial(left, 1))
                out[request, i] = wanted
                if not accepted:
                    break
                kept += 1
            if kept == count:
                out[request, count] = bonus[request, 0]
        return out

    def sampler(self, speculative: Any, proposal: Any, logits: Any, sampling: Any) -> Any:
        counts = speculative.num_draft_tokens
        owner = [request for request, count in enumerate(counts) for _ in range(count + 1)]
        rows = logits.clone()
        for place, request in enumerate(owner):
            at = float(sampling.temperature[0 if self.slip == "one_temperature" else request])
            rows[place] /= at if at > 0 else 1.0
            order = rows[place].argsort(descending=True)
            sums = rows[place].softmax(-1)[order].cumsum(0)
            kept = int((sums < float(sampling.top_p[0 if self.slip == "one_top_p" else request])).sum()) + 1
            kept = min(kept, int(sampling.top_k[0 if self.slip == "one_top_k" else request]))
            rows[place, order[kept:]] = -torch.inf
        ends = rows[speculative.bonus_logits_indices]
        drawn = torch.multinomial(ends.softmax(-1), 1)
        bonus = torch.where((sampling.temperature == 0)[:, None], ends.argmax(-1, keepdim=True), drawn)
        ids, target = speculative.draft_token_ids, rows[speculative.target_logits_indices]
        sums = speculative.cu_num_draft_tokens
        out = self.rejection_sample(ids, counts, max(counts), sums, proposal, target, bonus.to(torch.int32), sampling)
        return SimpleNamespace(sampled_token_ids=out)

    def modules(self) -> Any:
        runner = SimpleNamespace(rejection_sample=self.rejection_sample, RejectionSampler=lambda _: self.sampler)
        return SimpleNamespace(
            rejection_sampler=runner,
            Sampler=lambda: None,
            LogitsProcessors=list,
            SpecDecodeMetadata=make_dataclass("SpecDecodeMetadata", OF_DRAFTS + OF_LOGITS),
            SamplingMetadata=make_dataclass("SamplingMetadata", OF_SAMPLING + OF_PENALTIES),
        )


INSTANCE = "L=1 K=1 [] p=(2 6)/8 q=(5 3)/8 [0] p=(1 2)/3 q=(1 0)/1 [1] p=(3 1)/4 q=(1 0)/1"


def verdict(slip: str, *given: Any, **cut: float) -> str:
    """Of the proof tier on one instance, which is not shrunk."""
    subject = BATCHES.among_others(Engine(slip).modules(), "stand_in", *given, **cut)
    said = tell(subject, ["replay", "--predictions", "16", "--instance", INSTANCE])
    return "violated" if " violated " in said else "held" if "exact_law     held" in said else said


CUTS: dict[str, dict[str, float]] = {"top_k": {"top_k": 1}, "top_p": {"top_p": 1 - 2**-16}}


@pytest.mark.parametrize("slip", ["", "first_rows", "never_greedy"])
def test_kernels_among_other_requests(slip: str) -> None:
    assert verdict(slip) == ("violated" if slip else "held")


@pytest.mark.parametrize("slip", ["", "squared_coins"])
def test_kernels_with_generators_of_requests(slip: str) -> None:
    assert verdict(slip, 1.0, True) == ("violated" if slip else "held")


@pytest.mark.parametrize(("cut", "slip"), [("top_k", ""), ("top_p", ""), ("top_k", "one_top_k"), ("top_p", "one_top_p"),
                                           ("top_p", "one_temperature")])  # fmt: skip
def test_a_sampler_with_cuts_and_temperatures_of_their_own(cut: str, slip: str) -> None:
    assert verdict(slip, 0.7, **CUTS[cut]) == ("violated" if slip else "held")
