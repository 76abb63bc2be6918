"""SGLang without the gate: the chain kernel in Triton's interpreter, its coins are arguments.

TRITON_INTERPRET=1 CUDA_VISIBLE_DEVICES= python engines/second_route/by_hand_sglang.py
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import numpy as np
import torch

from draftproof.engines import discover, module_of

ENGINE = discover()["sglang"]
path = ENGINE.root() / "sglang" / "kernels" / "ops" / "speculative" / "reject_sampling.py"
kernel = module_of(path, "sglang_reject_sampling").chain_speculative_sampling_triton


def last_token(weights: list[int], steps: int) -> int:
    """The draft is the impossible last token; the residual is p; the final coin is 1 - steps 2^-24."""
    v = len(weights)
    p = torch.tensor(np.array(weights) / sum(weights), dtype=torch.float32).repeat(2, 1)[None].contiguous()
    q = torch.zeros(1, 1, v)
    q[..., -1] = 1
    predicts, accepted = torch.full((2,), -1, dtype=torch.int32), torch.full((1, 2), -1, dtype=torch.int32)
    coins, last = torch.full((1, 2), 0.5), torch.full((1,), 1 - steps * 2.0**-24)
    kernel(
        predicts,
        accepted,
        torch.zeros(1, dtype=torch.int32),
        torch.tensor([[0, v - 1]]),
        torch.arange(2)[None],
        None,
        None,
        coins,
        last,
        p,
        q,
        1.0,
        1.0,
        True,
    )
    return int(predicts[0])


weights = [5, 6, 1, 1, 5, 6, 2, 3, 0]
row = (np.array(weights) / 29).astype(np.float32)
print("p = (5 6 1 1 5 6 2 3 0)/29: running sum", float(np.cumsum(row)[-1]), "sum", float(np.sum(row)))
for steps in (1, 2, 3, 4):
    print(f"final coin 1 - {steps} 2^-24: wanted a token below 8, got", last_token(weights, steps))
rng = np.random.default_rng(1)
for v in (16, 64, 256):
    rows = rng.integers(1, 10, (40, v))
    rows[:, -1] = 0
    print(
        f"V = {v}: token V - 1 by the coin 1 - 2^-24 on",
        sum(last_token(w.tolist(), 1) == v - 1 for w in rows),
        "of 40 rows",
    )
