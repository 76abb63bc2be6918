"""DeepSpec's draws without the gate, counted.

python engines/second_route/by_hand_deepspec.py
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import torch

from draftproof.engines import discover, module_of

ENGINE = discover()["deepspec"]
draw = module_of(ENGINE.root() / "deepspec" / "utils" / "sampling.py", "deepspec_sampling").sample_tokens
torch.manual_seed(1)

VOCABULARY, POSSIBLE, BATCH, BATCHES = 128_256, 64, 25, 400
wanted = 1 - math.exp(-(VOCABULARY - POSSIBLE) * 2.0**-25)
for dtype in (torch.float16, torch.bfloat16, torch.float32):
    logits = torch.full((1, BATCH, VOCABULARY), -torch.inf, dtype=dtype)
    logits[..., :POSSIBLE] = 0.0
    wrong = sum(int((draw(logits, 1.0) >= POSSIBLE).sum()) for _ in range(BATCHES))
    print(f"{dtype}: {wrong} of {BATCH * BATCHES} draws have q = 0; noise that is 0 once in 2^25: {wanted:.5f} of all")

count, batches = 2**20, 32
for dtype in (torch.float16, torch.bfloat16, torch.float32):
    first = sum(int((draw(torch.zeros(1, count, 2, dtype=dtype), 1.0) == 0).sum()) for _ in range(batches))
    share, error = first / (count * batches), 0.5 / math.sqrt(count * batches)
    off = (share - 0.5) / error
    print(f"{dtype}, q = (1 1)/2: token 0 in {share:.5f} of {count * batches} draws, {off:.1f} errors off")
