"""vLLM's C++ CPU kernels without the gate: torch.rand replaced, functions called by hand.

CUDA_VISIBLE_DEVICES= python engines/second_route/by_hand_vllm_cpu.py
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from unittest.mock import patch

import torch

from draftproof.engines import discover, module_of

ENGINE = discover()["vllm-cpu"]
ENGINE.enter()
module = module_of(Path(__file__).resolve().parents[1] / "_vllm_batches.py", "draftproof_vllm_batches")
vllm = module.engine_modules()
torch.ops.load_library(str(ENGINE.root() / "vllm" / "_C.abi3.so"))
from vllm.platforms.cpu import CpuPlatform  # noqa: E402

CpuPlatform.register_triton_kernel_overrides()
rules = vllm.rejection_sampler


def decide(p: list[float], q: list[float] | None, drafts: list[int], coin: float) -> list[int]:
    speculative, sampling = module.metadata_of(torch, vllm, [drafts])
    n = len(drafts)
    logits = torch.log(torch.tensor([p] * n, dtype=torch.float64).float())
    proposal = None if q is None else torch.tensor([q] * n, dtype=torch.float64).float()
    with patch.object(rules, "generate_uniform_probs", lambda *given: torch.full((n,), coin, dtype=torch.float64)):
        out = rules.rejection_sample(
            speculative.draft_token_ids,
            [n],
            n,
            speculative.cu_num_draft_tokens,
            proposal,
            logits,
            torch.tensor([[2]], dtype=torch.int32),
            sampling,
        )
    return out[0].tolist()


ends = torch.tensor([2, 4, 6], dtype=torch.int32)
for temperature in (0.7, 1.0):
    got = rules.expand_batch_to_tokens(torch.full((3,), temperature), ends, 6, replace_from=0, replace_to=1)
    print(f"temperature {temperature} for two tokens of three requests: got", [f"{x:.3g}" for x in got.tolist()])
print(
    "top-k 40, 50, 60 likewise: got",
    rules.expand_batch_to_tokens(torch.tensor([40, 50, 60], dtype=torch.int32), ends, 6).tolist(),
)
for coin in (0.0, 0.1, 0.5, 0.9):
    print(
        f"p=(2 3 5)/10, no proposal, drafts [-1, 0], coins {coin}: -1 must be refused, got",
        decide([0.2, 0.3, 0.5], None, [-1, 0], coin),
    )
third = [0, 1 / 3, 2 / 3]
print("p = q = (0 1 2)/3, draft 1, coin 1 - 2^-53: wanted 1 or 2 first, got", decide(third, third, [1], 1 - 2.0**-53))
print("p=(0 1), q=(1 0), draft 0, coin 0: wanted 1 first, got", decide([0, 1], [1, 0], [0], 0.0))
