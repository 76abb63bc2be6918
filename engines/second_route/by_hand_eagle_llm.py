"""EAGLE's package without the gate: one accepted draft, and the row that the last token is drawn from.

    python engines/second_route/by_hand_eagle_llm.py

As read: rows are divided by the temperature where drafts are tested. The row after an accepted path is not.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import torch

from draftproof.engines import discover, functions_of

path = discover()["eagle-llm"].root() / "eagle" / "model" / "utils.py"
scope = {"torch": torch, "random": random, "Tuple": tuple}
(evaluate,) = functions_of(path, ["evaluate_posterior"], scope)

after = torch.tensor([2.0, 1.0]) / 3
for temperature in (1.0, 0.5, 2.0):
    first = temperature * torch.tensor([0.0, -1e9])  # p = q = (1 0): the draft 0 is accepted by every coin
    logits = torch.stack([first, temperature * torch.log(after)])[None]
    candidates = torch.tensor([[2, 0]])
    one = torch.ones(1, 2)
    rows, earlier = [[0, 0]], [[[], []]]
    tree = torch.tensor([[2, 0]])
    each = [torch.tensor([[1.0, 0.0]])] * 2
    _, length, row = evaluate(logits, candidates, lambda ids, z, t=temperature: z / t, one, each, rows, tree, earlier)
    raw = torch.tensor([2.0, 1.0]) ** temperature
    print(
        f"temperature {temperature}: {length} accepted, wanted the row (2 1)/3, got",
        [round(x, 6) for x in row.tolist()],
    )
    print("  by hand, without the division:", [round(x, 6) for x in (raw / raw.sum()).tolist()])
