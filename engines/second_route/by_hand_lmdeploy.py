"""LMDeploy without the gate: torch.rand replaced, its sampler called by hand on p = q = (0 1 2)/3.

python engines/second_route/by_hand_lmdeploy.py
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from unittest.mock import patch

import torch

from draftproof.engines import discover

ENGINE = discover()["lmdeploy"]
forward = sys.modules["draftproof_engine_lmdeploy"]._implementation().forward


def decide(p: list[float], q: list[float], draft: int, coin: float) -> list[int]:
    rows = [torch.tensor(row, dtype=torch.float64).float() for row in (p, q)]
    logits = torch.log(rows[0])[None, None]
    with patch("torch.rand", lambda *size, **given: torch.full((1, 1), coin, dtype=torch.float64)):
        out, _, _ = forward(
            logits, torch.tensor([[draft]]), torch.tensor([1]), is_greedy=None, draft_probs=rows[1][None, None]
        )
    return [x for x in out[0].tolist() if x >= 0]


third = [0, 1 / 3, 2 / 3]
row = torch.tensor(third, dtype=torch.float64).float()
again = torch.softmax(torch.log(row), 0)
print(
    "p after softmax of its logarithms minus q, in units of 2^-25:", ((again.double() - row.double()) * 2**25).tolist()
)
for name, coin in (("1 - 2^-26", 1 - 2.0**-26), ("1 - 2^-53", 1 - 2.0**-53), ("1/2", 0.5)):
    print(f"p = q = (0 1 2)/3, draft 1, coin {name}: wanted token 1 or 2 first, got", decide(third, third, 1, coin))
print("p=(0 1), q=(1 0), draft 0, coin 0: wanted token 1 first, got", decide([0, 1], [1, 0], 0, 0.0))
