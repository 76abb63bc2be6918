"""vLLM's adaptive verification: which drafts of a batch get the budget."""

from __future__ import annotations

from typing import Any

from draftproof.declare import adapter
from draftproof.engines import Engine, EngineAdapter, functions_of
from draftproof.selection import Selection, padded


def assigned_budget() -> Any:
    import torch

    torch.set_num_threads(1)
    path = ENGINE.root() / "vllm" / "v1" / "worker" / "gpu" / "spec_decode" / "adaptive_verification.py"
    (assign,) = functions_of(path, ["_assign_draft_token_budget"], {"torch": torch})

    def select(view: Selection) -> list[int]:
        capacities = torch.tensor([len(request.drafts) for request in view.requests], dtype=torch.int32)
        if view.budget >= int(capacities.sum()):  # all drafts fit: the engine skips the function
            return capacities.tolist()
        confidence = torch.from_numpy(padded(view, beyond=1.0))
        assign(confidence, torch.arange(len(view.requests)), capacities, view.budget, confidence.shape[1])
        return capacities.tolist()

    return adapter(None, select=select, arrays="torch", name="vllm_assign_draft_token_budget")


ENGINE = Engine(
    packages=("vllm==0.33.0",),
    adapters=(
        EngineAdapter(
            "assign_draft_token_budget",
            assigned_budget,
            tiers=("proof",),
            note="torch.topk does not specify the order of ties; tested with the order on a CPU",
        ),
    ),
)
