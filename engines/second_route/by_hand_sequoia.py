"""Sequoia without the gate: its drafter counted, in half and in single precision.

    python engines/second_route/by_hand_sequoia.py

Noise of half precision is a multiple of 2^-11 (uniform_ on a CPU). So the smallest -log(u) is 2^-11. A token of
probability q competes with the first arrival, which for a race of total rate 1 is of size 1 on average; its own
arrival is at least 2^-11 / q. So tokens of probability far below 2^-11 hardly win.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import torch
from torch.nn.functional import softmax

from draftproof.engines import discover, functions_of

p = torch.tensor([17, 19], dtype=torch.float64).div(36).float()
q = softmax(torch.log(p), -1)
print("p = q = (17 19)/36: softmax of logarithms minus p, in units of 2^-25:", ((q - p).double() * 2**25).tolist())
print("  p/q at token 0 above the largest coin, 1 - 2^-24:", bool(p[0] / q[0] > (1 - 2.0**-24)), end=", ")
(residual,) = functions_of(discover()["sequoia"].root() / "utils.py", ["get_residual"], {"torch": torch})
print("residual", residual(p, q).tolist())

torch.manual_seed(0)
scope = {"torch": torch, "softmax": softmax}
(draw,) = functions_of(discover()["sequoia"].root() / "utils.py", ["sampling_without_replacement"], scope)
V, N = 32000, 3_000
q = (torch.arange(V, dtype=torch.float64) + 2.7) ** -1.1
q /= q.sum()
for dtype in (torch.float32, torch.float16):
    logits = torch.log(q).to(dtype)
    rows = torch.softmax(logits.float(), -1).double()
    rare = rows < 2.0**-12
    hits = sum(
        int(rare[draw(logits[None], torch.empty((1, V), dtype=dtype).uniform_(), 1, 1.0)].sum()) for _ in range(N)
    )
    share, sigma = float(rows[rare].sum()), (0.25 / N) ** 0.5
    print(
        f"{dtype}: {N} drafts, tokens with q < 2^-12: drawn {hits / N:.4f}, q says {share:.4f}, sigma below {sigma:.4f}"
    )
