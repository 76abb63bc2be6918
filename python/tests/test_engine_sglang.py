"""The door around SGLang's verification step, on a stand-in that applies the settings of a request or has one slip."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from draftproof.engines import OF_TWO, WITH_ZERO, module_of
from draftproof.serve import tell

if importlib.util.find_spec("torch") is None:
    pytest.skip("torch is not installed", allow_module_level=True)

import torch

ENGINES = Path(__file__).resolve().parents[2] / "engines"
EAGLE = module_of(ENGINES / "_sglang_eagle.py", "sglang_eagle_under_test")


def step(slip: str) -> Any:
    """Rejection sampling on a batch of chains, under the settings of each request."""

    def row(logits: Any, info: Any, request: int, drafts: Any) -> Any:
        out = logits.clone()
        if info.acc_additive_penalties is not None:
            out += info.acc_additive_penalties[request]
            # One rate for all tokens: that of the committed text.
            rate = EAGLE.FREQUENCY if bool(info.acc_additive_penalties[request].any()) else 0.0
            for x in [] if slip == "relaxed" else drafts:
                out[int(x)] -= rate
        if slip != "without_bias":
            out += info.logit_bias[request]
        p = torch.softmax(out / info.temperatures[0 if slip == "one_temperature" else request], -1)
        if slip != "without_min_p":
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
    ("setting", "slip"),
    [("bias", ""), ("bias", "without_bias"), ("bias", "one_temperature"), ("min_p", ""), ("min_p", "without_min_p"),
     ("frequency_penalty", ""), ("frequency_penalty", "relaxed")],
)  # fmt: skip
def test_a_setting_of_one_request(setting: str, slip: str) -> None:
    subject = EAGLE.eagle_sample(step(slip), setting)
    instance = WITH_ZERO if setting == "min_p" else OF_TWO
    said = tell(subject, ["replay", "--predictions", "16", "--instance", instance])
    assert "exact_law     held" in said if not slip else "exact_law     violated" in said, said
