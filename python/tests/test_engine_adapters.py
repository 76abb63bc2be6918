"""Tests of adapters of vLLM, LMDeploy and SGLang around stand-ins for the engines, which are right or have one bug."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, make_dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from draftproof.engines import OF_TWO, WITH_ZERO, module_of
from draftproof.serve import tell

if importlib.util.find_spec("torch") is None:
    pytest.skip("torch is not installed", allow_module_level=True)

import torch

ENGINES = Path(__file__).resolve().parents[1] / "engines"
BATCHES = module_of(ENGINES / "_vllm_batches.py", "batches_under_test")
PROCESSORS = module_of(ENGINES / "_vllm_processors.py", "processors_under_test")
SETTINGS = module_of(ENGINES / "_lmdeploy_settings.py", "lmdeploy_settings_under_test")
LEAST_LENGTH = module_of(ENGINES / "_least_length.py", "least_length_under_test")
EAGLE = module_of(ENGINES / "_sglang_eagle.py", "sglang_eagle_under_test")
OF_DRAFTS = ("draft_token_ids", "num_draft_tokens", "cu_num_draft_tokens", "cu_num_sampled_tokens")
OF_LOGITS = ("target_logits_indices", "bonus_logits_indices", "logits_indices")
OF_SAMPLING = ("temperature", "all_greedy", "all_random", "generators", "no_penalties", "bad_words_token_ids",
               "logitsprocs", "output_token_ids", "top_k", "top_p", "spec_token_ids", "prompt_token_ids",
               "allowed_token_ids_mask")  # fmt: skip
OF_PENALTIES = ("frequency_penalties", "presence_penalties", "repetition_penalties")


@dataclass
class Engine:
    """An engine with rejection sampling on flat arrays of many requests. It has the bug named `bug`, or no bug if `bug`
    is empty."""

    bug: str = ""

    def rejection_sample(
        self, ids: Any, counts: Any, most: int, ends: Any, proposal: Any, logits: Any, bonus: Any, sampling: Any
    ) -> Any:
        out, p = torch.full((len(counts), most + 1), -1, dtype=torch.int32), logits.softmax(-1)
        own = [sampling.generators.get(request) for request in range(len(counts))]
        coins = torch.cat(
            [torch.rand(n, dtype=torch.float64, generator=one) for n, one in zip(counts, own, strict=True)]
        )
        if self.bug == "squared_coins" and sampling.generators:
            coins = coins**2
        for request, (count, end) in enumerate(zip(counts, ends.tolist(), strict=True)):
            first = 0 if self.bug == "first_rows" else end - count
            greedy = float(sampling.temperature[request]) == 0 and self.bug != "never_greedy"
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
            first = owner.index(request)
            self.process(rows[place], request, place - first, sampling)
            at = float(sampling.temperature[0 if self.bug == "one_temperature" else request])
            rows[place] /= at if at > 0 else 1.0
            order = rows[place].argsort(descending=True)
            sums = rows[place].softmax(-1)[order].cumsum(0)
            if sampling.top_p is not None:
                kept = int((sums < float(sampling.top_p[0 if self.bug == "one_top_p" else request])).sum()) + 1
                kept = min(kept, int(sampling.top_k[0 if self.bug == "one_top_k" else request]))
                rows[place, order[kept:]] = -torch.inf
        ends = rows[speculative.bonus_logits_indices]
        drawn = torch.multinomial(ends.softmax(-1), 1)
        bonus = torch.where((sampling.temperature == 0)[:, None], ends.argmax(-1, keepdim=True), drawn)
        ids, target = speculative.draft_token_ids, rows[speculative.target_logits_indices]
        sums = speculative.cu_num_draft_tokens
        out = self.rejection_sample(ids, counts, max(counts), sums, proposal, target, bonus.to(torch.int32), sampling)
        return SimpleNamespace(sampled_token_ids=out)

    def process(self, row: Any, request: int, step: int, sampling: Any) -> None:
        """Applies penalties, masks and minimum lengths to one row, in place."""
        if not sampling.output_token_ids[request]:
            return
        spec = sampling.spec_token_ids[request]
        before = [*sampling.output_token_ids[request], *spec[: 0 if self.bug == "without_drafts" else step]]
        if not sampling.no_penalties:
            own = 0 if self.bug == "one_penalty" else request
            frequency, presence, repetition = (float(getattr(sampling, name)[own]) for name in OF_PENALTIES)
            prompt = sampling.prompt_token_ids[request].tolist()
            for x in set(before if self.bug == "without_prompt" else [*before, *prompt]):
                row[x] = row[x] / repetition if row[x] > 0 else row[x] * repetition
                row[x] -= frequency * before.count(x) + presence * (x in before)
        mask = sampling.allowed_token_ids_mask
        if mask is not None and not (self.bug == "bonus_unmasked" and step == len(spec)):
            row[mask[request]] = -torch.inf
        for *words, last in sampling.bad_words_token_ids.get(request, []):
            if before[len(before) - len(words) :] == words:
                row[last] = -torch.inf
        for processor in sampling.logitsprocs:
            held = processor.least > len(before) or (self.bug == "bonus_held" and step == len(spec))
            if held and self.bug != "never_held":
                row[list(processor.stops)] = -torch.inf

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


def verdict(bug: str, *given: Any, **cut: float) -> str:
    return verdict_of(BATCHES.among_others(Engine(bug).modules(), "stand_in", *given, **cut))


def said_of(subject: Any, instance: str = INSTANCE) -> str:
    """Returns the report of the proof tier on one instance, which is not shrunk, with one blank between columns."""
    return " ".join(tell(subject, ["replay", "--predictions", "16", "--instance", instance]).split())


def verdict_of(subject: Any) -> str:
    said = said_of(subject)
    return "failed" if " failed " in said else "passed" if "exact_distribution passed" in said else said


CUTS: dict[str, dict[str, float]] = {"top_k": {"top_k": 1}, "top_p": {"top_p": 1 - 2**-16}}


@pytest.mark.parametrize("bug", ["", "first_rows", "never_greedy"])
def test_kernels_among_other_requests(bug: str) -> None:
    assert verdict(bug) == ("failed" if bug else "passed")


@pytest.mark.parametrize("bug", ["", "squared_coins"])
def test_kernels_with_generators_of_requests(bug: str) -> None:
    assert verdict(bug, 1.0, True) == ("failed" if bug else "passed")


@pytest.mark.parametrize(("cut", "bug"), [("top_k", ""), ("top_p", ""), ("top_k", "one_top_k"), ("top_p", "one_top_p"),
                                           ("top_p", "one_temperature")])  # fmt: skip
def test_a_sampler_with_cuts_and_temperatures_of_their_own(cut: str, bug: str) -> None:
    assert verdict(bug, 0.7, **CUTS[cut]) == ("failed" if bug else "passed")


@pytest.mark.parametrize(
    ("make", "bug"),
    [("penalties", ""), ("penalties", "without_drafts"), ("penalties", "one_penalty"), ("penalties", "without_prompt"),
     ("masks", ""), ("masks", "without_drafts"), ("masks", "bonus_unmasked")],
)  # fmt: skip
def test_processors_of_logits_of_each_request(make: str, bug: str) -> None:
    subject = getattr(PROCESSORS, make)(Engine(bug).modules(), BATCHES)
    assert verdict_of(subject) == ("failed" if bug else "passed")


@pytest.mark.parametrize("bug", ["", "never_held", "bonus_held"])
def test_a_least_length_ends_within_the_drafts(bug: str) -> None:
    def processor(least: int, stops: list[int], written: list[int]) -> Any:
        return SimpleNamespace(least=least, stops=stops)

    subject = PROCESSORS.least_length(Engine(bug).modules(), BATCHES, processor)
    assert verdict_of(subject) == ("failed" if bug else "passed")


def lmdeploy_step(bug: str) -> Any:
    """Returns a step that verifies drafts as if q were 1 at each: it accepts a draft with its target probability under
    the settings."""

    def row(asked: Any, logits: Any, drafts: list[int], filtered: bool) -> Any:
        out = logits.clone()
        written = [x % len(out) for x in SETTINGS.WRITTEN] + ([] if bug == "drafts_forgotten" else drafts)
        for x in set(written):
            out[x] = out[x] / asked.repetition_penalty if out[x] > 0 else out[x] * asked.repetition_penalty
        out /= 1.0 if bug == "without_temperature" else asked.temperature
        held_back = asked.stop_words if len(written) < asked.min_new_tokens else []
        for x in [*([] if bug == "without_bad_words" else asked.bad_words), *held_back]:
            out[x] = -torch.inf
        p = torch.softmax(out, -1)
        if filtered:
            order = p.argsort(descending=True)
            before = p[order].cumsum(0) - p[order]
            p[order[before > asked.top_p]] = 0.0
            p = torch.where(p < asked.min_p * p.max(), 0.0, p)
        return p / p.sum()

    def verify(asked: Any, logits: Any, drafts: Any) -> list[int]:
        tokens = drafts.tolist()
        for i, x in enumerate(tokens):
            p = row(asked, logits[i], tokens[:i], bug != "bonus_alone")
            if not bool(torch.rand(()) < p[x]):
                p[x] = 0.0
                return [*tokens[:i], int(torch.multinomial(p, 1))]
        return [*tokens, int(torch.multinomial(row(asked, logits[-1], tokens, True), 1))]

    return verify


@pytest.mark.parametrize(
    ("setting", "bug"),
    [("bad_words", ""), ("bad_words", "without_bad_words"), ("bad_words", "without_temperature"), ("min_p", ""),
     ("min_p", "bonus_alone"), ("top_p", ""), ("top_p", "bonus_alone"), ("repetition_penalty", ""),
     ("repetition_penalty", "drafts_forgotten"), ("least_length", ""), ("least_length", "drafts_forgotten")],
)  # fmt: skip
def test_a_setting_of_lmdeploy(setting: str, bug: str) -> None:
    if setting == "least_length":
        subject = SETTINGS.least_length(lmdeploy_step(bug), LEAST_LENGTH)
    else:
        subject = SETTINGS.settings(lmdeploy_step(bug), setting)
    instance = WITH_ZERO if setting in SETTINGS.CUT else OF_TWO
    said = said_of(subject, instance)
    wrong = "answers failed" if bug == "without_bad_words" else "exact_distribution failed"  # this bug emits token V
    assert (wrong if bug else "exact_distribution passed") in said, said


def sglang_step(bug: str) -> Any:
    """Returns a step of rejection sampling on a batch of chains, under the settings of each request."""

    def row(logits: Any, info: Any, request: int, drafts: Any) -> Any:
        out = logits.clone()
        if info.acc_additive_penalties is not None:
            out += info.acc_additive_penalties[request]
            # The penalty per draft is the same for all tokens, and 0 if the request's committed text has no penalties.
            rate = EAGLE.FREQUENCY if bool(info.acc_additive_penalties[request].any()) else 0.0
            for x in [] if bug == "relaxed" else drafts:
                out[int(x)] -= rate
        if bug != "without_bias":
            out += info.logit_bias[request]
        p = torch.softmax(out / info.temperatures[0 if bug == "one_temperature" else request], -1)
        if bug != "without_min_p":
            p = torch.where(p < info.min_ps[request] * p.max(), 0.0, p)
        return p / p.sum()

    def eagle_sample(verified: Any, batch: Any, output: Any) -> Any:
        slots = verified.draft_token_num
        requests = len(batch.seq_lens)
        tokens, lengths = torch.zeros(requests * slots, dtype=torch.int64), torch.zeros(requests, dtype=torch.int64)
        for request in range(requests):
            first = request * slots
            drafts = verified.draft_token[first + 1 : first + slots]
            rows = output.next_token_logits[first : first + slots]
            p = [row(rows[i], batch.sampling_info, request, drafts[:i]) for i in range(slots)]
            kept = 0
            while kept < slots - 1:
                x, q = int(drafts[kept]), verified.draft_probs[request, kept]
                if not bool(torch.rand(()) * q[x] < p[kept][x]):
                    break
                tokens[first + kept] = x
                kept += 1
            left = p[kept]
            if kept < slots - 1:
                rest = (left - verified.draft_probs[request, kept]).clamp(min=0)
                left = rest if bool(rest.sum() > 0) else left
            tokens[first + kept] = torch.multinomial(left, 1)[0]
            lengths[request] = kept + 1
        return tokens, lengths, None

    return eagle_sample


@pytest.mark.parametrize(
    ("setting", "bug"),
    [("bias", ""), ("bias", "without_bias"), ("bias", "one_temperature"), ("min_p", ""), ("min_p", "without_min_p"),
     ("frequency_penalty", ""), ("frequency_penalty", "relaxed")],
)  # fmt: skip
def test_a_setting_of_sglang(setting: str, bug: str) -> None:
    subject = EAGLE.eagle_sample(sglang_step(bug), setting)
    instance = WITH_ZERO if setting == "min_p" else OF_TWO
    said = said_of(subject, instance)
    assert "exact_distribution passed" in said if not bug else "exact_distribution failed" in said, said


@pytest.mark.parametrize(
    ("logits", "drafts", "tokens", "right"),
    [
        ([[0.0, 1.0], [1.0, 0.0]], [1], [1, 0], True),
        ([[0.0, 1.0], [1.0, 0.0]], [0], [1, -1], True),
        ([[0.0, 1.0], [1.0, 0.0]], [1], [1, 1], False),
        ([[0.0, 1.0], [1.0, 0.0]], [1], [1, -1], False),  # ends after a draft that is accepted
        ([[0.0, 1.0], [1.0, 0.0]], [0], [1, 0], False),  # goes on after a draft that is rejected
        ([[0.0, 1.0], [1.0, 0.0]], [0], [0, 0], False),
        ([[0.0, 1.0], [1.0, 0.0]], [1], [-1, -1], False),
        ([[-0.9162907, -0.9162906, -torch.inf], [0.0, 0.0, 1.0]], [0], [0, 2], True),  # one rounding apart
        ([[-0.9162907, -0.9162906, -torch.inf], [0.0, 0.0, 1.0]], [0], [1, -1], True),
        ([[-0.9163, -0.9162, -torch.inf], [0.0, 0.0, 1.0]], [0], [0, 2], False),
    ],
)
def test_a_greedy_request_takes_the_likeliest_tokens(
    logits: list[list[float]], drafts: list[int], tokens: list[int], right: bool
) -> None:
    given = torch.tensor(logits), torch.tensor(drafts), torch.tensor(tokens)
    if right:
        BATCHES.must_follow(*given)
    else:
        with pytest.raises(RuntimeError, match="greedy request: got"):
            BATCHES.must_follow(*given)
