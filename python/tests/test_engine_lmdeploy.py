"""The doors around LMDeploy's verification step, on a stand-in that is right or has one slip."""

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
SETTINGS = module_of(ENGINES / "_lmdeploy_settings.py", "lmdeploy_settings_under_test")
LEAST_LENGTH = module_of(ENGINES / "_least_length.py", "least_length_under_test")


def step(slip: str) -> Any:
    """Drafts count as certain: they are accepted with their probability in the target, after its settings."""

    def row(asked: Any, logits: Any, drafts: list[int], filtered: bool) -> Any:
        out = logits.clone()
        written = [x % len(out) for x in SETTINGS.WRITTEN] + ([] if slip == "drafts_forgotten" else drafts)
        for x in set(written):
            out[x] = out[x] / asked.repetition_penalty if out[x] > 0 else out[x] * asked.repetition_penalty
        out /= 1.0 if slip == "without_temperature" else asked.temperature
        held_back = asked.stop_words if len(written) < asked.min_new_tokens else []
        for x in [*([] if slip == "without_bad_words" else asked.bad_words), *held_back]:
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
            p = row(asked, logits[i], tokens[:i], slip != "bonus_alone")
            if not bool(torch.rand(()) < p[x]):
                p[x] = 0.0
                return [*tokens[:i], int(torch.multinomial(p, 1))]
        return [*tokens, int(torch.multinomial(row(asked, logits[-1], tokens, True), 1))]

    return verify


@pytest.mark.parametrize(
    ("setting", "slip"),
    [("bad_words", ""), ("bad_words", "without_bad_words"), ("bad_words", "without_temperature"), ("min_p", ""),
     ("min_p", "bonus_alone"), ("top_p", ""), ("top_p", "bonus_alone"), ("repetition_penalty", ""),
     ("repetition_penalty", "drafts_forgotten"), ("least_length", ""), ("least_length", "drafts_forgotten")],
)  # fmt: skip
def test_a_setting_of_one_request(setting: str, slip: str) -> None:
    if setting == "least_length":
        subject = SETTINGS.least_length(step(slip), LEAST_LENGTH)
    else:
        subject = SETTINGS.settings(step(slip), setting)
    instance = WITH_ZERO if setting in SETTINGS.CUT else OF_TWO
    said = tell(subject, ["replay", "--predictions", "16", "--instance", instance])
    wrong = "protocol  violated" if slip == "without_bad_words" else "exact_law     violated"  # it emits token V
    assert (wrong if slip else "exact_law     held") in said, said
