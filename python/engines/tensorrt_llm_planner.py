"""TensorRT-LLM's schedule of verified drafts: the first draft of each request, then others by survival."""

from __future__ import annotations

import dataclasses
from typing import Any

from draftproof.declare import adapter
from draftproof.engines import Engine, EngineAdapter, functions_of
from draftproof.selection import Selection, padded


def ranking() -> Any:
    import torch

    torch.set_num_threads(1)
    path = ENGINE.root() / "tensorrt_llm" / "_torch" / "speculative" / "dspark_schedule.py"
    scope: dict[str, Any] = {"torch": torch, "dataclass": dataclasses.dataclass}
    config, survival, schedule = functions_of(
        path, ["DSparkScheduleConfig", "compute_survival", "schedule_verify_lens_topk"], scope
    )

    def select(view: Selection) -> list[int]:
        confidence = torch.from_numpy(padded(view))
        lengths = schedule(
            survival=survival(confidence), budget=view.budget, cfg=config(block_size=confidence.shape[1])
        )
        return [min(int(n), len(request.drafts)) for n, request in zip(lengths, view.requests, strict=True)]

    return adapter(None, select=select, arrays="torch", name="tensorrt_llm_ranking")


ENGINE = Engine(
    sources="NVIDIA/TensorRT-LLM",
    commit="104193cad115c080f5f7d3d9e4ca602371297c66",
    parts=("tensorrt_llm/_torch/speculative/dspark_schedule.py",),
    adapters=(
        EngineAdapter(
            "ranking",
            ranking,
            tiers=("proof",),
            note="ties by position and then by request; every request verifies its first draft",
        ),
    ),
)
