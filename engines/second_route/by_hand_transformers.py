"""transformers without the gate: torch.rand_like replaced, the function called by hand.

python engines/second_route/by_hand_transformers.py
"""

from __future__ import annotations

from unittest.mock import patch

import torch
from transformers.generation.utils import _speculative_sampling


def decide(p: list[float], q: list[float], draft: int, coin: float) -> str:
    """One decision on one draft with the accept coin given: the emitted tokens, or the error."""
    rows = [torch.log(torch.tensor(row, dtype=torch.float64)).float()[None] for row in (q, p)]
    target = rows[1].repeat(2, 1)[None]
    with patch("torch.rand_like", lambda like: torch.full_like(like, coin)):
        try:
            tokens, _ = _speculative_sampling(torch.tensor([[draft]]), rows[0][None], 1, target)
        except RuntimeError as error:
            return f"RuntimeError: {error}"
    return str(tokens[0].tolist())


print("p=(1 0), q=(0 1), draft 1, coin 0: wanted [0], got", decide([1, 0], [0, 1], 1, 0.0))
print("the same, coin 2^-24: wanted [0], got", decide([1, 0], [0, 1], 1, 2.0**-24))
p, q = [2915 / 2916, 1 / 2916], [5829 / 5831, 2 / 5831]
print("p=(2915 1)/2916, q=(5829 2)/5831, draft 1, coin 1 - 2^-24: wanted a token, got", decide(p, q, 1, 1 - 2.0**-24))
print("p by softmax", torch.softmax(torch.log(torch.tensor(p, dtype=torch.float64)).float(), 0).tolist())
print("q by softmax", torch.softmax(torch.log(torch.tensor(q, dtype=torch.float64)).float(), 0).tolist())
