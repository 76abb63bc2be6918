"""TensorRT-LLM without the gate: torch.rand replaced, its two functions called by hand.

python engines/second_route/by_hand_tensorrt_llm.py
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import torch

from draftproof.engines import discover, functions_of

root = discover()["tensorrt-llm"].root() / "tensorrt_llm" / "_torch" / "pyexecutor" / "sampler"
scope: dict[str, Any] = {"torch": torch, "cast": cast, "prefer_pinned": lambda: False}
names = ["get_rejected_indices", "sample_rejected"]
rejected, replacement = functions_of(root / "two_model_spec_dec.py", names, scope)


def decide(p: list[float], q: list[float], draft: int, coin: float) -> str:
    """One decision on one draft with the accept coin given: accepted, the other token, or the error."""
    rows = [torch.tensor([row], dtype=torch.float64).float() for row in (q, p)]
    generator = torch.Generator()
    with patch("torch.rand", lambda *size, **given: torch.full((1,), coin)):
        refused = rejected(rows[0], rows[1][None], generator, [draft])
    if refused.numel() == 0:
        return f"accepted {draft}"
    try:
        return f"refused, then {replacement(rows[0], rows[1], generator, 0)}"
    except RuntimeError as error:
        return f"RuntimeError: {error}"


print("p=(1 0), q=(0 1), draft 1, coin 0: wanted token 0, got", decide([1, 0], [0, 1], 1, 0.0))
print("the same, coin 2^-24: wanted token 0, got", decide([1, 0], [0, 1], 1, 2.0**-24))
p, q = [2915 / 2916, 1 / 2916], [5829 / 5831, 2 / 5831]
print("p=(2915 1)/2916, q=(5829 2)/5831, draft 1, coin 1 - 2^-24: wanted a token, got", decide(p, q, 1, 1 - 2.0**-24))
