"""LMDeploy's verification step without the gate: settings of one request with one draft, counted over coins of torch.

python engines/second_route/by_hand_lmdeploy_settings.py
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import torch

from draftproof.engines import discover, module_of

ENGINE = discover()["lmdeploy"]
SETTINGS = module_of(Path(__file__).resolve().parents[1] / "_lmdeploy_settings.py", "lmdeploy_settings")
implementation = sys.modules["draftproof_engine_lmdeploy"]._implementation()
step = SETTINGS.step_of(ENGINE.root(), implementation)


def shares(logits: list[list[float]], draft: int, behind: bool, steps: int = 2000, **given: object) -> list[float]:
    """How often each token comes first, or behind the accepted draft."""
    asked = SETTINGS.request(**({"temperature": 1.0} | given))
    counts = torch.zeros(len(logits[0]))
    while counts.sum() < steps:
        out = step(asked, torch.tensor(logits), torch.tensor([draft]))
        if not behind or len(out) == 2:
            counts[out[1 if behind else 0]] += 1
    return [round(x, 3) for x in (counts / counts.sum()).tolist()]


torch.manual_seed(1)
torch.set_num_threads(1)
row = [0.0, -1.0, -2.0]
print("softmax of the row:", [round(x, 3) for x in torch.softmax(torch.tensor(row), 0).tolist()])
print("the token at the draft's place, and the one behind an accepted draft:")
for name, given, wanted in (
    ("top_k = 2", {"top_k": 2}, [0.731, 0.269, 0.0]),
    ("top_p = 0.7", {"top_p": 0.7}, [0.731, 0.269, 0.0]),
    ("min_p = 0.2", {"min_p": 0.2}, [0.731, 0.269, 0.0]),
):
    found = [shares([row, row], 0, behind, **given) for behind in (False, True)]
    print(f"{name}: wanted {wanted}, found {found[0]} and {found[1]}")
flat = [0.0, 1.0, 1.0]
found = shares([flat, flat], 2, True, repetition_penalty=2.0)
print(f"repetition penalty 2, 1 written, 2 drafted: wanted [0.233, 0.384, 0.384] behind the draft, found {found}")
for least, wanted in ((4, "1 in 3"), (5, "none")):
    flat = [0.0, 0.0, 0.0]
    found = shares([flat, flat], 2, True, stop_words=[0], min_new_tokens=least)
    print(f"3 written, min_new_tokens {least}, token 0 stops: wanted {wanted} behind the draft, found {found[0]}")
